#include "store/guarded_store.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "precast/limits.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

using namespace std::chrono_literals;

// For what hangs, and for what does not.
constexpr std::chrono::milliseconds kShort{200};
constexpr std::chrono::milliseconds kLong{60'000};

// Calls of one kind wait until they are let go. Never destroyed before that.
class BlockingOps : public QuickOps {
 public:
  explicit BlockingOps(Op op) : op_(op) {}
  ~BlockingOps() override { let_go(); }

  void block() {
    const std::lock_guard lock(mutex_);
    blocking_ = true;
  }
  void let_go() {
    std::unique_lock lock(mutex_);
    blocking_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return waiting_ == 0; });
  }

  int openat(int folder, const char* name, int flags, mode_t mode) override {
    ++calls;
    wait(Op::openat);
    return QuickOps::openat(folder, name, flags, mode);
  }
  ssize_t pread(int fd, char* bytes, std::size_t count, off_t offset) override {
    wait(Op::pread);
    largest = std::max(largest.load(), count);
    return QuickOps::pread(fd, bytes, count, offset);
  }
  int fsync(int fd) override {
    wait(Op::fsync);
    std::this_thread::sleep_for(fsync_takes);
    return QuickOps::fsync(fd);
  }

  std::chrono::milliseconds fsync_takes{0};
  std::chrono::milliseconds pread_takes{0};
  std::atomic<std::size_t> largest = 0;
  std::atomic<int> calls = 0;  // of openat, with which everything begins

 private:
  void wait(Op op) {
    if (op == Op::pread) std::this_thread::sleep_for(pread_takes);
    std::unique_lock lock(mutex_);
    if (op != op_ || !blocking_) return;
    ++waiting_;
    changed_.wait(lock, [this] { return !blocking_; });
    --waiting_;
    changed_.notify_all();
  }

  const Op op_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool blocking_ = false;
  int waiting_ = 0;
};

std::unique_ptr<GuardedStore> open(const std::string& path, FileOps& ops,
                                   std::chrono::milliseconds silence) {
  auto store = GuardedStore::open(
      path, {.silence = silence, .guard = GuardedStore::If::always, .ops = &ops});
  EXPECT_TRUE(store) << store.error().to_string();
  return std::move(store).value();
}

void put_plainly(const std::string& path, const Bytes& value) {
  const auto store = DirectoryStore::open(path, quick_ops());
  ASSERT_TRUE(store && (*store)->put(kName, value));
}

// Its threads may go on after a test has ended, so that it is never destroyed.
BlockingOps& blocking_ops(Op op) {
  static auto& all = *new std::vector<std::unique_ptr<BlockingOps>>();
  all.push_back(std::make_unique<BlockingOps>(op));
  return *all.back();
}

TEST(GuardedStore, DoesWhatTheStoreDoes) {
  const TempFolder folder;
  const auto store = open(folder.path(), quick_ops(), kLong);
  EXPECT_TRUE(store->is_guarded());
  EXPECT_EQ(store->path(), folder.path());
  const Bytes value = value_of(1);
  ASSERT_TRUE(store->put(kName, value));
  const auto got = store->get(kName);
  ASSERT_TRUE(got && *got && (*got)->bytes);
  EXPECT_EQ(*(*got)->bytes, value);
  EXPECT_TRUE(store->used(kName, (*got)->identity, (*got)->used_unix_s));
  EXPECT_TRUE(store->has_room(1).value());
  EXPECT_TRUE(store->after_publish(1));
  EXPECT_EQ(store->locate(kName), DirectoryStore::open(folder.path()).value()->locate(kName));
  const auto moved = store->quarantine(kName, (*got)->identity, "a test");
  ASSERT_TRUE(moved && *moved);
  EXPECT_FALSE(store->get(kName).value());
  const auto bad = store->get("no name");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), ErrorCode::invalid_argument);
  const auto entries = store->ask<std::size_t>([](DirectoryStore& inner) -> Result<std::size_t> {
    PRECAST_ASSIGN(const StoreContents contents, inner.contents());
    return contents.entries.size();
  });
  ASSERT_TRUE(entries);
  EXPECT_EQ(*entries, 0U);
}

