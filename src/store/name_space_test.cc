#include "store/name_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/directory_store.h"
#include "store/test_support.h"

namespace precast::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NameSpaceTest, NamesAreShortAndPlain) {
  for (const std::string& name : {std::string("a"), std::string("team-a"), std::string("A.b_c-9"),
                                  std::string("0"), std::string(64, 'x')}) {
    EXPECT_TRUE(check_name_space(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(".a"), std::string("-a"),
        std::string("a/b"), std::string("a b"), std::string("\xc3\xa4"), std::string("a\n"),
        std::string("a\0b", 3), std::string(65, 'x'), std::string(10'000, 'x')}) {
    const auto result = check_name_space(name);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(result.error().message(), HasSubstr("1 to 64 of A-Z a-z 0-9 . _ -"));
    EXPECT_LT(result.error().message().size(), 250u);
  }
}

TEST(NameSpaceTest, EachIsAStoreOfItsOwn) {
  const TempFolder temp;
  const std::string root = temp / "cache";
  auto plain = DirectoryStore::open(root, quick_ops());
  auto one = DirectoryStore::open(root, "one", quick_ops());
  auto two = DirectoryStore::open(root, "two", quick_ops());
  ASSERT_TRUE(plain && one && two);
  EXPECT_TRUE((*plain)->put(kName, "plain"));
  EXPECT_TRUE((*one)->put(kName, "one"));
  EXPECT_EQ(**value_in(**plain, kName), "plain");
  EXPECT_EQ(**value_in(**one, kName), "one");
  EXPECT_EQ(*value_in(**two, kName), std::nullopt);
  EXPECT_EQ((*one)->path(), root + "/namespaces/one");
  EXPECT_EQ((*one)->locate(kName).find(root + "/namespaces/one/v1/00/"), 0u);
  const auto contents = (*plain)->contents();
  EXPECT_EQ(contents->entries.size(), 1u);
  EXPECT_EQ(contents->foreign, 0u);
  // Removed as a whole, and made again.
  fs::remove_all(root);
  EXPECT_TRUE((*one)->put(kName, "again"));
  EXPECT_EQ(**value_in(**one, kName), "again");
}

TEST(NameSpaceTest, ABadNameMakesNothing) {
  const TempFolder temp;
  EXPECT_FALSE(DirectoryStore::open(temp / "cache", "../x", quick_ops()));
  EXPECT_FALSE(DirectoryStore::find(temp / "cache", "../x", quick_ops()));
  EXPECT_FALSE(fs::exists(temp / "cache"));
  const auto none = DirectoryStore::find(temp / "cache", "x", quick_ops());
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(fs::exists(temp / "cache"));
}

TEST(NameSpaceTest, AreListed) {
  const TempFolder temp;
  const std::string root = temp / "cache";
  EXPECT_THAT(*DirectoryStore::name_spaces(root, quick_ops()), IsEmpty());
  ASSERT_TRUE(DirectoryStore::open(root, quick_ops()));
  EXPECT_THAT(*DirectoryStore::name_spaces(root, quick_ops()), IsEmpty());
  ASSERT_TRUE(DirectoryStore::open(root, "b", quick_ops()));
  ASSERT_TRUE(DirectoryStore::open(root, "a", quick_ops()));
  fs::create_directory(root + "/namespaces/.hidden");
  fs::create_directory_symlink("/tmp", root + "/namespaces/link");
  EXPECT_THAT(*DirectoryStore::name_spaces(root, quick_ops()), ElementsAre("a", "b"));
}

TEST(NameSpaceTest, NoLinkIsFollowedAndNoneMayWriteThere) {
  const TempFolder temp;
  const std::string root = temp / "cache";
  ASSERT_TRUE(DirectoryStore::open(root, "a", quick_ops()));
  fs::create_directory(temp / "elsewhere");
  fs::create_directory_symlink(temp / "elsewhere", root + "/namespaces/link");
  const auto link = DirectoryStore::open(root, "link", quick_ops());
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message(), HasSubstr("is a symbolic link"));
  set_mode(root + "/namespaces", 0777);
  const auto open = DirectoryStore::open(root, "a", quick_ops());
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message(), HasSubstr("may be written by everybody"));
}

TEST(NameSpaceTest, WhoMayReadTheRootMayReadThem) {
  const TempFolder temp;
  fs::create_directory(temp / "cache");
  set_mode(temp / "cache", 0755);
  auto store = DirectoryStore::open(temp / "cache", "a", quick_ops());
  ASSERT_TRUE(store);
  EXPECT_TRUE((*store)->put(kName, "x"));
  EXPECT_EQ(mode_of(temp / "cache/namespaces/a"), 0755);
  EXPECT_EQ(mode_of((*store)->locate(kName)), 0644);
}

}  // namespace
}  // namespace precast::store
