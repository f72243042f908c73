#include "proto/canonical_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>

#include "precast/digest.h"
#include "precast/limits.h"
#include "proto/executable_view.h"
#include "proto/test_messages.h"
#include "proto/xla_options.h"

namespace precast::proto {
namespace {

using testing::join;
using testing::number;
using testing::options_bytes;
using testing::options_of;
using testing::override_entry;
using testing::packed;
using testing::raw_fields;
using testing::real;
using testing::real32;
using testing::test_data;
using testing::text;

using Items = std::vector<std::pair<std::string, std::string>>;

CanonicalOptions canonical(const CompileOptions& options, std::string_view platform = {}) {
  auto result = canonicalize(options, platform);
  EXPECT_TRUE(result) << result.error().to_string();
  return result ? *result : CanonicalOptions();
}

Items items_of(const CompileOptions& options, std::string_view platform = {}) {
  Items items;
  for (const OptionItem& item : canonical(options, platform).items) {
    items.emplace_back(item.name, item.value);
  }
  return items;
}

const Items kCounts = {{"executable_build_options.num_partitions", "1"},
                       {"executable_build_options.num_replicas", "1"}};

// What stands beside the two counts.
Items beside_counts(const Bytes& build, const Bytes& outer = {}, std::string_view platform = {}) {
  Items items = items_of(options_of(build, outer), platform);
  std::erase_if(items,
                [](const auto& item) { return std::ranges::find(kCounts, item) != kCounts.end(); });
  return items;
}

// The items of debug options, without the one that says that they are present.
Items debug_items(const Bytes& debug_options, std::string_view platform = {}) {
  Items items = beside_counts(text(3, debug_options), {}, platform);
  EXPECT_EQ(std::erase(items, std::pair<std::string, std::string>(
                                  "executable_build_options.debug_options", "present")),
            1u);
  return items;
}

TEST(Canonical, TheDefaultHasItsCountsOnly) { EXPECT_EQ(items_of(CompileOptions()), kCounts); }

TEST(Canonical, WhatJaxSendsIsReadable) {
  const CompileOptions options =
      CompileOptions::from_serialized(test_data("options/jax_0_10_2.binpb")).value();
  std::map<std::string, std::string> items;
  for (const OptionItem& item : canonical(options).items) items.emplace(item.name, item.value);
  EXPECT_EQ(items["executable_build_options.num_partitions"], "2");
  EXPECT_EQ(items["executable_build_options.use_spmd_partitioning"], "true");
  EXPECT_EQ(items["executable_build_options.use_shardy_partitioner"], "true");
  EXPECT_EQ(items["executable_build_options.memory_fitting_level"], "29");
  EXPECT_EQ(items["debug_options.xla_backend_optimization_level"], "3");
  EXPECT_EQ(items["debug_options.xla_cpu_max_isa"], "");
  EXPECT_EQ(items["debug_options.xla_gpu_enable_command_buffer"], "5,2,8,3,7,9,1");
  EXPECT_EQ(items["debug_options.xla_gpu_autotune_gemm_rtol"], "0.1");
  EXPECT_EQ(items["debug_options.xla_gpu_analytical_latency_estimator_options[rtt_us]"], "-1");
  EXPECT_EQ(items["debug_options.#217"], "varint:0");  // removed from XLA since
  EXPECT_EQ(items["override.xla_cpu_enable_fast_math"], "true");
  EXPECT_EQ(items["override.xla_cpu_prefer_vector_width"], "256");
  for (const auto& [name, value] : items) {
    EXPECT_EQ(name.find("dump"), std::string::npos) << name;
    EXPECT_EQ(name.find("ordinal"), std::string::npos) << name;
    EXPECT_EQ(name.find("assignment"), std::string::npos) << name;
  }
  EXPECT_TRUE(items.contains("debug_options.xla_gpu_cuda_data_dir"));
}

// Reorders the entries of every map, and the overrides, as serializers do.
Bytes shuffled(const Bytes& message, std::mt19937& random) {
  const auto shuffle_number = [&](std::vector<Bytes>& fields, auto&& is_map) {
    std::map<std::uint32_t, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      base::FieldReader reader(fields[i]);
      if (reader.next() && is_map(reader.field().number)) {
        places[reader.field().number].push_back(i);
      }
    }
    for (const auto& [map_number, at] : places) {
      std::vector<Bytes> entries;
      for (const std::size_t i : at) entries.push_back(fields[i]);
      std::shuffle(entries.begin(), entries.end(), random);
      for (std::size_t i = 0; i < at.size(); ++i) fields[at[i]] = entries[i];
    }
  };
  std::vector<Bytes> outer = raw_fields(message);
  shuffle_number(outer, [](std::uint32_t n) { return n == 7; });
  for (Bytes& field : outer) {
    base::FieldReader reader(field);
    if (!reader.next() || reader.field().number != 3) continue;
    std::vector<Bytes> build = raw_fields(reader.field().bytes);
    for (Bytes& build_field : build) {
      base::FieldReader build_reader(build_field);
      if (!build_reader.next() || build_reader.field().number != 3) continue;
      std::vector<Bytes> debug = raw_fields(build_reader.field().bytes);
      shuffle_number(debug, [](std::uint32_t n) { return n == 357 || n == 474 || n == 500; });
      build_field = text(3, join(debug));
    }
    field = text(3, join(build));
  }
  return join(outer);
}

TEST(Canonical, TheOrderOfMapEntriesDoesNotCount) {
  const auto entry = [](std::uint32_t map, const char* key, const char* value) {
    return text(map, text(1, key) + text(2, value));
  };
  const Bytes jax = test_data("options/jax_0_10_2.binpb");
  const Bytes own =
      options_bytes(text(3, entry(500, "c", "1") + entry(474, "z", "2") + entry(500, "a", "3") +
                                entry(474, "y", "4") + entry(500, "b", "5")),
                    override_entry("xla_c", number(3, 1)) + override_entry("xla_a", number(3, 2)) +
                        override_entry("xla_b", number(3, 3)));
  std::mt19937 random(20240602);
  for (const Bytes& message : {jax, own}) {
    const Items expected = items_of(CompileOptions::from_serialized(message).value());
    std::size_t different = 0;
    for (int round = 0; round < 100; ++round) {
      const Bytes other = shuffled(message, random);
      ASSERT_EQ(other.size(), message.size());
      if (other != message) ++different;
      ASSERT_EQ(items_of(CompileOptions::from_serialized(other).value()), expected) << round;
    }
    EXPECT_GT(different, 90u);
  }
}

TEST(Canonical, TheOrderOfFieldsDoesNotCount) {
  std::mt19937 random(9);
  const Bytes message = test_data("options/jax_0_10_2.binpb");
  const Items expected = items_of(CompileOptions::from_serialized(message).value());
  for (int round = 0; round < 50; ++round) {
    std::vector<Bytes> outer = raw_fields(message);
    std::shuffle(outer.begin(), outer.end(), random);
    ASSERT_EQ(items_of(CompileOptions::from_serialized(join(outer)).value()), expected);
  }
}

TEST(Canonical, DeviceIdsDoNotCountAndCountsDo) {
  CompileOptions plain;
  plain.set_partitions(2);
  CompileOptions assigned = plain;
  assigned.set_assignment(DeviceAssignment{1, 2, {0, 1}});
  CompileOptions elsewhere = plain;
  elsewhere.set_assignment(DeviceAssignment{1, 2, {3, 2}});
  EXPECT_EQ(items_of(assigned), items_of(plain));
  EXPECT_EQ(items_of(elsewhere), items_of(plain));
  CompileOptions replicas;
  replicas.set_replicas(2);
  EXPECT_NE(items_of(replicas), items_of(plain));
}

struct FieldCase {
  const char* what;
  Bytes build;
  Bytes outer;
  const char* name;  // null: no item
  const char* value;
};

TEST(Canonical, EveryFieldOfTheMessage) {
  const Bytes shape = number(2, 11) + packed(3, {2, 3});
  const FieldCase kCases[] = {
      {"ordinal", number(1, 3), {}, nullptr, nullptr},
      {"process index", number(22, 3), {}, nullptr, nullptr},
      {"process count", number(23, 3), {}, nullptr, nullptr},
      {"profile version", {}, number(5, -1), nullptr, nullptr},
      {"in place", {}, number(9, 1), nullptr, nullptr},
      {"false",
       number(6, 0) + number(7, 0) + number(8, 0) + number(10, 0) + number(11, 0) + number(19, 0) +
           number(15, 0) + number(24, 0) + number(25, 0) + real32(20, 0) + real32(21, 0) +
           text(14, "") + text(12, "") + text(18, "") + text(16, "") + text(17, ""),
       number(2, 0) + number(4, 0) + number(10, 0) + text(6, ""), nullptr, nullptr},
      {"result layout",
       text(2, "\x10\x0b"),
       {},
       "executable_build_options.result_layout",
       "0x100b"},
      {"spmd", number(6, 1), {}, "executable_build_options.use_spmd_partitioning", "true"},
      {"auto spmd",
       number(7, 1),
       {},
       "executable_build_options.use_auto_spmd_partitioning",
       "true"},
      {"deduplicate", number(8, 1), {}, "executable_build_options.deduplicate_hlo", "true"},
      {"alias", number(10, 1), {}, "executable_build_options.alias_passthrough_params", "true"},
      {"backend only", number(11, 1), {}, "executable_build_options.run_backend_only", "true"},
      {"to output",
       packed(12, {1, 0}),
       {},
       "executable_build_options.allow_spmd_sharding_propagation_to_output",
       "true,false"},
      {"environments", text(13, "e"), {}, "executable_build_options.comp_envs", "0x65"},
      {"memory size",
       number(15, 1 << 20),
       {},
       "executable_build_options.device_memory_size",
       "1048576"},
      {"mesh shape",
       packed(16, {2, 4}),
       {},
       "executable_build_options.auto_spmd_partitioning_mesh_shape",
       "2,4"},
      {"mesh ids",
       number(17, 1) + number(17, -1),
       {},
       "executable_build_options.auto_spmd_partitioning_mesh_ids",
       "1,-1"},
      {"to parameters",
       packed(18, {0}),
       {},
       "executable_build_options.allow_spmd_sharding_propagation_to_parameters",
       "false"},
      {"shardy", number(19, 1), {}, "executable_build_options.use_shardy_partitioner", "true"},
      {"time effort",
       real32(20, 0.5f),
       {},
       "executable_build_options.exec_time_optimization_effort",
       "0.5"},
      {"memory effort", real32(21, -1), {}, "executable_build_options.memory_fitting_effort", "-1"},
      {"level", number(24, 29), {}, "executable_build_options.optimization_level", "29"},
      {"memory level", number(25, 9), {}, "executable_build_options.memory_fitting_level", "9"},
      {"gpu topology", text(27, "t"), {}, "executable_build_options.gpu_topology", "0x74"},
      {"unknown number", number(28, 300), {}, "executable_build_options.#28", "varint:300"},
      {"unknown bytes", text(99, "ab"), {}, "executable_build_options.#99", "0x6162"},
      {"unknown float", real32(98, 1), {}, "executable_build_options.#98", "fixed32:0x3f800000"},
      {"unknown double",
       real(97, 1),
       {},
       "executable_build_options.#97",
       "fixed64:0x3ff0000000000000"},
      {"known number, other type", text(6, "a"), {}, "executable_build_options.#6", "0x61"},
      {"debug options, other type", number(3, 1), {}, "executable_build_options.#3", "varint:1"},
      {"argument layout", {}, text(1, shape), "argument_layouts", "0x100b1a020203"},
      {"tupled", {}, number(2, 1), "parameter_is_tupled_arguments", "true"},
      {"portable", {}, number(4, 1), "compile_portable_executable", "true"},
      {"target", {}, text(8, "t"), "target_config", "0x74"},
      {"precision", {}, number(10, 2), "matrix_unit_operand_precision", "2"},
      {"variant", {}, text(11, "v"), "compiler_variant", "v"},
      {"empty variant", {}, text(11, ""), "compiler_variant", ""},
      {"unknown", {}, text(12, "u"), "#12", "0x75"},
      {"override, other type", {}, number(7, 1), "#7", "varint:1"},
      {"counts again", number(4, 1) + number(5, 1), {}, nullptr, nullptr},
  };
  for (const FieldCase& c : kCases) {
    Items items = beside_counts(c.build, c.outer);
    std::erase_if(items, [](const auto& item) {
      return item.first == "executable_build_options.debug_options";
    });
    if (c.name == nullptr) {
      EXPECT_EQ(items, Items{}) << c.what;
    } else {
      EXPECT_EQ(items, (Items{{c.name, c.value}})) << c.what;
    }
  }
}

TEST(Canonical, LargeBytesStandAsTheirDigest) {
  const std::string digest = "sha256:" + Digest::of("profile").hex() + ", 7 bytes";
  EXPECT_EQ(beside_counts(text(14, "profile")),
            (Items{{"executable_build_options.fdo_profile", digest}}));
  EXPECT_EQ(beside_counts({}, text(6, "profile")),
            (Items{{"serialized_multi_slice_config", digest}}));
  const Bytes long_value(20000, 'v');
  EXPECT_EQ(beside_counts({}, text(11, long_value)),
            (Items{{"sha256(compiler_variant)",
                    "sha256:" + Digest::of(long_value).hex() + ", 20000 bytes"}}));
}

TEST(Canonical, RepeatedShapesStayInOrder) {
  EXPECT_EQ(beside_counts({}, text(1, "b") + text(1, "a")),
            (Items{{"argument_layouts", "0x62"}, {"argument_layouts", "0x61"}}));
}

TEST(CanonicalDebugOptions, PresenceCountsEvenOfDefaults) {
  EXPECT_EQ(debug_items(""), Items{});
  EXPECT_EQ(beside_counts(""), Items{});  // absent is another request than empty
  EXPECT_EQ(debug_items(number(99, 0)),
            (Items{{"debug_options.xla_cpu_enable_fast_math", "false"}}));
  EXPECT_EQ(debug_items(text(333, "")), (Items{{"debug_options.xla_cpu_max_isa", ""}}));
}

TEST(CanonicalDebugOptions, EveryTypeOfOption) {
  const std::pair<Bytes, std::pair<std::string, std::string>> kCases[] = {
      {number(99, 1), {"debug_options.xla_cpu_enable_fast_math", "true"}},
      {number(308, -1), {"debug_options.xla_cpu_prefer_vector_width", "-1"}},
      {number(308, 0xffffffff), {"debug_options.xla_cpu_prefer_vector_width", "-1"}},
      {number(228, std::int64_t{1} << 40),
       {"debug_options.xla_gpu_redzone_padding_bytes", "1099511627776"}},
      {real32(316, 0.1f), {"debug_options.xla_gpu_autotune_gemm_rtol", "0.1"}},
      {text(333, "AVX2"), {"debug_options.xla_cpu_max_isa", "AVX2"}},
      {text(333, std::string("a\0=,", 4)),
       {"debug_options.xla_cpu_max_isa", std::string("a\0=,", 4)}},
      {number(448, 2), {"debug_options.xla_cpu_scheduler_type", "2"}},
      {text(30, "dce"), {"debug_options.xla_disable_hlo_passes", "dce"}},
      {packed(258, {1, 2}) + number(258, 3),
       {"debug_options.xla_gpu_enable_command_buffer", "1,2,3"}},
      {text(503, "\x08\x01"),
       {"debug_options.xla_enable_nccl_symmetric_buffers_for_collectives", "0x0801"}},
      {text(500, text(1, "k") + text(2, "v")), {"debug_options.xla_backend_extra_options[k]", "v"}},
      {text(500, text(1, "k")), {"debug_options.xla_backend_extra_options[k]", ""}},
      {text(500, number(9, 1)), {"debug_options.#500", "0x4801"}},
      {number(99, 0) + number(99, 1), {"debug_options.xla_cpu_enable_fast_math", "true"}},
      {number(1999, 7), {"debug_options.#1999", "varint:7"}},
      {text(99, "x"), {"debug_options.#99", "0x78"}},
      {real32(258, 1), {"debug_options.#258", "fixed32:0x3f800000"}},
  };
  for (const auto& [debug, item] : kCases) {
    EXPECT_EQ(debug_items(debug), (Items{item})) << item.first;
  }
  EXPECT_EQ(debug_items(text(258, "")), Items{});  // an empty list is none
  EXPECT_EQ(debug_items(text(500, text(1, "k") + text(2, "old")) +
                        text(500, text(2, "new") + text(1, "k"))),
            (Items{{"debug_options.xla_backend_extra_options[k]", "new"}}));
}

// The raw field of an option with some value, and with another one.
std::pair<Bytes, Bytes> two_values(const XlaOption& option) {
  switch (option.type) {
    case OptionType::boolean: return {number(option.number, 0), number(option.number, 1)};
    case OptionType::int32:
    case OptionType::int64:
    case OptionType::enumeration: return {number(option.number, 4), number(option.number, 5)};
    case OptionType::float32: return {real32(option.number, 1), real32(option.number, 2)};
    case OptionType::enumeration_list:
      return {packed(option.number, {1, 2}), packed(option.number, {2, 1})};
    case OptionType::text_map:
      return {text(option.number, text(1, "k") + text(2, "a")),
              text(option.number, text(1, "k") + text(2, "b"))};
    default: return {text(option.number, "a"), text(option.number, "b")};
  }
}

TEST(CanonicalDebugOptions, EveryOptionCountsUnlessItIsNeutral) {
  for (const XlaOption& option : all_options()) {
    const auto [one, other] = two_values(option);
    if (is_neutral_option(option.name)) {
      EXPECT_EQ(debug_items(one), Items{}) << option.name;
      EXPECT_EQ(debug_items(other), Items{}) << option.name;
    } else {
      EXPECT_NE(debug_items(one), Items{}) << option.name;
      EXPECT_NE(debug_items(one), debug_items(other)) << option.name;
      EXPECT_EQ(debug_items(one).front().first.find("debug_options." + std::string(option.name)),
                0u);
    }
  }
}

TEST(CanonicalOverrides, EveryOptionCountsUnlessItIsNeutral) {
  for (const XlaOption& option : all_options()) {
    const Items one = beside_counts({}, override_entry(option.name, text(1, "a")));
    const Items other = beside_counts({}, override_entry(option.name, text(1, "b")));
    EXPECT_EQ(one.empty(), is_neutral_option(option.name)) << option.name;
    EXPECT_EQ(one == other, is_neutral_option(option.name)) << option.name;
  }
}

TEST(CanonicalOverrides, ValuesByTheirEffect) {
  const auto value = [](const char* name, const Bytes& encoded) -> std::string {
    const Items items = beside_counts({}, override_entry(name, encoded));
    EXPECT_EQ(items.size(), 1u);
    EXPECT_EQ(items[0].first, "override." + std::string(name));
    return items[0].second;
  };
  EXPECT_EQ(value("xla_cpu_enable_fast_math", number(2, 1)), "true");
  EXPECT_EQ(value("xla_cpu_enable_fast_math", text(1, "True")), "true");
  EXPECT_EQ(value("xla_cpu_enable_fast_math", text(1, "False")), "false");
  // XLA refuses it.
  EXPECT_EQ(value("xla_cpu_enable_fast_math", text(1, "true")).rfind("refused:0x", 0), 0u);
  EXPECT_EQ(value("xla_cpu_prefer_vector_width", number(3, 256)), "256");
  EXPECT_EQ(value("xla_cpu_prefer_vector_width", text(1, "256")), "256");
  EXPECT_EQ(value("xla_gpu_autotune_gemm_rtol", real(4, 0.1)), "0.1");
  EXPECT_EQ(value("xla_gpu_autotune_gemm_rtol", text(1, "0.10")), "0.1");
  EXPECT_EQ(value("xla_cpu_scheduler_type", number(3, 1)), "1");
  EXPECT_EQ(value("xla_cpu_scheduler_type", text(1, "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED")), "1");
  EXPECT_EQ(value("xla_cpu_max_isa", text(1, "True")), "True");
  EXPECT_EQ(value("xla_unknown", text(1, "1")), "text:1");
  EXPECT_EQ(value("xla_unknown", number(3, 1)), "int:1");
  EXPECT_EQ(value("xla_unknown", ""), "refused:0x");
}

TEST(CanonicalOverrides, OfARepeatedNameTheLastCounts) {
  EXPECT_EQ(beside_counts({}, override_entry("xla_a", number(3, 1)) +
                                  override_entry("xla_b", number(3, 2)) +
                                  override_entry("xla_a", number(3, 3))),
            (Items{{"override.xla_a", "int:3"}, {"override.xla_b", "int:2"}}));
}

TEST(CanonicalOverrides, AnUnusualEntryCountsRaw) {
  const Bytes entry = text(1, "xla_a") + text(2, number(3, 1)) + number(3, 1);
  const Bytes twice = text(1, "xla_a") + text(2, number(3, 1)) + text(2, number(3, 2));
  const Bytes unknown = text(1, "xla_a") + text(2, number(9, 1));
  for (const Bytes& unusual : {entry, twice, unknown}) {
    const Items items = beside_counts({}, text(7, unusual));
    ASSERT_EQ(items.size(), 1u);
    EXPECT_EQ(items[0].first, "override.xla_a#raw");
    EXPECT_EQ(items[0].second.rfind("0x", 0), 0u);
  }
}

TEST(CanonicalNames, CannotBeForgedByValues) {
  // An override whose name looks like two, and a map key that looks like a name.
  const Items one = beside_counts({}, override_entry("xla_a=int:1\noverride.xla_b", number(3, 2)));
  const Items two = beside_counts(
      {}, override_entry("xla_a", number(3, 1)) + override_entry("xla_b", number(3, 2)));
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(two.size(), 2u);
  EXPECT_NE(
      debug_items(text(500, text(1, "a][b") + text(2, "v"))),
      debug_items(text(500, text(1, "a") + text(2, "v")) + text(500, text(1, "b") + text(2, "v"))));
  // Text that reads like a digest or like raw bytes stands under another name than those.
  const Bytes long_value(20000, 'v');
  const std::string digest = "sha256:" + Digest::of(long_value).hex() + ", 20000 bytes";
  EXPECT_NE(debug_items(text(333, long_value)), debug_items(text(333, digest)));
  EXPECT_NE(beside_counts({}, override_entry("xla_a", text(1, "0x6162"))),
            beside_counts({}, text(7, text(1, "xla_a") + text(2, number(9, 1)))));
}

// The contents "one" and "two" of two paths each, as they stand in a key.
struct Contents {
  static constexpr const char* kOne =
      "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed, 3 bytes";
  static constexpr const char* kTwo =
      "sha256:3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3, 3 bytes";

