#include "pjrt/digest_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/user_folder.h"
#include "precast/limits.h"

namespace precast::pjrt {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::uint64_t kMaxEntryBytes = 512;

std::int64_t nanoseconds(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNanoseconds + time.tv_nsec;
}

// A file that changed a moment ago may change again within one tick of its clock.
bool is_young(const FileIdentity& identity) {
  struct timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return true;
  const std::int64_t limit = nanoseconds(now) - limits::kPluginDigestMinAgeSeconds * kNanoseconds;
  return identity.modified_ns > limit || identity.changed_ns > limit;
}

// Ours, and no one else may write it.
bool is_private(int fd, mode_t type) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

base::Fd open_folder(const std::string& path) {
  if (path.empty()) return {};
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && !is_private(fd.get(), S_IFDIR)) return {};
  return fd;
}

void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), S_IRWXU);
  }
  ::mkdir(path.c_str(), S_IRWXU);
}

std::string entry_text(const FileIdentity& identity, const Digest& digest) {
  return digest.hex() + " " + identity.text() + "\n";
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& status) {
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.bytes = static_cast<std::uint64_t>(status.st_size);
  identity.modified_ns = nanoseconds(status.st_mtim);
  identity.changed_ns = nanoseconds(status.st_ctim);
  return identity;
}

std::string FileIdentity::text() const {
  return std::to_string(device) + "-" + std::to_string(inode) + "-" + std::to_string(bytes) + "-" +
         std::to_string(modified_ns) + "-" + std::to_string(changed_ns);
}

DigestMemory DigestMemory::of_user() {
  const std::optional<base::UserFolder> state = base::user_state_folder();
  return DigestMemory(state ? state->path + "/plugin-digests" : "");
}

std::optional<Digest> DigestMemory::recall(const FileIdentity& identity) const {
  if (is_young(identity)) return std::nullopt;
  const base::Fd folder = open_folder(folder_);
  if (!folder) return std::nullopt;
  const base::Fd fd(::openat(folder.get(), identity.text().c_str(),
                             O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd || !is_private(fd.get(), S_IFREG)) return std::nullopt;
  const auto text = base::read_all(fd.get(), kMaxEntryBytes, identity.text());
  if (!text) return std::nullopt;
  const auto bytes = base::from_hex(std::string_view(*text).substr(0, text->find(' ')));
  Digest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  bytes->copy(reinterpret_cast<char*>(digest.bytes.data()), digest.bytes.size());
  if (*text != entry_text(identity, digest)) return std::nullopt;
  return digest;
}

void DigestMemory::remember(const FileIdentity& identity, const Digest& digest) const {
  if (folder_.empty() || is_young(identity)) return;
  make_folders(folder_);
  const base::Fd folder = open_folder(folder_);
  if (!folder) return;
  static std::atomic<unsigned> count = 0;
  const std::string temporary =
      ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  const base::Fd fd(::openat(folder.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             S_IRUSR | S_IWUSR));
  if (!fd) return;
  // No flush to disk: an entry that a crash cuts short is not whole, and ignored.
  const bool written =
      base::write_all(fd.get(), entry_text(identity, digest), temporary).has_value() &&
      ::renameat(folder.get(), temporary.c_str(), folder.get(), identity.text().c_str()) == 0;
  if (!written) ::unlinkat(folder.get(), temporary.c_str(), 0);
}

}  // namespace precast::pjrt
