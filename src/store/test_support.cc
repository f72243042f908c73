#include "store/test_support.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <random>

#include "base/hash.h"
#include "store/entry_file.h"
#include "store/layout.h"

namespace precast::store {
namespace {

constexpr uid_t kNobody = 65534;
constexpr std::size_t kDigestBytes = 32;

}  // namespace

TempFolder::TempFolder() : path_(std::filesystem::canonical(folder_.path()).string()) {
  // What tests create must be as the store wants it, whatever the user's umask.
  ::umask(022);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_, ignored)) {
    // A test may have taken the right to look into a folder; links are not followed.
    if (entry.symlink_status(ignored).type() == std::filesystem::file_type::directory) {
      ::chmod(entry.path().c_str(), 0700);
    }
  }
}

std::vector<std::string> TempFolder::temporary_files() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    if (entry.path().filename().string().starts_with(kTemporaryPrefix)) {
      found.push_back(entry.path().string());
    }
  }
  return found;
}

void TempFolder::give_to_plain_user() const {
  if (::geteuid() != 0) return;
  std::vector<std::string> paths = {path_};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    paths.push_back(entry.path().string());
  }
  for (const std::string& path : paths) {
    if (::lchown(path.c_str(), kNobody, kNobody) != 0) ADD_FAILURE() << "cannot chown " << path;
  }
}

std::unique_ptr<DirectoryStore> store_at(const std::string& root, FileOps& ops) {
  auto opened = DirectoryStore::open(root, ops);
  if (opened) return *std::move(opened);
  ADD_FAILURE() << opened.error().to_string();
  return nullptr;
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) ADD_FAILURE() << "no " << path;
  return status.st_mode & 07777;
}

void set_mode(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0) ADD_FAILURE() << "cannot chmod " << path;
}

Result<std::optional<Bytes>> value_in(Store& store, const std::string& name) {
  PRECAST_ASSIGN(std::optional<Fetched> found, store.get(name));
  if (!found) return std::optional<Bytes>();
  PRECAST_ASSIGN(Bytes bytes, std::move(found->bytes));
  return std::optional<Bytes>(std::move(bytes));
}

Bytes value_of(std::uint32_t seed, std::size_t max_bytes) {
  std::minstd_rand random(seed + 1);
  Bytes value(random() % max_bytes, '\0');
  for (char& c : value) c = static_cast<char>(random() & 0xff);
  return value + Bytes(base::sha256(value).view());
}

bool is_whole(BytesView value) {
  if (value.size() < kDigestBytes) return false;
  const std::size_t size = value.size() - kDigestBytes;
  return base::sha256(value.substr(0, size)).view() == value.substr(size);
}

FileOps& quick_ops() {
  static QuickOps ops;
  return ops;
}

bool FaultyOps::fails(Op op, const char* name) {
  if (hook_) hook_(op, name);
  trace_.push_back(op);
  ++calls_;
  if (plan_.at == 0 || calls_ < plan_.at) return false;
  if (calls_ > plan_.at && (!plan_.sticky || op == Op::unlinkat)) return false;
  if (plan_.kill) ::raise(SIGKILL);
  fired_ = true;
  errno = plan_.error;
  return true;
}

void FaultyOps::lie_about(const std::string& path, std::function<void(struct stat&)> lie) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) ADD_FAILURE() << "no " << path;
  lies_[{status.st_dev, status.st_ino}] = std::move(lie);
}

int FaultyOps::openat(int folder, const char* name, int flags, mode_t mode) {
  return fails(Op::openat, name) ? -1 : FileOps::openat(folder, name, flags, mode);
}

int FaultyOps::fstat(int fd, struct stat* status) {
  if (fails(Op::fstat)) return -1;
  const int result = FileOps::fstat(fd, status);
  if (result == 0) {
    const auto lie = lies_.find({status->st_dev, status->st_ino});
    if (lie != lies_.end()) lie->second(*status);
  }
  return result;
}