  ContentTexts texts(const CompileOptions& options) const {
    const auto files = file_references({}, options, "cuda").value();
    const auto reader = [](const std::string& path) -> Result<FileContent> {
      return FileContent{false, {{"", path.ends_with('1') ? "one" : "two"}}};
    };
    return {files.references, read_contents(files.references, reader).value()};
  }

  Items items(const Bytes& debug, const Bytes& outer = {}) const {
    const CompileOptions options = options_of(debug.empty() ? Bytes() : text(3, debug), outer);
    const ContentTexts contents = texts(options);
    Items items;
    const auto made = canonicalize(options, "cuda", contents);
    EXPECT_TRUE(made);
    for (const OptionItem& item : made->items) {
      const std::pair<std::string, std::string> pair(item.name, item.value);
      if (item.name.find("xla_") != std::string::npos) items.push_back(pair);
    }
    return items;
  }
};

TEST(CanonicalFileOptions, ContentsStandForPaths) {
  const Contents at;
  const auto pgle = [](const char* path) { return text(210, path); };
  EXPECT_EQ(at.items(pgle("/a/f1")), at.items(pgle("other/g1")));
  EXPECT_EQ(at.items(pgle("/a/f1")),
            (Items{{"debug_options.xla_gpu_pgle_profile_file_or_directory_path", at.kOne}}));
  EXPECT_NE(at.items(pgle("/a/f1")), at.items(pgle("/a/f2")));
  EXPECT_EQ(at.items(pgle("f2") + pgle("f1")), at.items(pgle("f1")));  // the last counts
  EXPECT_NE(at.items(pgle("")), at.items(""));
  // How XLA reads it counts.
  EXPECT_NE(at.items(pgle("f.1")), at.items(pgle("f1")));
}

TEST(CanonicalFileOptions, ListsKeepTheirOrderAndTheirNames) {
  const Contents at;
  EXPECT_EQ(at.items(text(127, "/x/f1") + text(127, "/y/f2")),
            (Items{{"debug_options.xla_gpu_ptx_file", std::string(at.kOne) + ", f1"},
                   {"debug_options.xla_gpu_ptx_file", std::string(at.kTwo) + ", f2"}}));
  EXPECT_NE(at.items(text(127, "f1") + text(127, "f2")),
            at.items(text(127, "f2") + text(127, "f1")));
  EXPECT_EQ(
      at.items("", override_entry("xla_gpu_ptx_file", text(1, "a/f1,b/f2"))),
      (Items{{"override.xla_gpu_ptx_file", std::string(at.kOne) + ", f1," + at.kTwo + ", f2"}}));
}

// One set of files, used in other places: none of these is another's equal.
TEST(CanonicalFileOptions, WhereAFileIsNamedCounts) {
  const Contents at;
  const auto denylist = [](const char* path) { return text(128, path); };
  const auto overridden = [](const char* path) {
    return override_entry("xla_gpu_algorithm_denylist_path", text(1, path));
  };
  const std::vector<Items> all = {
      at.items(denylist("f1")),
      at.items("", overridden("f1")),
      at.items(denylist("f1"), overridden("f2")),
      at.items(denylist("f2"), overridden("f1")),
      at.items(denylist("f1"), overridden("f1")),
      at.items(denylist("f1"), overridden("")),
  };
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) EXPECT_NE(all[a], all[b]) << a << " " << b;
  }
}

