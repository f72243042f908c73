#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace precast::base {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end.
class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "precast-file-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string folder_;
};

TEST_F(FileTest, WritesAndReadsBackEverySizeAroundTheChunks) {
  for (const std::size_t size :
       {0u, 1u, 15u, 16u, 4096u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, (3u << 20) + 7}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
    ASSERT_TRUE(write_file_atomic(path("a"), bytes)) << size;
    const auto read = read_file(path("a"), size);
    ASSERT_TRUE(read) << size;
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(FileTest, ReadingDoesNotReserveTwiceTheSize) {
  constexpr std::size_t kSize = 70u << 20;  // more than one chunk
  ASSERT_TRUE(write_file_atomic(path("a"), std::string(kSize, 'x')));
  const auto read = read_file(path("a"), kSize);
  ASSERT_TRUE(read);
  EXPECT_LT(read->capacity(), kSize + kSize / 4);
}

TEST_F(FileTest, AFileBeyondTheLimitIsRefusedWithTheLimitInTheMessage) {
  ASSERT_TRUE(write_file_atomic(path("a"), "0123456789"));
  EXPECT_TRUE(read_file(path("a"), 10));
  const auto read = read_file(path("a"), 9);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(read.error().message().find("10 bytes"), std::string::npos);
  EXPECT_NE(read.error().message().find("limit of 9"), std::string::npos);
}

TEST_F(FileTest, AMissingFileAndAFolderAreTheCallersMistake) {
  const auto missing = read_file(path("none"), 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(missing.error().message(), "no file '" + path("none") + "'");
  const auto below_a_file = read_file("/etc/passwd/x", 10);
  ASSERT_FALSE(below_a_file);
  EXPECT_EQ(below_a_file.error().code(), ErrorCode::invalid_argument);
  const auto folder = read_file(folder_, 10);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(folder.error().message().find("is a folder"), std::string::npos);
}

TEST_F(FileTest, APipeIsReadToItsEndAndBounded) {
  for (const std::uint64_t limit : {300000u, 299999u}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reading(ends[0]);
    std::thread writer([&] {
      const Fd writing(ends[1]);
      // Fails with EPIPE when the reader gives up; that is the reader's business here.
      (void)write_all(writing.get(), std::string(300000, 'p'), "pipe");
    });
    const auto read = read_all(reading.get(), limit, "the pipe");
    writer.join();
    if (limit == 300000u) {
      ASSERT_TRUE(read);
      EXPECT_EQ(*read, std::string(300000, 'p'));
    } else {
      ASSERT_FALSE(read);
      EXPECT_EQ(read.error().code(), ErrorCode::resource_exhausted);
    }
  }
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(write_file_atomic(path("a"), "old"));
  fs::create_directory(path("folder"));
  EXPECT_FALSE(write_file_atomic(path("folder"), "new"));  // cannot rename over a folder
  EXPECT_EQ(read_file(path("a"), 10).value(), "old");
  EXPECT_EQ(files(), 2u);
  const auto nowhere = write_file_atomic(path("none/a"), "new");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message().find(path("none")), std::string::npos);
}

TEST_F(FileTest, AReplacedFileIsReplacedWhole) {
  ASSERT_TRUE(write_file_atomic(path("a"), std::string(1000, 'o')));
  const Fd old(::open(path("a").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(write_file_atomic(path("a"), "new"));
  EXPECT_EQ(read_file(path("a"), 1000).value(), "new");
  EXPECT_EQ(read_all(old.get(), 1000, "old").value(), std::string(1000, 'o'));
}

TEST_F(FileTest, ANewFileFollowsTheUmask) {
  const mode_t old = ::umask(027);
  const bool written = static_cast<bool>(write_file_atomic(path("a"), "x"));
  const mode_t left = ::umask(old);
  ASSERT_TRUE(written);
  EXPECT_EQ(left, mode_t{027});
  struct stat status{};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(ErrnoError, MapsByWhatTheCallerCanDo) {
  const auto code = [](int number) { return errno_error(number, "x").code(); };
  for (const int number : {EACCES, EPERM, EROFS}) {
    EXPECT_EQ(code(number), ErrorCode::permission_denied);
  }
  for (const int number : {ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM}) {
    EXPECT_EQ(code(number), ErrorCode::resource_exhausted);
  }
  EXPECT_EQ(code(ETIMEDOUT), ErrorCode::deadline_exceeded);
  for (const int number : {ESTALE, ENOLCK}) EXPECT_EQ(code(number), ErrorCode::unavailable);
  for (const int number : {EIO, EISDIR, ENOENT}) EXPECT_EQ(code(number), ErrorCode::io_error);
  EXPECT_EQ(errno_error(ENOSPC, "cannot write 'a'").message(),
            "cannot write 'a': No space left on device");
}

TEST(Fd, OwnsAndHandsOver) {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Fd a(raw);
  Fd b(std::move(a));
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): the moved-from state is what is tested
  EXPECT_EQ(b.get(), raw);
  b.reset(-1);
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace precast::base
