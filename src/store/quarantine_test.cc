#include "store/quarantine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A rename that knows no flags, as on some network file systems.
class WithoutFlags : public FaultyOps {
 public:
  int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                unsigned flags) override {
    if (flags == 0) return FaultyOps::renameat2(from_folder, from, to_folder, to, flags);
    errno = EINVAL;
    return -1;
  }
};

class QuarantineTest : public ::testing::Test {
 protected:
  QuarantineTest() {
    EXPECT_TRUE(store()->put(kName, "bad"));
    EXPECT_TRUE(store()->put(kOtherName, "another"));
  }

  std::unique_ptr<DirectoryStore> store(FileOps& ops = quick_ops()) const {
    return store_at(root_, ops);
  }
  FileIdentity identity() const { return (*store()->get(kName))->identity; }
  Result<Folder> layout() const {
    PRECAST_ASSIGN(const Folder root, open_root(quick_ops(), root_));
    PRECAST_ASSIGN(std::optional<Folder> found, open_folder(quick_ops(), root, "v1"));
    if (!found) return Error(ErrorCode::internal, "no layout");
    return std::move(*found);
  }
  std::vector<Quarantined> aside() const {
    auto found = quarantined(quick_ops(), *layout());
    if (found) return *std::move(found);
    ADD_FAILURE() << found.error().to_string();
    return {};
  }
  std::optional<Bytes> value(const std::string& name = kName) const {
    return *value_in(*store(), name);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root_ + "/v1/quarantine", none)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

TEST_F(QuarantineTest, KeepsWhatWasReadWithTheReason) {
  const auto set = store()->quarantine(kName, identity(), "its digest\nis wrong");
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_TRUE(*set);
  EXPECT_EQ(value(), std::nullopt);
  EXPECT_EQ(value(kOtherName), "another");
  const std::vector<Quarantined> found = aside();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, kName);
  EXPECT_EQ(found[0].bytes, 3u);
  EXPECT_EQ(found[0].reason, "its digest is wrong");
  EXPECT_GT(found[0].unix_s, 1'600'000'000);
  EXPECT_FALSE(found[0].host.empty());
  EXPECT_FALSE(found[0].version.empty());
  EXPECT_EQ(fs::file_size(found[0].path), 3u);
  // Nobody takes it for an entry.
  const auto contents = store()->contents();
  EXPECT_EQ(contents->entries.size(), 1u);
  EXPECT_EQ(contents->foreign, 0u);
}

TEST_F(QuarantineTest, LeavesAnotherFileAlone) {
  const FileIdentity old = identity();
  EXPECT_TRUE(store()->put(kName, "good"));
  EXPECT_FALSE(*store()->quarantine(kName, old, "x"));
  EXPECT_EQ(value(), "good");
  EXPECT_FALSE(fs::exists(root_ + "/v1/quarantine"));
  // Changed in place: another time, another size.
  const FileIdentity now = identity();
  std::ofstream(store()->locate(kName), std::ios::app) << "!";
  EXPECT_FALSE(*store()->quarantine(kName, now, "x"));
  EXPECT_EQ(value(), "good!");
}

TEST_F(QuarantineTest, NothingThereIsNoFault) {
  const FileIdentity old = identity();
  fs::remove(store()->locate(kName));
  EXPECT_FALSE(*store()->quarantine(kName, old, "x"));
  fs::remove_all(root_ + "/v1");
  EXPECT_FALSE(*store()->quarantine(kName, old, "x"));
  EXPECT_FALSE(store()->quarantine("short", old, "x"));
}

// The entry is replaced between the look and the move.
TEST_F(QuarantineTest, PutsBackWhatItTookByMistake) {
  FaultyOps with_flags;
  WithoutFlags without_flags;
  for (FaultyOps* ops : {&with_flags, static_cast<FaultyOps*>(&without_flags)}) {
    EXPECT_TRUE(store()->put(kName, "bad"));
    bool replaced = false;
    ops->set_hook([&](Op op, const char*) {
      if (op != Op::renameat2 || std::exchange(replaced, true)) return;
      EXPECT_TRUE(store()->put(kName, "good"));
    });
    const auto set = store(*ops)->quarantine(kName, identity(), "x");
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_FALSE(*set);
    EXPECT_TRUE(replaced);
    EXPECT_EQ(value(), "good");
    EXPECT_THAT(files(), IsEmpty());
    EXPECT_THAT(temp_.temporary_files(), IsEmpty());
  }
}

TEST_F(QuarantineTest, DoesNotPutBackOverANewerOne) {
  FaultyOps with_flags;
  WithoutFlags without_flags;
  for (FaultyOps* ops : {&with_flags, static_cast<FaultyOps*>(&without_flags)}) {
    EXPECT_TRUE(store()->put(kName, "bad"));
    int renames = 0;
    ops->set_hook([&](Op op, const char*) {
      if (op != Op::renameat2) return;
      EXPECT_TRUE(store()->put(kName, ++renames == 1 ? "good" : "newer"));
    });
    const auto set = store(*ops)->quarantine(kName, identity(), "x");
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_FALSE(*set);
    EXPECT_EQ(value(), "newer");
    EXPECT_THAT(files(), IsEmpty());
    EXPECT_THAT(temp_.temporary_files(), IsEmpty());
  }
}

void make_socket(const std::string& folder, const std::string& name) {
  // The whole path may be longer than an address may be.
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, name.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  fs::current_path(before);
}

TEST_F(QuarantineTest, TakesWhatIsNoFileToo) {
  const std::string place = store()->locate(kName);
  const std::vector<std::pair<std::string, std::function<void()>>> kinds = {
      {"a folder", [&] { fs::create_directories(place + "/with/content"); }},
      {"a symbolic link", [&] { fs::create_symlink("/etc/hostname", place); }},
      {"a pipe", [&] { EXPECT_EQ(::mkfifo(place.c_str(), 0600), 0); }},
      {"a socket",
       [&] {
         make_socket(fs::path(place).parent_path(), "s");
         fs::rename(fs::path(place).parent_path() / "s", place);
       }},
  };
  std::size_t count = 0;
  for (const auto& [what, make] : kinds) {
    fs::remove(place);
    make();
    const auto found = store()->get(kName);
    ASSERT_TRUE(found) << what << ": " << found.error().to_string();
    ASSERT_TRUE(*found) << what;
    ASSERT_FALSE((*found)->bytes) << what;
    const Error error = (*found)->bytes.error();
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_THAT(error.message(), HasSubstr("is no entry but " + what));
    const auto set = store()->quarantine(kName, (*found)->identity, error.to_string());
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_TRUE(*set) << what;
    EXPECT_EQ(aside().size(), ++count);
    // Its place is free again.
    EXPECT_TRUE(store()->put(kName, "good"));
    EXPECT_EQ(value(), "good");
  }
}

TEST_F(QuarantineTest, KnowsAFileThatWasCutWhileItWasRead) {
  FaultyOps ops;
  ops.set_max_transfer(1);
  ops.set_hook([&](Op op, const char*) {
    if (op == Op::pread) fs::resize_file(store()->locate(kName), 1);
  });
  const auto found = store(ops)->get(kName);
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_FALSE((*found)->bytes);
  EXPECT_EQ((*found)->bytes.error().code(), ErrorCode::corrupt);
  EXPECT_TRUE(*store()->quarantine(kName, (*found)->identity, "cut"));
}

TEST_F(QuarantineTest, KeepsTheNewestWithinBounds) {
  constexpr std::size_t kMore = 3;
  for (std::size_t i = 0; i < kMaxQuarantined + kMore; ++i) {
    EXPECT_TRUE(store()->put(kName, std::to_string(i)));
    EXPECT_TRUE(*store()->quarantine(kName, identity(), "number " + std::to_string(i)));
    // Names have seconds; these are to be a second apart.
    for (const Quarantined& one : aside()) {
      if (one.reason != "number " + std::to_string(i)) continue;
      for (const std::string end : {"bad", "reason"}) {
        const fs::path from = fs::path(one.path).replace_extension(end);
        const std::string when = std::to_string(one.unix_s);
        std::string to = from.string();
        to.replace(to.find("." + when + ".") + 1, when.size(), std::to_string(1000 + i));
        fs::rename(from, to);
      }
    }
  }
  EXPECT_TRUE(trim_quarantine(quick_ops(), *layout()));
  const std::vector<Quarantined> found = aside();
  ASSERT_EQ(found.size(), kMaxQuarantined);
  EXPECT_EQ(found.front().reason, "number 3");
  EXPECT_EQ(files().size(), 2 * kMaxQuarantined);
}

TEST_F(QuarantineTest, BytesAreBoundedToo) {
  for (const char* size : {"small", "first", "second"}) {
    EXPECT_TRUE(store()->put(kName, size));
    if (std::string(size) != "small") {
      fs::resize_file(store()->locate(kName), kMaxQuarantineBytes - 1);  // a hole
    }
    const FileIdentity now = store()->open_entry(kName)->value().identity();
    EXPECT_TRUE(*store()->quarantine(kName, now, size));
    EXPECT_LE(aside().size(), 2u);
  }
  const std::vector<Quarantined> found = aside();
  ASSERT_EQ(found.size(), 1u) << "even alone the newest one stays";
}

TEST_F(QuarantineTest, GoesWithAgeAndWithWhatBelongsToNothing) {
  EXPECT_TRUE(*store()->quarantine(kName, identity(), "x"));
  std::ofstream(root_ + "/v1/quarantine/" + kName + ".1.x.reason") << "reason: alone\n";
  std::ofstream(root_ + "/v1/quarantine/.tmp-1-x") << "dead";
  std::ofstream(root_ + "/v1/quarantine/notes.txt") << "not ours";
  fs::create_directories(root_ + "/v1/quarantine/" + kName + ".7.x.bad/content");
  const auto kept = trim_quarantine(quick_ops(), *layout(), 1);
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ(kept->files, 0u);
  EXPECT_EQ(files().size(), 6u);
  const auto trimmed = trim_quarantine(quick_ops(), *layout(), 1LL << 40);
  ASSERT_TRUE(trimmed) << trimmed.error().to_string();
  EXPECT_EQ(trimmed->files, 1u);
  EXPECT_EQ(trimmed->bytes, 3u);
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("notes.txt", kName + ".7.x.bad"));
}