TEST(CanonicalFileOptions, OneThatPrecastHasInThisTableOnly) {
  ASSERT_EQ(find_option(std::uint32_t{544}), nullptr);
  const Contents at;
  EXPECT_EQ(at.items(text(544, "/a/f1")),
            (Items{{"debug_options.xla_candidate_configs_file", at.kOne}}));
  EXPECT_EQ(at.items("", override_entry("xla_candidate_configs_file", text(1, "b/f1"))),
            (Items{{"override.xla_candidate_configs_file", at.kOne}}));
}

TEST(CanonicalFileOptions, OnCpuTheGpuCompilersFilesAreReadByNothing) {
  EXPECT_EQ(debug_items(text(261, "f"), "cpu"), Items{});
  EXPECT_EQ(beside_counts({}, override_entry("xla_gpu_ptx_file", text(1, "f")), "cpu"), Items{});
  EXPECT_NE(debug_items(text(261, "f"), "cuda"), Items{});
  EXPECT_NE(debug_items(text(261, "f")), Items{});
}

TEST(CanonicalCudaDataDir, DoesNotCountOnCpu) {
  EXPECT_EQ(debug_items(text(61, "/a"), "cpu"), Items{});
  EXPECT_EQ(beside_counts({}, override_entry("xla_gpu_cuda_data_dir", text(1, "/a")), "cpu"),
            Items{});
  EXPECT_EQ(debug_items(text(61, "/a"), "cuda"),
            (Items{{"debug_options.xla_gpu_cuda_data_dir", "/a"}}));
  EXPECT_EQ(debug_items(text(61, "/a")), (Items{{"debug_options.xla_gpu_cuda_data_dir", "/a"}}));
}

