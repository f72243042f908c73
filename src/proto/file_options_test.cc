#include "proto/file_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "precast/limits.h"
#include "proto/test_messages.h"
#include "proto/xla_options.h"

namespace precast::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::number;
using testing::options_bytes;
using testing::text;

CompileOptions options_with(const Bytes& debug_options, const Bytes& overrides = {}) {
  const Bytes build = debug_options.empty() ? Bytes() : text(3, debug_options);
  auto options = CompileOptions::from_serialized(options_bytes(build, overrides));
  EXPECT_TRUE(options.has_value());
  return *std::move(options);
}

Bytes override_of(BytesView name, BytesView value) {
  return text(7, text(1, name) + text(2, text(1, value)));
}

FileReferences references(const std::string& flags, const CompileOptions& options = {},
                          std::string_view platform = "cuda") {
  auto found = file_references(parse_flags_text(flags), options, platform);
  EXPECT_TRUE(found.has_value());
  return found ? *std::move(found) : FileReferences();
}

TEST(FileOptions, AgreesWithTheTableOfOptions) {
  for (const FileOption& option : all_file_options()) {
    EXPECT_EQ(find_file_option(option.name), &option);
    EXPECT_FALSE(is_neutral_option(option.name)) << option.name;
    const XlaOption* known = find_option(option.number);
    if (known == nullptr) continue;  // newer than the table
    EXPECT_EQ(known->name, option.name);
    const bool list = option.kind == FileOptionKind::matched_files;
    const bool map = option.kind == FileOptionKind::llvm_options;
    EXPECT_EQ(known->type, list  ? OptionType::text_list
                           : map ? OptionType::text_map
                                 : OptionType::text)
        << option.name;
  }
  EXPECT_EQ(all_file_options().size(), 14u) << "a change needs another kFileOptionsVersion";
  EXPECT_EQ(kFileOptionsVersion, 1);
  EXPECT_EQ(find_file_option("xla_dump_to"), nullptr);
  EXPECT_EQ(find_file_option("xla_gpu_ptx_file_2"), nullptr);
}

TEST(FileReferences, EveryLayerCounts) {
  const CompileOptions options =
      options_with(text(434, "debug") + text(127, "p1,x") + text(127, "p2"),
                   override_of("xla_gpu_load_autotune_results_from", "over") +
                       override_of("xla_gpu_llvm_ir_file", "a.ll,b.ll"));
  const FileReferences found =
      references("--xla_gpu_algorithm_denylist_path=flag --xla_gpu_ptx_file=p0,0", options);
  EXPECT_THAT(
      found.references,
      ElementsAre(
          FileReference{"xla_gpu_algorithm_denylist_path", "flag", FileOptionKind::file},
          FileReference{"xla_gpu_gemm_autotuner_override_file", "debug", FileOptionKind::file},
          FileReference{"xla_gpu_llvm_ir_file", "a.ll", FileOptionKind::matched_files},
          FileReference{"xla_gpu_llvm_ir_file", "b.ll", FileOptionKind::matched_files},
          FileReference{"xla_gpu_load_autotune_results_from", "over", FileOptionKind::file},
          FileReference{"xla_gpu_ptx_file", "p0,0", FileOptionKind::matched_files},
          FileReference{"xla_gpu_ptx_file", "p1,x", FileOptionKind::matched_files},
          FileReference{"xla_gpu_ptx_file", "p2", FileOptionKind::matched_files}));
  EXPECT_THAT(found.unreadable, IsEmpty());
}

TEST(FileReferences, OnePathIsReadOnce) {
  const std::string name = "xla_gpu_target_config_filename";
  const CompileOptions options = options_with(text(261, "t"), override_of(name, "t"));
  EXPECT_EQ(references("--" + name + "=t", options).references.size(), 1U);
  EXPECT_EQ(references("--" + name + "=u", options).references.size(), 2U);
}

TEST(FileReferences, EveryOptionOfTheTableIsFoundEverywhere) {
  for (const FileOption& option : all_file_options()) {
    const std::string name(option.name);
    const bool map = option.kind == FileOptionKind::llvm_options;
    const std::string value = map ? "key=a/b" : "a/b";
    const Bytes debug =
        map ? text(option.number, text(1, "key") + text(2, "a/b")) : text(option.number, value);
    const FileReferences found[] = {references("--" + name + "=" + value),
                                    references("", options_with(debug)),
                                    references("", options_with("", override_of(name, value)))};
    for (const FileReferences& each : found) {
      EXPECT_EQ(each.references.size() + each.unreadable.size(), 1U) << name;
    }
  }
}