// Whatever fails, the bad entry is where it was or set aside, and no good one is touched.
void expect_sound(const std::optional<Bytes>& value, std::size_t aside) {
  EXPECT_THAT(value, AnyOf(std::optional<Bytes>("bad"), std::optional<Bytes>()));
  EXPECT_EQ(aside, value ? 0u : 1u);
}

TEST_F(QuarantineTest, AFaultLosesNothing) {
  for (const bool sticky : {false, true}) {
    for (const int error : {EIO, ENOSPC, EACCES}) {
      bool fired = true;
      for (int at = 1; fired; ++at) {
        ASSERT_LT(at, 100);
        SCOPED_TRACE("call " + std::to_string(at));
        fs::remove_all(root_ + "/v1/quarantine");
        EXPECT_TRUE(store()->put(kName, "bad"));
        const FileIdentity bad = identity();
        FaultyOps ops({.at = at, .error = error, .sticky = sticky});
        const auto opened = DirectoryStore::open(root_, ops);
        const auto set =
            opened ? (*opened)->quarantine(kName, bad, "x") : Result<bool>(opened.error());
        fired = ops.fired();
        if (set) {
          EXPECT_EQ(!*set, value().has_value());
        }
        expect_sound(value(), aside().size());
        EXPECT_EQ(value(kOtherName), "another");
        EXPECT_THAT(temp_.temporary_files(), IsEmpty());
      }
    }
  }
}

