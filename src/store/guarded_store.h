// GuardedStore: a directory store that may lie on a file system which never answers.
//
// On file systems that are this machine's own (ext4, xfs, tmpfs, ...) it is the store itself. On
// others, network ones and FUSE among them, each operation runs on a thread that may be left behind
// (guard.h): the first one that gets no answer for the silence fails with deadline_exceeded, and
// all later ones of this process at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/guard.h"
#include "store/counting_ops.h"
#include "store/directory_store.h"
#include "store/store.h"

namespace precast::store {

using base::Guard;

class GuardedStore : public Store {
 public:
  ~GuardedStore() override;
  GuardedStore(const GuardedStore&) = delete;
  GuardedStore& operator=(const GuardedStore&) = delete;

  enum class If : std::uint8_t { it_may_hang, always };
  struct Options {
    std::string name_space = {};  // name_space.h
    std::chrono::milliseconds silence = base::kSilence;
    If guard = If::it_may_hang;
    FileOps* ops = nullptr;  // instead of the kernel's; as long-lived as a call that hangs
  };
  // As DirectoryStore::open(), which is guarded in any case; and its errors, and those of the
  // guard.
  static Result<std::unique_ptr<GuardedStore>> open(const std::string& path,
                                                    const Options& options);

  Result<std::optional<Fetched>> get(std::string_view name) override;
  Result<void> put(std::string_view name, BytesView bytes) override;
  Result<bool> quarantine(std::string_view name, const FileIdentity& identity,
                          const std::string& reason) override;
  Result<bool> used(std::string_view name, const FileIdentity& identity,
                    std::int64_t used_unix_s) override;
  Result<bool> has_room(std::uint64_t bytes) override;
  Result<Collected> after_publish(std::uint64_t bytes) override;
  std::string locate(std::string_view name) const override;

  // Anything else that is done with the store. `work` may run on another thread and be left behind
  // there: it owns what it uses besides the store, and makes its system calls through store.ops().
  // `meanwhile` is as for Guard::run(), and is not called when is_guarded() is false.
  template <typename T>
  Result<T> ask(std::function<Result<T>(DirectoryStore&)> work,
                const std::function<void()>& meanwhile = {});

  // As DirectoryStore::set_limits().
  void set_limits(const Limits& limits) { inner_->store->set_limits(limits); }
  // The root: absolute and without symbolic links. Asks nothing.
  const std::string& path() const { return path_; }
  bool is_guarded() const { return guarded_; }
  // What the operations of the store use, store.ops() among it, stays for ever: for what was left
  // behind. A store that hangs does so by itself at its end.
  void keep() const;
  // Expires with it.
  std::weak_ptr<const void> inside() const { return inner_; }

 private:
  // What a thread that was left behind goes on using.
  struct Inner {
    explicit Inner(FileOps& inner_ops) : ops(inner_ops) {}
    CountingOps ops;
    std::unique_ptr<DirectoryStore> store;
    bool may_hang = true;
  };

  GuardedStore(std::unique_ptr<Guard> guard, std::shared_ptr<Inner> inner, bool guarded);

  std::unique_ptr<Guard> guard_;
  std::shared_ptr<Inner> inner_;
  bool guarded_;
  std::string path_;
};

template <typename T>
Result<T> GuardedStore::ask(std::function<Result<T>(DirectoryStore&)> work,
                            const std::function<void()>& meanwhile) {
  if (!guarded_) return work(*inner_->store);
  return guard_->run<T>([inner = inner_, work = std::move(work)] { return work(*inner->store); },
                        meanwhile);
}

}  // namespace precast::store
