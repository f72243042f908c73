#include "store/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

class PinsTest : public ::testing::Test {
 protected:
  std::unique_ptr<DirectoryStore> store(FileOps& ops = quick_ops()) const {
    return store_at(root_, ops);
  }
  std::vector<Pin> pins() const {
    auto found = store()->pins();
    if (found) return *std::move(found);
    ADD_FAILURE() << found.error().to_string();
    return {};
  }

  TempFolder temp_;
  const std::string root_ = temp_ / "cache";
};

TEST_F(PinsTest, AreSetReplacedAndTakenAway) {
  EXPECT_THAT(pins(), IsEmpty());
  EXPECT_FALSE(*store()->unpin(kName));
  EXPECT_FALSE(fs::exists(root_ + "/v1")) << "asking makes nothing";
  EXPECT_TRUE(store()->pin(kName, "for the\nrelease"));
  EXPECT_TRUE(store()->pin(kOtherName, std::string(10'000, 'x')));
  ASSERT_EQ(pins().size(), 2u);
  EXPECT_EQ(pins()[0].name, kName);
  EXPECT_EQ(pins()[0].note, "for the release");
  EXPECT_GT(pins()[0].unix_s, 1'600'000'000);
  EXPECT_EQ(pins()[1].note.size(), kMaxPinNoteBytes);
  EXPECT_TRUE(store()->pin(kName, ""));
  EXPECT_EQ(pins()[0].note, "");
  EXPECT_TRUE(*store()->unpin(kName));
  EXPECT_FALSE(*store()->unpin(kName));
  ASSERT_EQ(pins().size(), 1u);
  EXPECT_FALSE(store()->pin("../x", ""));
  EXPECT_FALSE(store()->unpin("../x"));
}

TEST_F(PinsTest, TheNameAloneIsThePin) {
  EXPECT_TRUE(store()->pin(kName, ""));
  fs::create_directory(root_ + "/v1/pins/" + kOtherName);
  std::ofstream(root_ + "/v1/pins/README") << "not one";
  ASSERT_EQ(pins().size(), 2u);
  const auto root = open_root(quick_ops(), root_);
  const auto layout = open_folder(quick_ops(), *root, "v1");
  EXPECT_TRUE(*is_pinned(quick_ops(), **layout, kName));
  EXPECT_TRUE(*is_pinned(quick_ops(), **layout, kOtherName));
  EXPECT_FALSE(*is_pinned(quick_ops(), **layout, std::string(64, 'f')));
  EXPECT_EQ(pinned_names(quick_ops(), **layout)->size(), 2u);
  FaultyOps sick({.at = 3, .error = EIO});
  EXPECT_FALSE(is_pinned(sick, **layout, kOtherName)) << "not known";
}

TEST_F(PinsTest, AFaultSetsAPinOrSaysSo) {
  for (const bool sticky : {false, true}) {
    bool fired = true;
    for (int at = 1; fired; ++at) {
      ASSERT_LT(at, 100);
      fs::remove_all(root_);
      EXPECT_TRUE(store()->pin(kOtherName, ""));
      FaultyOps ops({.at = at, .error = ENOSPC, .sticky = sticky});
      auto opened = DirectoryStore::open(root_, ops);
      const bool said = opened && (*opened)->pin(kName, "note");
      fired = ops.fired();
      const bool is = pins().size() == 2;
      if (said) {
        EXPECT_TRUE(is);
      }
      EXPECT_EQ(said, !fired);
      EXPECT_THAT(temp_.temporary_files(), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace precast::store