TEST(FileReferences, UnsetMeansNoFile) {
  for (const FileOption& option : all_file_options()) {
    const std::string name(option.name);
    EXPECT_THAT(references("--" + name + "=").references, IsEmpty()) << name;
    EXPECT_THAT(references("--" + name + "=").unreadable, IsEmpty()) << name;
    EXPECT_THAT(references("", options_with("", override_of(name, ""))).references, IsEmpty());
  }
}

TEST(FileReferences, CachesAreNeverReadable) {
  const FileReferences found = references(
      "--xla_gpu_per_fusion_autotune_cache_dir=d --xla_gpu_kernel_cache_file=f "
      "--xla_gpu_experimental_autotuner_cache_dir=e");
  EXPECT_THAT(found.references, IsEmpty());
  EXPECT_THAT(found.unreadable,
              ElementsAre("xla_gpu_experimental_autotuner_cache_dir", "xla_gpu_kernel_cache_file",
                          "xla_gpu_per_fusion_autotune_cache_dir"));
}

TEST(FileReferences, OptionsForLlvmMayNameFiles) {
  const auto names = [](const std::string& entry) {
    return !references("--xla_backend_extra_options='" + entry + "'").unreadable.empty();
  };
  EXPECT_TRUE(names("sample-profile=/tmp/p"));
  EXPECT_TRUE(names("x=p.prof"));
  EXPECT_TRUE(names("x=../p"));
  EXPECT_TRUE(names("pgo-test-profile-file=p"));
  EXPECT_TRUE(names("a=1,b=c/d"));
  EXPECT_FALSE(names("a=1,b=0.5"));
  EXPECT_FALSE(names("slp-threshold=5"));
  EXPECT_FALSE(names("enable-x,y=word"));
  EXPECT_FALSE(names("profile-something"));
}

TEST(FileReferences, TheCpuReadsNoGpuFiles) {
  const std::string flags = "--xla_gpu_ptx_file=p --xla_gpu_kernel_cache_file=k ";
  EXPECT_THAT(references(flags, {}, "cpu").references, IsEmpty());
  EXPECT_THAT(references(flags, {}, "cpu").unreadable, IsEmpty());
  EXPECT_EQ(references(flags, {}, "").references.size(), 1U);
  EXPECT_EQ(references("--xla_candidate_configs_file=c", {}, "cpu").references.size(), 1U);
}

TEST(FileReferences, AnUnknownFlagOfTheTableIsReadToo) {
  const FileReferences found = references("--xla_candidate_configs_file=c --xla_unknown=x");
  EXPECT_THAT(found.references,
              ElementsAre(FileReference{"xla_candidate_configs_file", "c", FileOptionKind::file}));
}

TEST(FileReferences, DamageAndExcessAreErrors) {
  const Bytes damage = "\x0a\xff";
  const Bytes entry = text(1, "xla_gpu_ptx_file") + text(2, damage);
  const auto value = file_references({}, options_with("", text(7, entry)), "cuda");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), ErrorCode::invalid_argument);
  const auto map = file_references({}, options_with(text(500, damage)), "cuda");
  ASSERT_FALSE(map.has_value());
  EXPECT_EQ(map.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(map.error().message(), HasSubstr("xla_backend_extra_options"));
  std::string many;
  for (std::uint32_t i = 0; i <= limits::kMaxOptionFiles; ++i) {
    many += "--xla_gpu_ptx_file=" + std::to_string(i) + " ";
  }
  const auto excess = file_references(parse_flags_text(many), {}, "cuda");
  ASSERT_FALSE(excess.has_value());
  EXPECT_THAT(excess.error().message(), HasSubstr("1025"));
}

// A file system in memory.
class Files {
 public:
  Files& file(const std::string& path, Bytes bytes) {
    contents_[path] = {false, {{"", std::move(bytes)}}};
    return *this;
  }
  Files& folder(const std::string& path, std::vector<FileContent::Entry> entries) {
    contents_[path] = {true, std::move(entries)};
    return *this;
  }
  ContentReader reader() const {
    return [this](const std::string& path) -> Result<FileContent> {
      const auto found = contents_.find(path);
      if (found == contents_.end()) {
        return Error(ErrorCode::invalid_argument, "there is no '" + path + "'");
      }
      return found->second;
    };
  }

 private:
  std::map<std::string, FileContent> contents_;
};

std::vector<ContentItem> contents(const Files& files, const std::string& flags) {
  auto items = read_contents(references(flags).references, files.reader());
  EXPECT_TRUE(items.has_value()) << items.error().to_string();
  return items ? *std::move(items) : std::vector<ContentItem>();
}

