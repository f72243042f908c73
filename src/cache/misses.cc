#include "cache/misses.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "precast/limits.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".record";

fs::path folder_of(const std::string& state) { return fs::path(state) / "misses"; }

// Each folder that is missing is made for this user alone: records name programs and hosts.
Result<void> make_private(const fs::path& folder) {
  fs::path made;
  for (const fs::path& part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    return base::errno_error(errno, "cannot make '" + made.string() + "'");
  }
  return {};
}

// What a writer left that was killed half-way; one that is at work is done within this time.
void remove_unfinished(const std::string& state) {
  constexpr auto kAbandoned = std::chrono::hours(1);
  const auto before = fs::file_time_type::clock::now() - kAbandoned;
  std::error_code error;
  fs::directory_iterator at(folder_of(state), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with(base::kTemporaryPrefix) &&
        at->last_write_time(ignored) < before) {
      fs::remove(at->path(), ignored);
    }
  }
}

void remove_oldest(const std::string& state) {
  std::vector<std::pair<fs::file_time_type, std::string>> records;
  for (std::string& path : kept_misses(state)) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(path, error);
    if (!error) records.emplace_back(time, std::move(path));
  }
  if (records.size() <= limits::kMaxMissRecords) return;
  std::ranges::sort(records);
  records.resize(records.size() - limits::kMaxMissRecords);
  for (const auto& [time, path] : records) {
    std::error_code ignored;  // Another process may have been faster.
    fs::remove(path, ignored);
  }
}

}  // namespace

Result<void> keep_miss(const std::string& state, const std::string& key, BytesView record) {
  const fs::path folder = folder_of(state);
  PRECAST_TRY(make_private(folder));
  // A record has its digest in it, and a lost one costs an explanation: not worth a flush.
  PRECAST_TRY(
      base::write_file_atomic((folder / (key + kSuffix)).string(), record, base::Flush::no));
  remove_oldest(state);
  remove_unfinished(state);
  return {};
}

std::vector<std::string> kept_misses(const std::string& state) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::directory_iterator at(folder_of(state), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == kSuffix) paths.push_back(at->path().string());
  }
  return paths;
}

}  // namespace precast::cache