ssize_t FaultyOps::readlinkat(int folder, const char* name, char* target, std::size_t size) {
  return fails(Op::readlinkat, name) ? -1 : FileOps::readlinkat(folder, name, target, size);
}

int FaultyOps::mkdirat(int folder, const char* name, mode_t mode) {
  return fails(Op::mkdirat, name) ? -1 : FileOps::mkdirat(folder, name, mode);
}

ssize_t FaultyOps::pread(int fd, char* bytes, std::size_t count, off_t offset) {
  return fails(Op::pread) ? -1 : FileOps::pread(fd, bytes, std::min(count, max_transfer_), offset);
}

ssize_t FaultyOps::write(int fd, const char* bytes, std::size_t count) {
  return fails(Op::write) ? -1 : FileOps::write(fd, bytes, std::min(count, max_transfer_));
}

int FaultyOps::fsync(int fd) { return fails(Op::fsync) ? -1 : QuickOps::fsync(fd); }

int FaultyOps::close(int fd) {
  // As on Linux: the descriptor is gone even when close() reports a fault.
  const bool failed = fails(Op::close);
  const int error = errno;
  const int result = FileOps::close(fd);
  if (!failed) return result;
  errno = error;
  return -1;
}

int FaultyOps::renameat(int folder, const char* from, const char* to) {
  return fails(Op::renameat, to) ? -1 : FileOps::renameat(folder, from, to);
}

int FaultyOps::unlinkat(int folder, const char* name) {
  return fails(Op::unlinkat, name) ? -1 : FileOps::unlinkat(folder, name);
}

int FaultyOps::readdir(int fd, std::vector<std::string>& names) {
  return fails(Op::readdir) ? -1 : FileOps::readdir(fd, names);
}

int FaultyOps::renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) {
  return fails(Op::renameat2, to) ? -1
                                  : FileOps::renameat2(from_folder, from, to_folder, to, flags);
}

int FaultyOps::rmdirat(int folder, const char* name) {
  return fails(Op::rmdirat, name) ? -1 : FileOps::rmdirat(folder, name);
}

int FaultyOps::linkat(int folder, const char* from, const char* to) {
  return fails(Op::linkat, to) ? -1 : FileOps::linkat(folder, from, to);
}

int FaultyOps::flock(int fd, int operation) {
  return fails(Op::flock) ? -1 : FileOps::flock(fd, operation);
}

int FaultyOps::futimens(int fd, const struct timespec times[2]) {
  return fails(Op::futimens) ? -1 : FileOps::futimens(fd, times);
}

int FaultyOps::ftruncate(int fd, off_t size) {
  return fails(Op::ftruncate) ? -1 : FileOps::ftruncate(fd, size);
}

ssize_t FaultyOps::pwrite(int fd, const char* bytes, std::size_t count, off_t offset) {
  return fails(Op::pwrite) ? -1
                           : FileOps::pwrite(fd, bytes, std::min(count, max_transfer_), offset);
}

int FaultyOps::fstatfs(int fd, struct statfs* status) {
  return fails(Op::fstatfs) ? -1 : FileOps::fstatfs(fd, status);
}

Child::Child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  said_.reset(ends[0]);
  const base::Fd write_end(ends[1]);
  pid_ = ::fork();
  if (pid_ != 0) return;
  const std::string said = body();
  const bool told = base::write_all(write_end.get(), said, "pipe").has_value();
  ::_exit(told ? 0 : 1);
}

std::string Child::finish() {
  if (pid_ < 0) return "no child";
  const auto said = base::read_all(said_.get(), 1 << 20, "pipe");
  int status = 0;
  if (uninterrupted([&] { return ::waitpid(pid_, &status, 0); }) != pid_) return "no wait";
  if (WIFSIGNALED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit code " + std::to_string(WEXITSTATUS(status));
  return said ? *said : said.error().to_string();
}

std::string in_child(const std::function<std::string()>& body) { return Child(body).finish(); }

std::string as_plain_user(const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return "cannot give up root";
    }
    return body();
  });
}

}  // namespace precast::store
