// The power goes at each step of a put. What was not flushed may be lost, in any order: what a file
// held, and the names in a folder. Afterwards the entry is absent or whole, and the store works.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;

// More system calls than a put makes.
constexpr int kMaxCalls = 100;
constexpr std::size_t kLevels = 3;  // the root, the layout, the fan-out

// What of that which was never flushed is there after all.
enum class Unflushed { lost, half, kept };

struct Outage {
  std::array<bool, kLevels> names_kept{};  // by the depth of the folder
  Unflushed content = Unflushed::lost;
};

Bytes content_of(int fd) {
  std::ifstream file("/proc/self/fd/" + std::to_string(fd), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct stat status_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

// The kernel's calls on a folder, of which it knows what is flushed. After `last` calls the power
// is gone: no call does anything any more.
class LosesPower : public FileOps {
 public:
  // What is there now has been flushed long ago.
  LosesPower(std::string root, int last) : root_(std::move(root)), last_(last) {
    flush_names(root_);
    for (const auto& item : fs::recursive_directory_iterator(root_)) {
      if (item.is_directory()) flush_names(item.path());
      if (item.is_regular_file()) {
        const int fd = hold(item.path());
        flushed_[status_of(item.path()).st_ino] = content_of(fd);
      }
    }
  }
  ~LosesPower() override {
    for (const auto& [inode, fd] : held_) ::close(fd);
  }

  bool is_out() const { return calls_ > last_; }
  // As on disks that say they have flushed and have not: to see that this test sees something.
  void lie_about_files() { lies_ = true; }

  // Makes `to` what is found when the power is back.
  void restore(const Outage& outage, const fs::path& to) const { restore(outage, root_, 0, to); }

  int openat(int folder, const char* name, int flags, mode_t mode) override {
    if (goes_out()) return -1;
    const int fd = FileOps::openat(folder, name, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) != 0) hold("/proc/self/fd/" + std::to_string(fd));
    return fd;
  }
  int mkdirat(int folder, const char* name, mode_t mode) override {
    return goes_out() ? -1 : FileOps::mkdirat(folder, name, mode);
  }
  ssize_t write(int fd, const char* bytes, std::size_t count) override {
    // In small pieces, so that the power can go between them.
    return goes_out() ? -1 : FileOps::write(fd, bytes, std::min<std::size_t>(count, 400));
  }
  int fsync(int fd) override {
    if (goes_out()) return -1;
    struct stat status{};
    if (::fstat(fd, &status) != 0) return -1;
    if (S_ISDIR(status.st_mode)) {
      flush_names("/proc/self/fd/" + std::to_string(fd));
    } else if (!lies_) {
      flushed_[status.st_ino] = content_of(held_.at(status.st_ino));
    }
    return 0;
  }
  int renameat(int folder, const char* from, const char* to) override {
    return goes_out() ? -1 : FileOps::renameat(folder, from, to);
  }
  int unlinkat(int folder, const char* name) override {
    return goes_out() ? -1 : FileOps::unlinkat(folder, name);
  }
  int linkat(int folder, const char* from, const char* to) override {
    return goes_out() ? -1 : FileOps::linkat(folder, from, to);
  }
  int fstat(int fd, struct stat* status) override {
    return goes_out() ? -1 : FileOps::fstat(fd, status);
  }
  int close(int fd) override {
    const int closed = FileOps::close(fd);  // or the test would run out of descriptors
    return goes_out() ? -1 : closed;
  }

 private:
  using Names = std::map<std::string, ino_t>;

  bool goes_out() {
    if (++calls_ <= last_) return false;
    errno = EIO;
    return true;
  }

  // Keeps the inode from being given to another file, and its content readable.
  int hold(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    EXPECT_EQ(::fstat(fd, &status), 0) << path;
    const auto [at, added] = held_.emplace(status.st_ino, fd);
    if (!added) ::close(fd);
    return at->second;
  }

  static Names names_in(const fs::path& folder) {
    Names names;
    for (const auto& item : fs::directory_iterator(folder)) {
      names[item.path().filename()] = status_of(item.path()).st_ino;
    }
    return names;
  }
  void flush_names(const fs::path& folder) {
    struct stat status{};
    EXPECT_EQ(::stat(folder.c_str(), &status), 0) << folder;
    names_[status.st_ino] = names_in(folder);
  }

  Bytes after(const Outage& outage, ino_t inode) const {
    const auto flushed = flushed_.find(inode);
    if (flushed != flushed_.end()) return flushed->second;
    Bytes content = content_of(held_.at(inode));
    if (outage.content == Unflushed::lost) return {};
    if (outage.content == Unflushed::half) {
      std::fill(content.begin() + static_cast<std::ptrdiff_t>(content.size() / 2), content.end(),
                '\0');
    }
    return content;
  }

  void restore(const Outage& outage, const fs::path& from, std::size_t depth,
               const fs::path& to) const {
    fs::create_directory(to);
    set_mode(to, 0700);
    const Names now = names_in(from);
    const auto flushed = names_.find(status_of(from).st_ino);
    const Names& names = outage.names_kept.at(depth) ? now
                         : flushed != names_.end()   ? flushed->second
                                                     : Names();
    for (const auto& [name, inode] : names) {
      const auto there = now.find(name);
      if (there != now.end() && there->second == inode && fs::is_directory(from / name)) {
        restore(outage, from / name, depth + 1, to / name);
      } else {
        std::ofstream(to / name, std::ios::binary) << after(outage, inode);
        set_mode(to / name, 0600);
      }
    }
  }

  const std::string root_;
  const int last_;
  int calls_ = 0;
  bool lies_ = false;
  std::map<ino_t, int> held_;
  std::map<ino_t, Bytes> flushed_;  // by file
  std::map<ino_t, Names> names_;    // by folder, as they were flushed
};

std::vector<Outage> outages() {
  std::vector<Outage> all;
  for (const Unflushed content : {Unflushed::lost, Unflushed::half, Unflushed::kept}) {
    for (unsigned bits = 0; bits < 1U << kLevels; ++bits) {
      Outage outage{{}, content};
      for (std::size_t level = 0; level < kLevels; ++level) {
        outage.names_kept.at(level) = (bits >> level & 1U) != 0;
      }
      all.push_back(outage);
    }
  }
  return all;
}

const Bytes kOld = value_of(1, 1000);
const Bytes kFresh = value_of(2, 2000);

struct Seen {
  int fresh = 0;
  int before = 0;
  int damaged = 0;
};

// Puts kFresh with the power going after `last` calls, and looks at every state that may be left.
// Says whether the put was done before the power went.
bool put_until(int last, bool with_old, bool lying, Seen& seen) {
  const TempFolder folder;
  const std::string root = folder / "cache";
  fs::create_directory(root);
  set_mode(root, 0700);
  if (with_old) {
    EXPECT_TRUE((*DirectoryStore::open(root, quick_ops()))->put(kName, kOld));
  }
  LosesPower ops(root, last);
  if (lying) ops.lie_about_files();
  if (auto store = DirectoryStore::open(root, ops)) {
    static_cast<void>((*store)->put(kName, kFresh));
  }
  int number = 0;
  for (const Outage& outage : outages()) {
    const std::string found = folder / ("found-" + std::to_string(number++));
    ops.restore(outage, found);
    auto store = DirectoryStore::open(found, quick_ops());
    EXPECT_TRUE(store) << store.error().to_string();
    const auto value = value_in(**store, kName);
    EXPECT_TRUE(value) << value.error().to_string();
    if (*value == kFresh) {
      ++seen.fresh;
    } else if (!*value || (with_old && *value == kOld)) {
      ++seen.before;
    } else {
      ++seen.damaged;
    }
    if (number % 4 != 0) continue;  // enough to see that it works on
    EXPECT_TRUE((*store)->put(kName, kFresh));
    EXPECT_EQ(value_in(**store, kName).value(), kFresh);
  }
  return !ops.is_out();
}

Seen all_steps(bool with_old, bool lying) {
  Seen seen;
  int last = 0;
  while (!put_until(last, with_old, lying, seen)) {
    if (++last == kMaxCalls) {
      ADD_FAILURE() << "a put makes more calls than that";
      break;
    }
  }
  EXPECT_GT(last, 10);
  return seen;
}

TEST(PowerLoss, AnEntryIsAbsentOrWhole) {
  const Seen seen = all_steps(false, false);
  EXPECT_EQ(seen.damaged, 0);
  EXPECT_GT(seen.fresh, 0);
  EXPECT_GT(seen.before, 0);
}

TEST(PowerLoss, AReplacedEntryIsTheOldOneOrTheNewOne) {
  const Seen seen = all_steps(true, false);
  EXPECT_EQ(seen.damaged, 0);
  EXPECT_GT(seen.fresh, 0);
  EXPECT_GT(seen.before, 0);
}

TEST(PowerLoss, ADiskThatFlushesNothingIsSeen) { EXPECT_GT(all_steps(false, true).damaged, 0); }

}  // namespace
}  // namespace precast::store
