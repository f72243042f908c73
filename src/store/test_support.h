// For the tests of this module: temporary folders, system calls that fail on demand, values that
// show whether they are whole, and children that are not root.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "precast/bytes.h"
#include "store/directory_store.h"
#include "store/file_ops.h"
#include "store/store.h"
#include "testing/temp_dir.h"

namespace precast::store {

// Two names that share no folder of the store.
inline const std::string kName = std::string(62, '0') + "1f";
inline const std::string kOtherName = "ab" + std::string(62, 'c');

// A folder that is removed with the object, even if a test made parts of it unreadable. Its path is
// free of symbolic links.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Files whose names begin as those of unfinished entries do.
  std::vector<std::string> temporary_files() const;
  // Lets as_plain_user() write here.
  void give_to_plain_user() const;

 private:
  testing::TempDir folder_;
  std::string path_;
};

// The store there, which must be one.
std::unique_ptr<DirectoryStore> store_at(const std::string& root, FileOps& ops);

mode_t mode_of(const std::string& path);
void set_mode(const std::string& path, mode_t mode);

// get() without the identity: what is corrupt is an error.
Result<std::optional<Bytes>> value_in(Store& store, const std::string& name);

// Bytes that differ by seed in content and length, and whether bytes are such a value as a whole.
Bytes value_of(std::uint32_t seed, std::size_t max_bytes = 100'000);
bool is_whole(BytesView value);

enum class Op {
  openat,
  fstat,
  readlinkat,
  mkdirat,
  pread,
  write,
  fsync,
  close,
  renameat,
  unlinkat,
  readdir,
  renameat2,
  rmdirat,
  linkat,
  flock,
  futimens,
  ftruncate,
  pwrite,
  fstatfs
};

// The kernel's calls, but fsync() does not wait for the disk: no test cuts the power, and thousands
// of flushes take minutes on a busy machine.
class QuickOps : public FileOps {
 public:
  int fsync(int) override { return 0; }
};
FileOps& quick_ops();

// The same, with faults.
class FaultyOps : public QuickOps {
 public:
  // The call with this number, from 1 on, fails with `error` (and, if sticky, each after it, except
  // that files can still be removed) or, if `kill`, is the death of this process.
  struct Plan {
    int at = 0;
    int error = 0;
    bool sticky = false;
    bool kill = false;
  };

  FaultyOps() = default;
  explicit FaultyOps(Plan plan) : plan_(plan) {}

  bool fired() const { return fired_; }
  int calls() const { return calls_; }
  // What was called so far, in order.
  const std::vector<Op>& trace() const { return trace_; }

  // Makes each read and write move at most this much.
  void set_max_transfer(std::size_t bytes) { max_transfer_ = bytes; }
  // Called before each system call.
  void set_hook(std::function<void(Op, const char*)> hook) { hook_ = std::move(hook); }
  // Lets fstat() change what it says about the file that is at `path` now.
  void lie_about(const std::string& path, std::function<void(struct stat&)> lie);

  int openat(int folder, const char* name, int flags, mode_t mode) override;
  int fstat(int fd, struct stat* status) override;
  ssize_t readlinkat(int folder, const char* name, char* target, std::size_t size) override;
  int mkdirat(int folder, const char* name, mode_t mode) override;
  ssize_t pread(int fd, char* bytes, std::size_t count, off_t offset) override;
  ssize_t write(int fd, const char* bytes, std::size_t count) override;
  int fsync(int fd) override;
  int close(int fd) override;
  int renameat(int folder, const char* from, const char* to) override;
  int unlinkat(int folder, const char* name) override;
  int readdir(int fd, std::vector<std::string>& names) override;
  int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                unsigned flags) override;
  int rmdirat(int folder, const char* name) override;
  int linkat(int folder, const char* from, const char* to) override;
  int flock(int fd, int operation) override;
  int futimens(int fd, const struct timespec times[2]) override;
  int ftruncate(int fd, off_t size) override;
  ssize_t pwrite(int fd, const char* bytes, std::size_t count, off_t offset) override;
  int fstatfs(int fd, struct statfs* status) override;

 private:
  bool fails(Op op, const char* name = "");

  Plan plan_;
  int calls_ = 0;
  bool fired_ = false;
  std::size_t max_transfer_ = SIZE_MAX;
  std::vector<Op> trace_;
  std::function<void(Op, const char*)> hook_;
  std::map<std::pair<dev_t, ino_t>, std::function<void(struct stat&)>> lies_;
};

// A child process that runs a function. Start children from a process with one thread only: a lock
// that another thread holds at the fork would stay locked in the child for ever.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body);
  // Waits, and returns what `body` returned; "" is success by agreement. A child that dies gives
  // "died of signal <n>".
  std::string finish();

 private:
  pid_t pid_ = -1;
  base::Fd said_;
};

std::string in_child(const std::function<std::string()>& body);
// The same without root's power to do everything: as the user "nobody" if this process is root,
// as this user otherwise.
std::string as_plain_user(const std::function<std::string()>& body);

}  // namespace precast::store
