#include "store/sharing.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>

#include "base/guard.h"

namespace precast::store {
namespace {

constexpr long kReadOnly = 1;  // ST_RDONLY of statvfs(), as statfs() reports it too

}  // namespace

bool is_shared(FileOps& ops, const Folder& root) {
  if (root.status.st_uid != ::geteuid()) return true;
  if ((root.status.st_mode & (S_IRGRP | S_IROTH)) != 0) return true;
  struct statfs status{};
  if (uninterrupted([&] { return ops.fstatfs(root.fd.get(), &status); }) != 0) return true;
  if ((status.f_flags & kReadOnly) != 0) return true;
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  return !base::is_local(magic);
}

}  // namespace precast::store