// The copy of the bytes is refused before it is made, or when there is no memory for it; what was
// compiled stays the caller's.
TEST(GuardedStore, WhatCannotBeCopiedIsAnError) {
  const TempFolder folder;
  const std::string path = folder.path();
  const auto store = open(path, quick_ops(), kLong);
  const auto refused = store->put(kName, BytesView(kName.data(), limits::kMaxArtifactBytes + 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer ends a process that has no memory left";
#endif
  const std::string said = in_child([&path]() -> std::string {
    constexpr std::size_t kSize = std::size_t{1} << 30;
    const void* zeros =
        ::mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return "mmap";
    const auto own = open(path, quick_ops(), kLong);
    const rlimit little = {kSize + kSize / 2, kSize + kSize / 2};
    if (::setrlimit(RLIMIT_AS, &little) != 0) return "setrlimit";
    const auto stored = own->put(kName, BytesView(static_cast<const char*>(zeros), kSize));
    return stored ? "stored" : stored.error().to_string();
  });
  EXPECT_NE(said.find("resource_exhausted"), std::string::npos) << said;
}

TEST(GuardedStore, IsTheStoreItselfOnThisMachinesFileSystems) {
  EXPECT_TRUE(base::is_local(0xef53));
  EXPECT_FALSE(base::is_local(0x65735546)) << "FUSE";
  EXPECT_FALSE(base::is_local(0x6969)) << "NFS";
  EXPECT_FALSE(base::is_local(0x12345678)) << "what is not known";
}

TEST(GuardedStore, AGetThatHangsCostsOneSilenceAndNoneAfter) {
  const TempFolder folder;
  put_plainly(folder.path(), value_of(1));
  BlockingOps& ops = blocking_ops(Op::pread);
  const auto store = open(folder.path(), ops, kShort);
  ops.block();
  const auto got = store->get(kName);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_NE(got.error().message().find("hangs"), std::string::npos);
  ops.let_go();  // the store would answer now, and this process asks no more
  std::this_thread::sleep_for(kShort);
  const int calls = ops.calls;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(store->get(kName));
  EXPECT_FALSE(store->put(kName, value_of(2)));
  EXPECT_FALSE(store->used(kName, {}, 0));
  EXPECT_FALSE(store->quarantine(kName, {}, "a test"));
  const auto again = GuardedStore::open(folder.path(), {.silence = kShort, .ops = &ops});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(ops.calls, calls);
  EXPECT_FALSE(store->locate(kName).empty());
}

TEST(GuardedStore, AnOpenThatHangsCostsOneSilence) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::openat);
  ops.block();
  const auto store = GuardedStore::open(folder.path(), {.silence = kShort, .ops = &ops});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::deadline_exceeded);
}

TEST(GuardedStore, APutThatHangsOwnsItsBytes) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::fsync);
  const auto store = open(folder.path(), ops, kShort);
  ops.block();
  const Bytes expected = value_of(3);
  auto bytes = std::make_unique<Bytes>(expected);
  ASSERT_FALSE(store->put(kName, *bytes));
  bytes.reset();
  ops.let_go();
  // It ends well, if late, and what it wrote is whole.
  const auto plain = DirectoryStore::open(folder.path()).value();
  for (int i = 0; i < 500; ++i) {
    const auto got = plain->get(kName);
    ASSERT_TRUE(got);
    if (*got) {
      EXPECT_EQ((*got)->bytes.value(), expected);
      return;
    }
    std::this_thread::sleep_for(10ms);
  }
  FAIL() << "the put did not end";
}

TEST(GuardedStore, ASlowStoreIsWaitedFor) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::openat);
  const Bytes large(5 * kMaxCountedBytes + 17, 'x');
  put_plainly(folder.path(), large);
  const auto store = open(folder.path(), ops, 5 * kShort);
  ops.pread_takes = 2 * kShort;  // each of six calls
  const auto got = store->get(kName);
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ((*got)->bytes.value(), large);
  EXPECT_LE(ops.largest, kMaxCountedBytes);
}

TEST(GuardedStore, AFlushOfMuchMayTakeLong) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::openat);
  const auto store = open(folder.path(), ops, kShort);
  ops.fsync_takes = 3 * kShort;  // for the file, and for its folder
  EXPECT_TRUE(store->put(kName, Bytes(10'000'000, 'x'))) << "a second's worth";
}

