// Listing the folder of leases, and removing what nobody needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <map>

#include "lease/process.h"
#include "lease/test_leases.h"

namespace precast::lease {
namespace {

namespace fs = std::filesystem;
using State = LeaseInfo::State;
using ::testing::_;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string key_of(char digit) { return std::string(store::kNameDigits, digit); }

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    fs::create_directories(root_ + "/v1/leases");
    Owner elsewhere = this_process("elsewhere");
    elsewhere.boot_id = "another machine";
    Owner dead = this_process("dead");
    dead.start_ticks -= 1;
    put(key_of('a'), encode(this_process("alive")), 0);
    put(key_of('b'), encode(dead), 0);
    put(key_of('c'), encode(elsewhere), 60);
    put(key_of('d'), encode(elsewhere), 7200);
    put(key_of('e'), encode(this_process("ended")) + encode({Verdict::published}), 0);
    put(key_of('f'), "no record", 7200);
    put(".tmp-1-new", encode(this_process("")), 0);
    put(".tmp-1-old", encode(elsewhere), 7200);
    put(".tmp-1-dead", encode(dead), 0);
    put("notes.txt", "of somebody", 7200);
    fs::create_directory(root_ + "/v1/leases/" + key_of('9'));
  }

  void put(const std::string& name, const Bytes& bytes, int age_s) const {
    const std::string path = root_ + "/v1/leases/" + name;
    {
      std::ofstream(path, std::ios::binary) << bytes;
    }
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(age_s));
  }

  store::TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

std::map<std::string, State> states(const Result<std::vector<LeaseInfo>>& infos) {
  std::map<std::string, State> found;
  if (!infos) {
    ADD_FAILURE() << infos.error().to_string();
    return found;
  }
  for (const LeaseInfo& info : *infos) found[info.name] = info.state;
  return found;
}

TEST_F(SweepTest, AStoreWithoutLeasesHasNone) {
  const Opened opened(temp_ / "another");
  EXPECT_THAT(states(opened.leases->list()), IsEmpty());
  EXPECT_THAT(states(opened.leases->sweep(false)), IsEmpty());
  EXPECT_TRUE(fs::is_empty(temp_ / "another"));
}

TEST_F(SweepTest, ListsWhatIsThere) {
  const Opened opened(root_);
  const auto infos = opened.leases->list();
  EXPECT_THAT(
      states(infos),
      UnorderedElementsAre(Pair(key_of('a'), State::alive), Pair(key_of('b'), State::dead),
                           Pair(key_of('c'), State::silent), Pair(key_of('d'), State::silent),
                           Pair(key_of('e'), State::ended), Pair(key_of('f'), State::silent),
                           Pair(".tmp-1-new", State::temporary),
                           Pair(".tmp-1-old", State::temporary), Pair(".tmp-1-dead", State::dead),
                           Pair("notes.txt", State::foreign), Pair(key_of('9'), State::foreign)));
  for (const LeaseInfo& info : *infos) {
    if (info.name == key_of('c')) {
      EXPECT_EQ(info.owner->label, "elsewhere");
      EXPECT_NEAR(info.age_s, 60, 30);
      EXPECT_EQ(info.path, root_ + "/v1/leases/" + info.name);
    }
    if (info.name == key_of('f')) {
      EXPECT_FALSE(info.owner);
    }
    EXPECT_FALSE(info.removed);
  }
}

TEST_F(SweepTest, RemovesWhatTheDeadLeftAndWhatWasSilentForLong) {
  const Opened opened(root_);
  const auto gone =
      UnorderedElementsAre(Pair(key_of('b'), State::dead), Pair(key_of('d'), State::silent),
                           Pair(key_of('e'), State::ended), Pair(key_of('f'), State::silent),
                           Pair(".tmp-1-old", State::temporary), Pair(".tmp-1-dead", State::dead));
  EXPECT_THAT(states(opened.leases->sweep(true)), gone);
  EXPECT_EQ(lease_files(root_).size(), 11u) << "a dry run";
  const auto removed = opened.leases->sweep(false);
  EXPECT_THAT(states(removed), gone);
  for (const LeaseInfo& info : *removed) EXPECT_TRUE(info.removed) << info.name;
  EXPECT_THAT(lease_files(root_), UnorderedElementsAre(key_of('a'), key_of('c'), ".tmp-1-new",
                                                       "notes.txt", key_of('9')));
  EXPECT_THAT(states(opened.leases->sweep(false)), IsEmpty());
}

TEST_F(SweepTest, NeedsNoMoreDescriptorsForManyLeases) {
  const Opened opened(temp_ / "another");
  const std::string folder = temp_ / "another/v1/leases/";
  fs::create_directories(folder);
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) {
    std::ofstream(folder + ".tmp-1-" + std::to_string(i)) << "no record";
  }
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit few = before;
  few.rlim_cur = kMany / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto listed = states(opened.leases->list());
  const auto swept = states(opened.leases->sweep(false, 0));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(listed.size(), kMany);
  EXPECT_THAT(listed, Each(Pair(_, State::temporary)));
  EXPECT_EQ(swept.size(), kMany);
  EXPECT_THAT(lease_files(temp_ / "another"), IsEmpty());
}

TEST_F(SweepTest, LeavesAHolderAlone) {
  const Opened opened(temp_ / "another");
  const Acquired got = opened.acquire();
  EXPECT_THAT(states(opened.leases->sweep(false)), IsEmpty());
  EXPECT_THAT(states(opened.leases->list()), ElementsAre(Pair(kKey, State::alive)));
  EXPECT_FALSE(got.lease->lost());
}

TEST_F(SweepTest, EveryStateHasAName) {
  EXPECT_EQ(to_string(State::alive), "alive");
  EXPECT_EQ(to_string(State::silent), "silent");
  EXPECT_EQ(to_string(State::dead), "dead");
  EXPECT_EQ(to_string(State::ended), "ended");
  EXPECT_EQ(to_string(State::temporary), "temporary");
  EXPECT_EQ(to_string(State::foreign), "foreign");
}

}  // namespace
}  // namespace precast::lease
