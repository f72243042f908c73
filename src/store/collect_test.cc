#include "store/collect.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <set>

#include "base/file.h"
#include "store/directory_store.h"
#include "store/layout.h"
#include "store/quarantine.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string name_of(int i) {
  std::string name(64, '0');
  name[0] = "0123456789abcdef"[i % 16];
  name[63] = "0123456789abcdef"[i / 16 % 16];
  return name;
}

class CollectTest : public ::testing::Test {
 protected:
  std::unique_ptr<DirectoryStore> store(FileOps& ops = quick_ops()) const {
    return store_at(root_, ops);
  }
  // An entry that was published and last used so long ago.
  void put(int i, std::size_t bytes, std::int64_t published_ago, std::int64_t used_ago) const {
    const std::string name = name_of(i);
    EXPECT_TRUE(store()->put(name, Bytes(bytes, 'x')));
    age(store()->locate(name), published_ago, used_ago);
  }
  static void age(const std::string& path, std::int64_t written_ago, std::int64_t used_ago) {
    const std::time_t now = std::time(nullptr);
    const std::array<timespec, 2> times = {{{now - used_ago, 0}, {now - written_ago, 0}}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }
  Collected collect(const CollectOrder& order) const {
    auto done = store()->collect(order);
    if (done) return *std::move(done);
    ADD_FAILURE() << done.error().to_string();
    return {};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    const auto contents = store()->contents();
    for (const StoredEntry& entry : contents->entries) found.insert(entry.name);
    return found;
  }
  std::set<std::string> files() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      found.insert(entry.path().string());
    }
    return found;
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

TEST_F(CollectTest, AnEmptyStoreStaysEmpty) {
  const Collected done = collect({.rules = {.max_bytes = 0}});
  EXPECT_TRUE(done.ran);
  EXPECT_EQ(done.left_entries, 0u);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(CollectTest, RemovesWhatTheRulesSayAndReports) {
  put(0, 100, 5000, 10);
  put(1, 100, 5000, 4000);
  put(2, 100, 50, 50);
  const Collected done = collect({.rules = {.max_bytes = 150, .unused_for_s = 3000}, .list = true});
  EXPECT_TRUE(done.ran);
  EXPECT_EQ(done.removed_entries, 2u);
  EXPECT_EQ(done.removed_bytes, 200u);
  EXPECT_EQ(done.left_entries, 1u);
  EXPECT_EQ(done.left_bytes, 100u);
  EXPECT_EQ(done.failed, 0u);
  EXPECT_THAT(names(), ElementsAre(name_of(0)));
  ASSERT_EQ(done.removed.size(), 2u);
  EXPECT_EQ(done.removed[0].entry.name(), name_of(1));
  EXPECT_EQ(done.removed[0].why, Why::unused);
  EXPECT_EQ(done.removed[1].entry.name(), name_of(2));
  EXPECT_EQ(done.removed[1].why, Why::size);
}

TEST_F(CollectTest, ADryRunWritesNothing) {
  put(0, 100, 5000, 5000);
  std::ofstream(root_ + "/v1/00/.tmp-1-x") << "dead";
  age(root_ + "/v1/00/.tmp-1-x", 5000, 5000);
  const std::set<std::string> before = files();
  const Collected done = collect({.rules = {.max_bytes = 0}, .dry_run = true, .list = true});
  EXPECT_EQ(done.removed_entries, 1u);
  EXPECT_EQ(done.removed.size(), 1u);
  EXPECT_EQ(done.unfinished, 1u);
  EXPECT_EQ(files(), before);
}

TEST_F(CollectTest, SweepsWhatTheDeadLeft) {
  put(0, 100, 10, 10);
  for (const char* name : {".tmp-1-old", ".tmp-2-young", "notes.txt"}) {
    std::ofstream(root_ + "/v1/00/" + name) << "four";
  }
  age(root_ + "/v1/00/.tmp-1-old", kAbandonedSeconds + 1, 0);
  age(root_ + "/v1/00/notes.txt", kAbandonedSeconds + 1, 0);
  const auto old = (*store()->get(name_of(0)))->identity;
  EXPECT_TRUE(*store()->quarantine(name_of(0), old, "x"));
  const Collected done = collect({});
  EXPECT_EQ(done.unfinished, 1u);
  EXPECT_EQ(done.unfinished_bytes, 4u);
  EXPECT_EQ(done.quarantined, 0u);
  EXPECT_FALSE(fs::exists(root_ + "/v1/00/.tmp-1-old"));
  EXPECT_TRUE(fs::exists(root_ + "/v1/00/.tmp-2-young"));
  EXPECT_TRUE(fs::exists(root_ + "/v1/00/notes.txt"));
}

TEST_F(CollectTest, PinnedAndYoungEntriesStay) {
  put(0, 100, 5000, 5000);
  put(1, 100, 5000, 5000);
  put(2, 100, 5000, kGraceSeconds - 100);
  EXPECT_TRUE(store()->pin(name_of(0), ""));
  const CollectRules rules = {.max_bytes = 0, .older_than_s = 1, .grace_s = kGraceSeconds};
  const Collected done = collect({.rules = rules});
  EXPECT_EQ(done.pinned_entries, 1u);
  EXPECT_THAT(names(), UnorderedElementsAre(name_of(0), name_of(2)));
}

// Between the plan and the removal.
TEST_F(CollectTest, WhatIsPinnedUsedOrReplacedMeanwhileStays) {
  for (int i = 0; i < 4; ++i) put(i, 100, 5000, 5000);
  FaultyOps ops;
  bool first = true;
  ops.set_hook([&](Op op, const char*) {
    if (op != Op::unlinkat || !std::exchange(first, false)) return;
    EXPECT_TRUE(store()->pin(name_of(1), ""));
    age(store()->locate(name_of(2)), 5000, 0);
    EXPECT_TRUE(store()->put(name_of(3), "new"));
  });
  const auto done = store(ops)->collect({.rules = {.max_bytes = 0}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->removed_entries, 1u);
  EXPECT_EQ(done->failed, 0u);
  EXPECT_THAT(names(), UnorderedElementsAre(name_of(1), name_of(2), name_of(3)));
}

TEST_F(CollectTest, OneProcessAtATime) {
  put(0, 100, 5000, 5000);
  std::ofstream(root_ + "/v1/gc.lock") << "";
  set_mode(root_ + "/v1/gc.lock", 0600);
  base::Fd held(::open((root_ + "/v1/gc.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  EXPECT_FALSE(collect({.rules = {.max_bytes = 0}}).ran);
  EXPECT_EQ(names().size(), 1u);
  held.reset(-1);
  EXPECT_TRUE(collect({.rules = {.max_bytes = 0}}).ran);
  EXPECT_EQ(names().size(), 0u);
}

class WithoutLocks : public QuickOps {
 public:
  int flock(int, int) override {
    errno = ENOLCK;
    return -1;
  }
};

TEST_F(CollectTest, AFileSystemWithoutLocksWillDo) {
  put(0, 100, 5000, 5000);
  WithoutLocks ops;
  const auto done = store(ops)->collect({.rules = {.max_bytes = 0}});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ran);
  EXPECT_EQ(names().size(), 0u);
}

TEST_F(CollectTest, OfItsOwnAccordNotTwiceInAMoment) {
  put(0, 100, 5000, 5000);
  const CollectOrder order = {.rules = {.max_bytes = 1000}, .automatic = true};
  EXPECT_TRUE(collect(order).ran);
  EXPECT_FALSE(collect(order).ran);
  EXPECT_TRUE(collect({}).ran) << "who asks for it gets it";
  age(root_ + "/v1/gc.lock", kCollectIntervalSeconds + 1, 0);
  EXPECT_TRUE(collect(order).ran);
}

// --- The limits.

TEST_F(CollectTest, DefaultsDependOnTheFileSystem) {
  const auto limits = store()->limits();
  ASSERT_TRUE(limits);
  EXPECT_GT(limits->soft_bytes, 0u);
  EXPECT_LE(limits->soft_bytes, kDefaultSoftBytes);
  EXPECT_LE(limits->soft_bytes, fs::space(root_).capacity / kDefaultSoftDivisor);
  EXPECT_EQ(limits->hard_bytes, default_hard_bytes(limits->soft_bytes));
  const auto own = store();
  own->set_limits({.soft_bytes = 100});
  EXPECT_EQ(own->limits()->hard_bytes, 125u);
  own->set_limits({.hard_bytes = 100});
  EXPECT_EQ(own->limits()->soft_bytes, 100u);
}

// Publishes as the cache does.
Collected publish(DirectoryStore& store, int i, std::size_t bytes) {
  EXPECT_TRUE(store.put(name_of(i), Bytes(bytes, 'x')));
  auto done = store.after_publish(bytes);
  if (done) return *std::move(done);
  ADD_FAILURE() << done.error().to_string();
  return {};
}

TEST_F(CollectTest, APublishBeyondTheSoftLimitCollects) {
  const auto own = store();
  own->set_limits({.soft_bytes = 1000, .hard_bytes = 5000});
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(publish(*own, i, 100).ran);
    age(own->locate(name_of(i)), 10'000 - i, 10'000 - i);
  }
  const Collected done = publish(*own, 10, 100);
  EXPECT_TRUE(done.ran);
  EXPECT_EQ(done.left_bytes, 900u) << "nine tenths";
  EXPECT_EQ(done.removed_entries, 2u);
  EXPECT_FALSE(names().contains(name_of(0)));
  EXPECT_FALSE(names().contains(name_of(1)));
  EXPECT_TRUE(names().contains(name_of(10)));
  EXPECT_FALSE(publish(*own, 11, 100).ran) << "there is room again";
}

TEST_F(CollectTest, TheYoungGoOnlyBeyondTheHardLimit) {
  const auto own = store();
  own->set_limits({.soft_bytes = 300, .hard_bytes = 500});
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(*own->has_room(100));
    publish(*own, i, 100);
  }
  EXPECT_EQ(names().size(), 5u);
  age(root_ + "/v1/gc.lock", 1000, 0);
  EXPECT_TRUE(*own->has_room(100)) << "one of them makes room";
  EXPECT_EQ(names().size(), 4u);
  EXPECT_FALSE(*own->has_room(501)) << "never";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(own->pin(name_of(i), ""));
  age(root_ + "/v1/gc.lock", 1000, 0);
  EXPECT_TRUE(*own->has_room(100));
  EXPECT_FALSE(*own->has_room(200));
  EXPECT_EQ(names().size(), 4u);
}

TEST_F(CollectTest, WhatTheUsageFileSaysIsNotTrusted) {
  const auto own = store();
  own->set_limits({.soft_bytes = 1000, .hard_bytes = 1250});
  publish(*own, 0, 100);
  const std::string path = root_ + "/v1/usage";
  EXPECT_EQ(fs::file_size(path), 56u);
  for (const std::string text :
       {"", "bytes", "bytes 99999999999999999999 entries 00000000000000000001\n", "\0\0\0"}) {
    std::ofstream(path) << text;
    EXPECT_TRUE(*own->has_room(100)) << text;
    // The next publish counts what is there.
    EXPECT_TRUE(own->after_publish(0));
    EXPECT_EQ(fs::file_size(path), 56u) << "counted again";
  }
  // Far too much: one collection finds out.
  std::ofstream(path) << "bytes 00000000000099999999 entries 00000000000000000001\n";
  EXPECT_TRUE(*own->has_room(100));
  EXPECT_EQ(names().size(), 1u);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(own->has_room(100));
}

TEST_F(CollectTest, AddingToTheUsageWaitsForNobody) {
  const auto own = store();
  publish(*own, 0, 100);
  const auto root = open_root(quick_ops(), root_);
  const auto layout = open_folder(quick_ops(), *root, kLayout);
  EXPECT_EQ(**read_usage(quick_ops(), **layout), (Usage{100, 1}));
  const base::Fd held(::open((root_ + "/v1/usage").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  publish(*own, 1, 100);
  EXPECT_EQ(**read_usage(quick_ops(), **layout), (Usage{100, 1}));
}

TEST_F(CollectTest, ManyPublishersAtOnceKeepTheStoreWithinItsBounds) {
  constexpr int kProcesses = 6;
  std::vector<Child> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.emplace_back([&, p]() -> std::string {
      const auto own = store();
      own->set_limits({.soft_bytes = 3000, .hard_bytes = 4000});
      for (int i = 0; i < 20; ++i) {
        const int id = p * 20 + i;
        if (!own->put(name_of(id), Bytes(100, 'x'))) return "put";
        age(own->locate(name_of(id)), 10'000, 10'000 - id);
        const auto done = own->after_publish(100);
        if (!done) return done.error().to_string();
        std::error_code none;
        if (done->ran) age(root_ + "/v1/gc.lock", 1000, 0);
      }
      return "";
    });
  }
  for (Child& child : children) EXPECT_EQ(child.finish(), "");
  age(root_ + "/v1/gc.lock", 1000, 0);
  // On a busy machine some may not have been counted; that must not last for ever.
  fs::remove(root_ + "/v1/usage");
  const auto own = store();
  own->set_limits({.soft_bytes = 3000, .hard_bytes = 4000});
  publish(*own, 0, 100);
  const auto counted = count_entries(quick_ops(), *own->layout_folder());
  ASSERT_TRUE(counted);
  EXPECT_LE(counted->bytes, 4000u);
}

// --- Others at work.

TEST_F(CollectTest, WhoIsReadingAnEntryReadsAllOfIt) {
  const Bytes value = value_of(3);
  EXPECT_TRUE(store()->put(kName, value));
  std::array<int, 2> reading{};
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe2(reading.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(go.data(), O_CLOEXEC), 0);
  Child reader([&]() -> std::string {
    FaultyOps ops;
    ops.set_max_transfer(1000);
    int reads = 0;
    ops.set_hook([&](Op op, const char*) {
      char c = 0;
      if (op != Op::pread || ++reads != 2) return;
      if (::write(reading[1], "r", 1) != 1 || ::read(go[0], &c, 1) != 1) ::_exit(9);
    });
    auto opened = DirectoryStore::open(root_, ops);
    const auto found = value_in(**opened, kName);
    if (!found || !*found) return "not read";
    return **found == value ? "" : "not whole";
  });
  char c = 0;
  ASSERT_EQ(::read(reading[0], &c, 1), 1);
  EXPECT_EQ(collect({.rules = {.max_bytes = 0}}).removed_entries, 1u);
  EXPECT_EQ(*value_in(*store(), kName), std::nullopt);
  ASSERT_EQ(::write(go[1], "g", 1), 1);
  EXPECT_EQ(reader.finish(), "");
}

TEST_F(CollectTest, AFaultRemovesNothingThatShouldStay) {
  for (const bool sticky : {false, true}) {
    bool fired = true;
    for (int at = 1; fired; ++at) {
      ASSERT_LT(at, 300);
      put(0, 100, 5000, 5000);
      put(1, 100, 5000, 5000);
      put(2, 100, 5000, 10);
      EXPECT_TRUE(store()->pin(name_of(0), ""));
      FaultyOps ops({.at = at, .error = EIO, .sticky = sticky});
      auto opened = DirectoryStore::open(root_, ops);
      const auto done = opened ? (*opened)->collect({.rules = {.unused_for_s = 1000}})
                               : Result<Collected>(opened.error());
      fired = ops.fired();
      EXPECT_TRUE(names().contains(name_of(0)));
      EXPECT_TRUE(names().contains(name_of(2)));
      EXPECT_EQ(*value_in(*store(), name_of(0)), Bytes(100, 'x'));
      if (!fired) {
        EXPECT_FALSE(names().contains(name_of(1)));
      } else if (done && names().contains(name_of(1))) {
        EXPECT_TRUE(done->failed > 0 || done->first_error);
      }
    }
  }
}

TEST_F(CollectTest, WhoIsKilledLeavesASoundStore) {
  bool killed = true;
  for (int at = 1; killed; ++at) {
    ASSERT_LT(at, 300);
    for (int i = 0; i < 3; ++i) put(i, 100, 5000, 5000);
    EXPECT_TRUE(store()->pin(name_of(0), ""));
    const std::string said = in_child([&]() -> std::string {
      FaultyOps ops({.at = at, .kill = true});
      auto opened = DirectoryStore::open(root_, ops);
      if (!opened) return opened.error().to_string();
      const auto done = (*opened)->collect({.rules = {.max_bytes = 0}});
      return done ? (done->ran ? "" : "locked") : done.error().to_string();
    });
    killed = said == "died of signal 9";
    if (!killed) {
      EXPECT_EQ(said, "");
    }
    EXPECT_TRUE(names().contains(name_of(0)));
    EXPECT_TRUE(collect({.rules = {.max_bytes = 0}}).ran) << "the lock died with its holder";
    EXPECT_THAT(names(), ElementsAre(name_of(0)));
  }
}

}  // namespace
}  // namespace precast::store
