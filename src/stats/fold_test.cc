#include "stats/fold.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "stats/snapshot.h"
#include "stats/test_support.h"
#include "testing/temp_dir.h"

namespace precast::stats {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNow = kSomeTime + 60 * kDay;

class Fold : public ::testing::Test {
 protected:
  Fold() : state_(temp_.path().string() + "/state") { (void)open(); }

  Folder open() {
    auto folder = Folder::open(state_, IfMissing::make);
    EXPECT_TRUE(folder) << folder.error().to_string();
    return std::move(**folder);
  }
  Stats read() {
    auto stats = read_stats({.state_directory = state_, .since_unix_s = std::nullopt});
    EXPECT_TRUE(stats) << stats.error().to_string();
    return std::move(stats).value();
  }
  std::string path(const std::string& name) const { return state_ + "/stats/" + name; }

  // A process that ended: a name of this place with a start that no process has.
  std::string ended(int number, const Totals& totals) {
    const std::string name = "process-" + this_place() + "-" + std::to_string(::getpid()) + "-1-" +
                             std::to_string(number) + ".v1";
    write(name, totals);
    return name;
  }
  void write(const std::string& name, const Totals& totals) {
    const auto written =
        open().write(name, Snapshot{.totals = totals, .folded = {}}.encode(), base::Flush::no);
    EXPECT_TRUE(written) << written.error().to_string();
  }
  void make_old(const std::string& name, std::int64_t days) {
    fs::last_write_time(path(name),
                        fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
  }
  void fold_files(std::size_t most = 0) {
    Folder folder = open();
    fold(folder, most, kNow);
  }
  std::size_t files_of_processes() {
    const auto names = open().names();
    return static_cast<std::size_t>(std::count_if(names->begin(), names->end(), is_process_file));
  }

  testing::TempDir temp_;
  std::string state_;
};

TEST_F(Fold, KeepsTheSumAndLeavesOneFileForEachMonth) {
  ended(1, some_totals(1));
  ended(2, some_totals(2));
  ended(3, some_totals(3, kSomeTime + 40 * kDay));
  const Stats before = read();
  fold_files();
  EXPECT_EQ(files_of_processes(), 0U);
  EXPECT_TRUE(fs::exists(path("month-2026-11.v1")));
  EXPECT_TRUE(fs::exists(path("month-2026-12.v1")));
  const Stats after = read();
  EXPECT_EQ(after.files, 2U);
  EXPECT_EQ(after.damaged, 0U);
  ASSERT_EQ(after.results.size(), before.results.size());
  for (const auto& [name, tally] : before.results) {
    EXPECT_EQ(after.results.at(name).count, tally.count) << name;
    EXPECT_EQ(after.results.at(name).bytes_read, tally.bytes_read) << name;
    EXPECT_DOUBLE_EQ(after.results.at(name).saved_ms, tally.saved_ms) << name;
  }
  EXPECT_EQ(after.results_by_label.size(), before.results_by_label.size());
  EXPECT_EQ(after.phases.at("load").count, before.phases.at("load").count);
  EXPECT_EQ(after.phases.at("load").max_ms, before.phases.at("load").max_ms);
}

TEST_F(Fold, WaitsForEnoughFiles) {
  ended(1, some_totals(1));
  fold_files(1);
  EXPECT_EQ(files_of_processes(), 1U);
}

TEST_F(Fold, LeavesWhoIsAtWorkAlone) {
  write(new_process_file(), some_totals(1));
  write("process-0123456789abcdef-77-5-aa.v1", some_totals(2));  // of another place
  fold_files();
  EXPECT_EQ(files_of_processes(), 2U);
}

TEST_F(Fold, TakesAnotherPlacesFileAfterAWeek) {
  const std::string name = "process-0123456789abcdef-77-5-aa.v1";
  write(name, some_totals(1));
  make_old(name, kForeignDays + 1);
  const std::uint64_t hits = count_of(read(), "hit");
  fold_files();
  EXPECT_EQ(files_of_processes(), 0U);
  EXPECT_EQ(count_of(read(), "hit"), hits);
}

// A fold that is killed between its steps: after the month was written and before the files went.
TEST_F(Fold, AKilledFoldCountsNothingTwice) {
  const std::string one = ended(1, some_totals(1));
  const std::string two = ended(2, some_totals(2));
  const Stats before = read();
  fs::create_directory(temp_.path().string() + "/aside");
  fs::copy(path(one), temp_.path().string() + "/aside/" + one);
  fold_files();
  fs::copy(temp_.path().string() + "/aside/" + one, path(one));
  EXPECT_EQ(count_of(read(), "hit"), count_of(before, "hit"));
  EXPECT_EQ(count_of(read(), "miss"), count_of(before, "miss"));
  fold_files();
  EXPECT_FALSE(fs::exists(path(one)));
  EXPECT_EQ(count_of(read(), "hit"), count_of(before, "hit"));
  // And a later fold, which does not name the file any more.
  ended(3, some_totals(3));
  fold_files();
  EXPECT_EQ(count_of(read(), "hit"), count_of(before, "hit") + 5);
}

// The same for a file with counts of two months, of which one was written.
TEST_F(Fold, AFoldKilledBetweenTwoMonthsCountsNothingTwice) {
  Totals both = some_totals(1);
  both.add(some_totals(2, kSomeTime + 40 * kDay));
  const std::string name = ended(1, both);
  const std::uint64_t hits = count_of(read(), "hit");
  const fs::path aside = temp_.path().string() + "/file";
  fs::copy(path(name), aside);
  fold_files();
  fs::remove(path("month-2026-12.v1"));
  fs::copy(aside, path(name));
  EXPECT_EQ(count_of(read(), "hit"), hits);
  fold_files();
  EXPECT_EQ(count_of(read(), "hit"), hits);
  EXPECT_EQ(files_of_processes(), 0U);
}

TEST_F(Fold, ADamagedMonthStaysInSight) {
  ended(1, some_totals(1));
  std::ofstream(path("month-2026-11.v1")) << "nonsense";
  ::chmod(path("month-2026-11.v1").c_str(), 0600);
  const std::uint64_t hits = count_of(read(), "hit");
  EXPECT_EQ(read().damaged, 1U);
  fold_files();
  EXPECT_TRUE(fs::exists(path("damaged-month-2026-11.v1")));
  EXPECT_EQ(count_of(read(), "hit"), hits);
  EXPECT_EQ(read().damaged, 1U);
}

TEST_F(Fold, DamagedFilesAreCountedAndGoAfterAWeek) {
  const std::string name = ended(1, some_totals(1));
  fs::resize_file(path(name), 50);
  ended(2, some_totals(2));
  EXPECT_EQ(read().damaged, 1U);
  EXPECT_EQ(count_of(read(), "hit"), 5U);
  fold_files();
  EXPECT_TRUE(fs::exists(path(name)));
  make_old(name, kForeignDays + 1);
  fold_files();
  EXPECT_FALSE(fs::exists(path(name)));
}

TEST_F(Fold, FilesOfALaterVersionStay) {
  std::ofstream(path("month-2026-11.v2")) << "whatever that is";
  std::ofstream(path("process-0123456789abcdef-77-5-aa.v2")) << "whatever that is";
  make_old("process-0123456789abcdef-77-5-aa.v2", 100);
  ended(1, some_totals(1));
  fold_files();
  EXPECT_EQ(read().newer, 2U);
  EXPECT_EQ(count_of(read(), "hit"), 5U);
}

TEST_F(Fold, HalfWrittenFilesGoAfterAWeek) {
  std::ofstream(path(".tmp-process-x.v1")) << "half";
  ended(1, some_totals(1));
  fold_files();
  EXPECT_TRUE(fs::exists(path(".tmp-process-x.v1")));
  make_old(".tmp-process-x.v1", kForeignDays + 1);
  fold_files();
  EXPECT_FALSE(fs::exists(path(".tmp-process-x.v1")));
}

TEST_F(Fold, OnlyTheNewestMonthsStay) {
  for (std::size_t month = 0; month < kMaxMonths + 3; ++month) {
    ended(static_cast<int>(month),
          some_totals(1, kSomeTime + static_cast<std::int64_t>(month) * 31 * kDay));
  }
  fold_files();
  ended(1000, some_totals(1));
  fold_files();
  const auto names = open().names();
  const auto months = std::count_if(names->begin(), names->end(), is_month_file);
  EXPECT_LE(static_cast<std::size_t>(months), kMaxMonths + 1);
  EXPECT_GE(static_cast<std::size_t>(months), kMaxMonths);
}

TEST_F(Fold, SomeoneElsesLockIsNotWaitedFor) {
  ended(1, some_totals(1));
  Folder reader = open();
  ASSERT_TRUE(reader.lock(Folder::With::others, 0));
  fold_files();
  EXPECT_EQ(files_of_processes(), 1U);
}

TEST_F(Fold, AFolderThatOthersMayWriteToIsRefused) {
  ::chmod((state_ + "/stats").c_str(), 0777);
  const auto stats = read_stats({.state_directory = state_, .since_unix_s = std::nullopt});
  ASSERT_FALSE(stats);
  EXPECT_EQ(stats.error().code(), ErrorCode::permission_denied);
}

TEST_F(Fold, SinceTakesWholeHours) {
  ended(1, some_totals(1));  // five hours from kSomeTime on
  const auto since = [this](std::int64_t moment) {
    const auto stats = read_stats({.state_directory = state_, .since_unix_s = moment});
    return stats ? count_of(*stats, "hit") : 999;
  };
  EXPECT_EQ(since(kSomeTime), 5U);
  EXPECT_EQ(since(kSomeTime + kHour), 4U);
  EXPECT_EQ(since(kSomeTime + 4 * kHour), 1U);
  EXPECT_EQ(since(kSomeTime + 5 * kHour), 0U);
}

TEST_F(Fold, ResetMovesEverythingAway) {
  ended(1, some_totals(1));
  const auto aside = reset_stats(state_);
  ASSERT_TRUE(aside) << aside.error().to_string();
  EXPECT_TRUE(aside->starts_with(state_ + "/stats-until-"));
  EXPECT_TRUE(fs::exists(*aside));
  EXPECT_TRUE(read().results.empty());
  const auto nothing = reset_stats(state_);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, "");
}

TEST_F(Fold, EachResetOfOneSecondKeepsWhatItMovedAway) {
  std::set<std::string> asides;
  for (int i = 1; i <= 3; ++i) {
    ended(i, some_totals(i));
    const auto aside = reset_stats(state_);
    ASSERT_TRUE(aside) << aside.error().to_string();
    asides.insert(*aside);
  }
  EXPECT_EQ(asides.size(), 3U);
  for (const std::string& aside : asides) EXPECT_FALSE(fs::is_empty(aside)) << aside;
}

}  // namespace
}  // namespace precast::stats
