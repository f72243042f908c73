#include "store/sharing.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace precast::store {
namespace {

// The numbers by which file systems call themselves that other machines may reach, from the
// kernel's list (linux/magic.h) and those of file systems outside of it.
constexpr std::array<std::uint32_t, 15> kNetwork = {
    0x00006969,  // NFS
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x0000517b,  // SMB
    0x0bd00bd0,  // Lustre
    0x00c36400,  // Ceph
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x65735546,  // FUSE: sshfs, s3fs, gcsfuse, JuiceFS, ...
    0x01021997,  // 9p
    0x5346414f,  // OpenAFS
    0x6b414653,  // the kernel's AFS
    0x73757245,  // Coda
    0x7461636f,  // OCFS2
    0x01161970,  // GFS2
};

constexpr long kReadOnly = 1;  // ST_RDONLY of statvfs(), as statfs() reports it too

}  // namespace

bool is_shared(FileOps& ops, const Folder& root) {
  if (root.status.st_uid != ::geteuid()) return true;
  if ((root.status.st_mode & (S_IRGRP | S_IROTH)) != 0) return true;
  struct statfs status{};
  if (uninterrupted([&] { return ops.fstatfs(root.fd.get(), &status); }) != 0) return true;
  if ((status.f_flags & kReadOnly) != 0) return true;
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  return std::find(kNetwork.begin(), kNetwork.end(), magic) != kNetwork.end();
}

}  // namespace precast::store