TEST(CanonicalLimits, TooManyItemsAndTooLongNamesAreRefused) {
  Bytes many;
  for (std::uint32_t i = 0; i <= limits::kMaxOptionItems; ++i) many += text(1, "");
  EXPECT_EQ(canonicalize(options_of({}, many)).error().code(), ErrorCode::invalid_argument);
  const std::string name(limits::kMaxKeyNameBytes, 'n');
  EXPECT_EQ(canonicalize(options_of({}, override_entry(name, number(3, 1)))).error().code(),
            ErrorCode::invalid_argument);
}

TEST(CanonicalHostile, WhatIsAcceptedIsCanonicalAndStable) {
  const Bytes whole = test_data("options/jax_0_10_2.binpb");
  std::mt19937 random(13);
  std::size_t accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    Bytes changed = whole;
    for (int i = 0; i < 2; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    const auto options = CompileOptions::from_serialized(changed);
    if (!options) continue;
    const auto result = canonicalize(*options);
    if (!result) continue;
    ++accepted;
    ASSERT_TRUE(std::ranges::is_sorted(result->items, {}, &OptionItem::name));
    const auto cleared = canonicalize(options->without_dumps());
    ASSERT_TRUE(cleared);
    ASSERT_EQ(cleared->items, result->items);  // dumps were no items to begin with
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace precast::proto
