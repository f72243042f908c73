#include "store/guarded_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statfs.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "precast/limits.h"

namespace precast::store {
namespace {

// What cannot be found out may hang.
bool may_hang(FileOps& ops, const std::string& root) {
  const int fd = uninterrupted(
      [&] { return ops.openat(AT_FDCWD, root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0); });
  if (fd < 0) return true;
  struct statfs status{};
  const bool known = uninterrupted([&] { return ops.fstatfs(fd, &status); }) == 0;
  ops.close(fd);
  return !known || !base::is_local(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace

GuardedStore::GuardedStore(std::unique_ptr<Guard> guard, std::shared_ptr<Inner> inner, bool guarded)
    : guard_(std::move(guard)),
      inner_(std::move(inner)),
      guarded_(guarded),
      path_(inner_->store->path()) {}

GuardedStore::~GuardedStore() {
  // Work that was left behind goes on at any time, and others may have left behind what it made.
  if (guard_->hung()) keep();
}

void GuardedStore::keep() const {
  // In a list, where a leak checker sees it.
  struct Kept {
    std::shared_ptr<const void> inside;
    Kept* before = nullptr;
  };
  static std::atomic<Kept*> last = nullptr;
  auto* const kept = new Kept{.inside = inner_};
  kept->before = last.exchange(kept);
}

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