TEST(ReadContents, TheContentCountsAndThePathDoesNot) {
  const Files files = std::move(
      Files().file("/a/x", "one").file("/b/y", "one").file("/a/z", "two").file("/a/x.txt", "one"));
  const std::string flag = "--xla_gpu_algorithm_denylist_path=";
  EXPECT_EQ(contents(files, flag + "/a/x"), contents(files, flag + "/b/y"));
  EXPECT_NE(contents(files, flag + "/a/x"), contents(files, flag + "/a/z"));
  // XLA reads a file by its extension.
  EXPECT_NE(contents(files, flag + "/a/x"), contents(files, flag + "/a/x.txt"));
  EXPECT_THAT(
      contents(files, flag + "/a/x.txt"),
      ElementsAre(ContentItem{"xla_gpu_algorithm_denylist_path", ".txt", Digest::of("one"), 3}));
}

TEST(ReadContents, TheNameOfAMatchedFileCounts) {
  const Files files =
      std::move(Files().file("/a/m.ptx", "one").file("/b/m.ptx", "one").file("/a/n.ptx", "one"));
  const std::string flag = "--xla_gpu_ptx_file=";
  EXPECT_EQ(contents(files, flag + "/a/m.ptx"), contents(files, flag + "/b/m.ptx"));
  EXPECT_NE(contents(files, flag + "/a/m.ptx"), contents(files, flag + "/a/n.ptx"));
  EXPECT_NE(contents(files, flag + "/a/m.ptx " + flag + "/a/n.ptx"),
            contents(files, flag + "/a/n.ptx " + flag + "/a/m.ptx"));
}

TEST(ReadContents, AFolderCountsByNamesAndContents) {
  const std::string flag = "--xla_gpu_pgle_profile_file_or_directory_path=";
  const auto item = [&](std::vector<FileContent::Entry> entries) {
    return contents(std::move(Files().folder("d", std::move(entries))), flag + "d");
  };
  const auto base = item({{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(item({{"b", "2"}, {"a", "1"}}), base);
  EXPECT_NE(item({{"a", "1"}, {"b", "3"}}), base);
  EXPECT_NE(item({{"a", "1"}, {"c", "2"}}), base);
  EXPECT_NE(item({{"a", "2"}, {"b", "1"}}), base);
  EXPECT_NE(item({{"a", "1"}}), base);
  EXPECT_NE(item({{"a", "1b2"}}), base);
  EXPECT_NE(item({{"a", "1"}, {"b", "2"}, {"c", ""}}), base);
  EXPECT_EQ(base.front().bytes, 2U);
  const Files file = std::move(Files().file("d", "1"));
  EXPECT_NE(contents(file, flag + "d"), item({{"", "1"}}));
  EXPECT_EQ(item({}).size(), 1U);
}

TEST(ReadContents, WhatCannotBeReadIsAnError) {
  const auto failure = [](const Files& files, const std::string& flags) {
    const auto items = read_contents(references(flags).references, files.reader());
    EXPECT_FALSE(items.has_value());
    return items ? Error(ErrorCode::internal, "") : items.error();
  };
  const Error missing = failure(Files(), "--xla_gpu_ptx_file=/nowhere");
  EXPECT_THAT(missing.to_string(), HasSubstr("/nowhere"));
  EXPECT_THAT(missing.to_string(), HasSubstr("xla_gpu_ptx_file"));
  const Error folder =
      failure(std::move(Files().folder("d", {})), "--xla_gpu_target_config_filename=d");
  EXPECT_EQ(folder.code(), ErrorCode::invalid_argument);
  std::vector<FileContent::Entry> many(limits::kMaxOptionFolderFiles + 1);
  const Error excess = failure(std::move(Files().folder("d", many)),
                               "--xla_gpu_pgle_profile_file_or_directory_path=d");
  EXPECT_EQ(excess.code(), ErrorCode::resource_exhausted);
}

TEST(ReadContents, AllContentsTogetherAreBounded) {
  // One reader for any path, so that no test holds the bytes twice.
  std::uint64_t size = 0;
  const ContentReader reader = [&](const std::string&) -> Result<FileContent> {
    FileContent content;
    content.entries.resize(1);
    content.entries.front().bytes.resize(size);
    return content;
  };
  const auto two = references("--xla_gpu_ptx_file=a --xla_gpu_ptx_file=b").references;
  size = limits::kMaxOptionContentBytes / 2;
  EXPECT_TRUE(read_contents(two, reader).has_value());
  ++size;
  const auto excess = read_contents(two, reader);
  ASSERT_FALSE(excess.has_value());
  EXPECT_EQ(excess.error().code(), ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace precast::proto