TEST(GuardedStore, ThreadsAreServedAtTheSameTime) {
  const TempFolder folder;
  const auto store = open(folder.path(), quick_ops(), kLong);
  ASSERT_TRUE(store->put(kName, value_of(1)));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto got = store->get(kName);
        good += got && *got && is_whole((*got)->bytes.value()) ? 1 : 0;
        if (i % 10 == 0) good += store->put(kName, value_of(static_cast<std::uint32_t>(t))) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 55);
}

TEST(GuardedStore, OneThatHangsLetsOthersFinish) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::fsync);
  const auto store = open(folder.path(), ops, 400ms);
  ASSERT_TRUE(store->put(kOtherName, value_of(1)));
  ops.block();
  std::thread stuck([&] { EXPECT_FALSE(store->put(kName, value_of(2))); });
  EXPECT_TRUE(store->get(kOtherName));
  stuck.join();
}

TEST(GuardedStore, ItsEndDoesNotWaitForWhatHangs) {
  const TempFolder folder;
  BlockingOps& ops = blocking_ops(Op::pread);
  put_plainly(folder.path(), value_of(1));
  auto store = open(folder.path(), ops, kShort);
  ops.block();
  EXPECT_FALSE(store->get(kName));
  const std::weak_ptr<const void> inside = store->inside();
  store.reset();
  ops.let_go();
  EXPECT_FALSE(inside.expired()) << "what goes on may use it at any time";
}

TEST(GuardedStore, AfterItsEndNothingIsKeptOfOneThatAnswers) {
  const TempFolder folder;
  auto store = open(folder.path(), quick_ops(), kLong);
  const std::weak_ptr<const void> inside = store->inside();
  store.reset();
  EXPECT_TRUE(inside.expired());
}

TEST(GuardedStore, WhoWaitsHasSomethingToDoMeanwhile) {
  const TempFolder folder;
  const auto store = open(folder.path(), quick_ops(), kShort);
  const auto called = std::make_shared<std::atomic<int>>(0);
  const auto caller = std::this_thread::get_id();
  const auto done = store->ask<bool>(
      [called](DirectoryStore& inner) -> Result<bool> {
        while (*called < 3) {
          static_cast<void>(inner.find_layout_folder());  // it answers
          std::this_thread::sleep_for(1ms);
        }
        return true;
      },
      [called, caller] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        // Longer than a silence, and the store is none the worse for it.
        if (++*called == 1) std::this_thread::sleep_for(2 * kShort);
      });
  EXPECT_TRUE(done) << done.error().to_string();
  EXPECT_TRUE(store->put(kName, value_of(1)));
}

TEST(GuardedStore, WhatWorkThrowsIsAnError) {
  const TempFolder folder;
  const auto store = open(folder.path(), quick_ops(), kLong);
  const auto thrown =
      store->ask<bool>([](DirectoryStore&) -> Result<bool> { throw std::runtime_error("a test"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code(), ErrorCode::internal);
  const auto full =
      store->ask<bool>([](DirectoryStore&) -> Result<bool> { throw std::bad_alloc(); });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::resource_exhausted);
  EXPECT_TRUE(store->put(kName, value_of(1)));
}

TEST(GuardedStore, AChildHasThreadsOfItsOwn) {
  const TempFolder folder;
  // In a child first: the guard's threads must not be there when others fork.
  EXPECT_EQ(in_child([&]() -> std::string {
              const auto store = open(folder.path(), quick_ops(), kLong);
              if (!store->put(kName, value_of(1))) return "no put";
              return in_child([&]() -> std::string {
                const auto got = store->get(kName);
                return got && *got && is_whole((*got)->bytes.value()) ? "" : "no get";
              });
            }),
            "");
}

// What is behind the destructor of a guard that has left a thread behind: the process ends.
TEST(GuardedStore, AProcessEndsThoughTheStoreHangs) {
  const TempFolder folder;
  EXPECT_EQ(in_child([&]() -> std::string {
              static BlockingOps* ops = nullptr;
              ops = new BlockingOps(Op::pread);
              put_plainly(folder.path(), value_of(1));
              const auto store = open(folder.path(), *ops, kShort);
              ops->block();
              return store->get(kName) ? "it did not hang" : "";
            }),
            "");
}

}  // namespace
}  // namespace precast::store