TEST_F(QuarantineTest, WhoIsKilledLeavesItWhereItWasOrAside) {
  bool killed = true;
  for (int at = 1; killed; ++at) {
    ASSERT_LT(at, 100);
    fs::remove_all(root_ + "/v1/quarantine");
    EXPECT_TRUE(store()->put(kName, "bad"));
    const FileIdentity bad = identity();
    const std::string said = in_child([&]() -> std::string {
      FaultyOps ops({.at = at, .kill = true});
      auto opened = DirectoryStore::open(root_, ops);
      if (!opened) return opened.error().to_string();
      const auto set = (*opened)->quarantine(kName, bad, "x");
      return set ? (*set ? "" : "not set aside") : set.error().to_string();
    });
    killed = said == "died of signal 9";
    if (!killed) {
      EXPECT_EQ(said, "");
    }
    expect_sound(value(), aside().size());
    EXPECT_EQ(value(kOtherName), "another");
    EXPECT_TRUE(trim_quarantine(quick_ops(), *layout(), 1LL << 40));
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(QuarantineTest, WhoMayOnlyReadSetsNothingAside) {
  set_mode(temp_.path(), 0755);
  for (const char* path : {"", "/v1", "/v1/00"}) set_mode(root_ + path, 0755);
  set_mode(store()->locate(kName), 0644);
  const FileIdentity bad = identity();
  EXPECT_EQ(as_plain_user([&]() -> std::string {
              auto opened = DirectoryStore::find(root_);
              if (!opened) return opened.error().to_string();
              if (::access((root_ + "/v1").c_str(), W_OK) == 0) {
                ::chmod((root_ + "/v1").c_str(), 0555);
              }
              const auto set = (*opened)->quarantine(kName, bad, "x");
              if (set) return "set aside";
              return set.error().code() == ErrorCode::permission_denied ? ""
                                                                        : set.error().to_string();
            }),
            "");
  EXPECT_EQ(value(), "bad");
}

}  // namespace
}  // namespace precast::store
