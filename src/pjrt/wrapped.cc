#include "pjrt/wrapped.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "precast/wrapper.h"

namespace precast {
namespace pjrt {
namespace {

constexpr std::string_view kNamed = "libprecast_pjrt_";
constexpr std::string_view kSuffix = ".so";

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (real == nullptr) return base::errno_error(errno, "cannot reach the plugin '" + path + "'");
  return std::string(real.get());
}

// Who may write what the wrapper opens.
class Trust {
 public:
  explicit Trust(const std::string& wrapper_path) {
    struct stat status{};
    if (::stat(wrapper_path.c_str(), &status) == 0) wrapper_owner_ = status.st_uid;
  }

  // Nothing when nobody else may write there.
  std::optional<std::string> objection(const std::string& path) const {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return "'" + path + "' cannot be examined";
    const uid_t owner = status.st_uid;
    if (owner != 0 && owner != ::geteuid() && owner != wrapper_owner_) {
      return "'" + path + "' belongs to user " + std::to_string(owner);
    }
    // In a folder like /tmp only the owner of a file may replace it.
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if (sticky) return std::nullopt;
    if ((status.st_mode & S_IWOTH) != 0) return "everybody may write '" + path + "'";
    const bool own_group = status.st_gid == 0 || status.st_gid == ::getegid();
    if ((status.st_mode & S_IWGRP) != 0 && !own_group) {
      return "group " + std::to_string(status.st_gid) + " may write '" + path + "'";
    }
    return std::nullopt;
  }

 private:
  std::optional<uid_t> wrapper_owner_;
};

Result<void> check_trusted(const std::string& path, const std::string& wrapper_path) {
  const Trust trust(wrapper_path);
  std::string part = path;
  while (true) {
    if (std::optional<std::string> why = trust.objection(part)) {
      return Error(ErrorCode::permission_denied,
                   "the plugin '" + path +
                       "' is not opened, because others may change what it is: " + *why +
                       "; take that away (chmod go-w), or use a plugin that only you and root may "
                       "write");
    }
    if (part == "/") return {};
    const std::size_t slash = part.rfind('/');
    part = slash == 0 ? "/" : part.substr(0, slash);
  }
}

bool same_file(const std::string& left, const std::string& right) {
  struct stat a{};
  struct stat b{};
  return ::stat(left.c_str(), &a) == 0 && ::stat(right.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

std::string name_in(std::string_view wrapper_path) {
  const std::size_t slash = wrapper_path.rfind('/');
  std::string_view file =
      slash == std::string_view::npos ? wrapper_path : wrapper_path.substr(slash + 1);
  if (!file.starts_with(kNamed) || !file.ends_with(kSuffix)) return {};
  file.remove_prefix(kNamed.size());
  file.remove_suffix(kSuffix.size());
  return std::string(file);
}

Result<FoundPlugin> find_wrapped(const std::string& wanted, const std::string& wrapper_path,
                                 const SearchEnvironment& environment) {
  std::string name = wanted;
  std::string origin = "PRECAST_PJRT_PLUGIN";
  if (name.empty()) {
    name = name_in(wrapper_path);
    origin = "the name of '" + wrapper_path + "'";
  }
  if (name.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "PRECAST_PJRT_PLUGIN is not set: it says which plugin '" + wrapper_path +
                     "' wraps, by an absolute path or a short name (cpu, cuda, tpu)");
  }
  if (name.find('/') != std::string::npos && name.front() != '/') {
    return Error(ErrorCode::invalid_argument,
                 "PRECAST_PJRT_PLUGIN is the relative path '" + name +
                     "'; it must be an absolute path or a short name, since a variable must not "
                     "mean another file in another folder");
  }
  PRECAST_ASSIGN(FoundPlugin found, resolve(name, environment).with("in " + origin));
  PRECAST_ASSIGN(found.path, real_path(found.path).with("in " + origin));
  if (is_wrapper(found.path) || same_file(found.path, wrapper_path)) {
    return Error(
        ErrorCode::invalid_argument,
        origin + " names '" + found.path +
            "', which is Precast's own plugin; it must name the plugin that is to be wrapped");
  }
  PRECAST_TRY(check_trusted(found.path, wrapper_path));
  if (found.origin.empty()) found.origin = origin;
  return found;
}

}  // namespace pjrt

Result<FoundPlugin> find_wrapped_plugin(const std::string& wrapper_path) {
  const char* wanted = ::secure_getenv("PRECAST_PJRT_PLUGIN");
  return pjrt::find_wrapped(wanted == nullptr ? "" : wanted, wrapper_path,
                            pjrt::search_environment());
}

}  // namespace precast
