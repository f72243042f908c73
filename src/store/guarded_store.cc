#include "store/guarded_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <new>

#include "precast/limits.h"

namespace precast::store {
namespace {

// By the numbers of linux/magic.h. What is missing here is guarded, which costs some microseconds.
constexpr std::array<std::uint32_t, 13> kLocal = {
    0x0000ef53,  // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683e,  // btrfs
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x794c7630,  // overlayfs
    0xf2f52010,  // f2fs
    0x2fc12fc1,  // zfs
    0xca451a4e,  // bcachefs
    0x3153464a,  // jfs
    0x52654973,  // reiserfs
    0x00004d44,  // fat
    0x2011bab0,  // exfat
};

// What cannot be found out may hang.
bool may_hang(FileOps& ops, const std::string& root) {
  const int fd = uninterrupted(
      [&] { return ops.openat(AT_FDCWD, root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0); });
  if (fd < 0) return true;
  struct statfs status{};
  const bool known = uninterrupted([&] { return ops.fstatfs(fd, &status); }) == 0;
  ops.close(fd);
  return !known || !is_local(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace

bool is_local(std::uint32_t magic) {
  return std::find(kLocal.begin(), kLocal.end(), magic) != kLocal.end();
}

GuardedStore::GuardedStore(std::unique_ptr<Guard> guard, std::shared_ptr<Inner> inner, bool guarded)
    : guard_(std::move(guard)),
      inner_(std::move(inner)),
      guarded_(guarded),
      path_(inner_->store->path()) {}

Result<std::unique_ptr<GuardedStore>> GuardedStore::open(const std::string& path,
                                                         const Options& options) {
  auto guard = std::make_unique<Guard>(path, options.silence);
  FileOps& ops = options.ops != nullptr ? *options.ops : posix_file_ops();
  using Opened = std::shared_ptr<Inner>;
  PRECAST_ASSIGN(Opened inner, guard->run<Opened>([path, name_space = options.name_space,
                                                   &ops]() -> Result<Opened> {
    auto opened = std::make_shared<Inner>(ops);
    PRECAST_ASSIGN(opened->store, DirectoryStore::open(path, name_space, opened->ops));
    opened->may_hang = may_hang(opened->ops, opened->store->path());
    return opened;
  }));
  const bool guarded = inner->may_hang || options.guard == If::always;
  if (!guarded) guard->rest();
  return std::unique_ptr<GuardedStore>(
      new GuardedStore(std::move(guard), std::move(inner), guarded));
}

Result<std::optional<Fetched>> GuardedStore::get(std::string_view name) {
  if (!guarded_) return inner_->store->get(name);
  return ask<std::optional<Fetched>>(
      [name = std::string(name)](DirectoryStore& store) { return store.get(name); });
}

Result<void> GuardedStore::put(std::string_view name, BytesView bytes) {
  // What is too large is refused before anything is asked.
  if (!guarded_ || bytes.size() > limits::kMaxArtifactBytes) return inner_->store->put(name, bytes);
  // A copy: the caller's bytes may be gone before a call that hangs returns.
  const std::size_t size = bytes.size();
  const std::shared_ptr<char[]> copy(new (std::nothrow) char[std::max<std::size_t>(size, 1)]);
  if (copy == nullptr) {
    return Error(ErrorCode::resource_exhausted,
                 fmt::format("no memory for a copy of {} bytes, which '{}' needs since it may hang",
                             size, path_));
  }
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return ask<void>([name = std::string(name), copy, size](DirectoryStore& store) {
    return store.put(name, BytesView(copy.get(), size));
  });
}

Result<bool> GuardedStore::quarantine(std::string_view name, const FileIdentity& identity,
                                      const std::string& reason) {
  return ask<bool>([name = std::string(name), identity, reason](DirectoryStore& store) {
    return store.quarantine(name, identity, reason);
  });
}

Result<bool> GuardedStore::used(std::string_view name, const FileIdentity& identity,
                                std::int64_t used_unix_s) {
  if (!guarded_) return inner_->store->used(name, identity, used_unix_s);
  return ask<bool>([name = std::string(name), identity, used_unix_s](DirectoryStore& store) {
    return store.used(name, identity, used_unix_s);
  });
}

Result<bool> GuardedStore::has_room(std::uint64_t bytes) {
  return ask<bool>([bytes](DirectoryStore& store) { return store.has_room(bytes); });
}

Result<Collected> GuardedStore::after_publish(std::uint64_t bytes) {
  return ask<Collected>([bytes](DirectoryStore& store) { return store.after_publish(bytes); });
}

std::string GuardedStore::locate(std::string_view name) const {
  return inner_->store->locate(name);
}

}  // namespace precast::store
