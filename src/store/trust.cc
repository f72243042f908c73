#include "store/trust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace precast::store {
namespace {

constexpr mode_t kModeBits = 07777;

std::string owner_and_mode(const struct stat& status) {
  return fmt::format("owner {}, mode {:04o}", status.st_uid, status.st_mode & kModeBits);
}

Result<void> check_kind(const std::string& path, const struct stat& status, Role role) {
  if (role == Role::entry) {
    if (S_ISREG(status.st_mode)) return {};
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{}' is not a regular file; remove it", path));
  }
  if (S_ISDIR(status.st_mode)) return {};
  return Error(ErrorCode::permission_denied, fmt::format("'{}' is not a folder; remove it", path));
}

std::string hint(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return fmt::format("; give user {} access, or choose another cache folder", ::geteuid());
    case EROFS: return "; choose a cache folder on a file system that can be written";
    case ENOSPC:
    case EDQUOT: return "; free some space, or choose another cache folder";
    case EMFILE:
    case ENFILE: return "; close files, or raise the limit on open files (ulimit -n)";
    default: return "";
  }
}

}  // namespace

Result<void> check_owner(const std::string& path, const struct stat& status) {
  const uid_t user = ::geteuid();
  if (status.st_uid == user || status.st_uid == 0) return {};
  const std::string trusted = user == 0 ? "root" : fmt::format("user {} and root", user);
  return Error(ErrorCode::permission_denied,
               fmt::format("'{}' belongs to somebody else ({}); a cache is trusted only where {} "
                           "alone can write, because loading an executable is running code. Choose "
                           "another cache folder, or, if it is yours, run as root: chown -h {} {}",
                           path, owner_and_mode(status), trusted, user, shell_quoted(path)));
}

Result<void> check_trust(const std::string& path, const struct stat& status, Role role) {
  PRECAST_TRY(check_kind(path, status, role));
  PRECAST_TRY(check_owner(path, status));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  // In a sticky folder nobody can rename or remove what belongs to another user.
  if (role == Role::ancestor && (status.st_mode & S_ISVTX) != 0) return {};
  return Error(
      ErrorCode::permission_denied,
      fmt::format("'{}' may be written by {} ({}), who could plant executables there; run: chmod "
                  "go-w {}",
                  path, (status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group",
                  owner_and_mode(status), shell_quoted(path)));
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

Error fault(int error_number, const std::string& what) {
  Error error = base::errno_error(error_number, what);
  const ErrorCode code = error_number == ENAMETOOLONG ? ErrorCode::invalid_argument : error.code();
  return {code, error.message() + hint(error_number)};
}

}  // namespace precast::store
