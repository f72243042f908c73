// Many processes at once on one store, without locks: every value that is read is whole.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <vector>

#include "base/file.h"
#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr std::uint32_t kProcesses = 8;
constexpr std::uint32_t kRounds = 30;
constexpr std::size_t kMaxBytes = 40'000;

// Runs `body(0)` to `body(kProcesses - 1)`, each in a process of its own, all at once. Returns what
// failed.
std::vector<std::string> in_processes(const std::function<std::string(std::uint32_t)>& body) {
  // Nobody starts before everybody is there: a gate that opens when its writing end is closed.
  std::array<int, 2> gate{};
  if (::pipe2(gate.data(), O_CLOEXEC) != 0) return {"no pipe"};
  base::Fd read_end(gate[0]);
  base::Fd write_end(gate[1]);
  std::vector<Child> children;
  for (std::uint32_t id = 0; id < kProcesses; ++id) {
    children.emplace_back([&, id]() -> std::string {
      write_end.reset(-1);
      const auto opened = base::read_all(read_end.get(), 1, "gate");
      return opened ? body(id) : opened.error().to_string();
    });
  }
  write_end.reset(-1);
  std::vector<std::string> failures;
  for (Child& child : children) {
    if (std::string said = child.finish(); !said.empty()) failures.push_back(std::move(said));
  }
  return failures;
}

// Small transfers give the others many moments to come between.
FaultyOps race_ops() {
  FaultyOps ops;
  ops.set_max_transfer(4096);
  return ops;
}

std::string put_and_get(Store& store, std::uint32_t seed, bool may_be_absent) {
  for (const std::string& name : {kName, kOtherName}) {
    const auto stored = store.put(name, value_of(seed, kMaxBytes));
    if (!stored && !(may_be_absent && stored.error().code() == ErrorCode::unavailable)) {
      return stored.error().to_string();
    }
    for (int i = 0; i < 3; ++i) {
      const auto found = value_in(store, name);
      if (!found) return found.error().to_string();
      if (!*found && !may_be_absent) return "an entry was missing for a moment";
      if (*found && !is_whole(**found)) return "a value is not whole";
    }
  }
  return "";
}

TEST(DirectoryRaceTest, EightProcessesOnTwoNames) {
  const TempFolder temp;
  const std::vector<std::string> failures = in_processes([&](std::uint32_t id) -> std::string {
    FaultyOps ops = race_ops();
    // The first to come creates everything, while the others try the same.
    auto store = DirectoryStore::open(temp / "cache", ops);
    if (!store) return store.error().to_string();
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      std::string said = put_and_get(**store, id * kRounds + round, false);
      if (!said.empty()) return said;
    }
    return "";
  });
  EXPECT_THAT(failures, IsEmpty());
  EXPECT_THAT(temp.temporary_files(), IsEmpty());
}

TEST(DirectoryRaceTest, WhileSomebodyKeepsRemovingTheCache) {
  const TempFolder temp;
  const std::vector<std::string> failures = in_processes([&](std::uint32_t id) -> std::string {
    FaultyOps ops = race_ops();
    auto store = DirectoryStore::open(temp / "cache", ops);
    if (!store) return id == 0 ? store.error().to_string() : "";
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      if (id == 0) {
        std::error_code ignored;
        fs::remove_all(temp / (round % 2 == 0 ? "cache/v1" : "cache"), ignored);
        continue;
      }
      std::string said = put_and_get(**store, id * kRounds + round, true);
      if (!said.empty()) return said;
    }
    return "";
  });
  EXPECT_THAT(failures, IsEmpty());
}

TEST(DirectoryRaceTest, ThreadsShareAStore) {
  const TempFolder temp;
  auto store = DirectoryStore::open(temp / "cache", quick_ops());
  ASSERT_TRUE(store);
  std::vector<std::future<std::string>> running;
  for (std::uint32_t id = 0; id < 4; ++id) {
    running.push_back(std::async(std::launch::async, [&store, &temp, id]() -> std::string {
      for (std::uint32_t round = 0; round < 10; ++round) {
        // Removing the root makes the threads open it again under each other.
        std::error_code ignored;
        if (id == 0) fs::remove_all(temp / "cache", ignored);
        std::string said = put_and_get(**store, id * 10 + round, true);
        if (!said.empty()) return said;
      }
      return "";
    }));
  }
  for (auto& one : running) EXPECT_EQ(one.get(), "");
}

}  // namespace
}  // namespace precast::store
