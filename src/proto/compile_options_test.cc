#include "precast/compile_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "precast/limits.h"
#include "proto/executable_view.h"
#include "proto/test_messages.h"
#include "proto/xla_options.h"

namespace precast {
namespace {

using proto::testing::join;
using proto::testing::number;
using proto::testing::options_bytes;
using proto::testing::options_of;
using proto::testing::override_entry;
using proto::testing::raw_fields;
using proto::testing::test_data;
using proto::testing::text;

std::string refusal(Bytes bytes) {
  const auto options = CompileOptions::from_serialized(std::move(bytes));
  if (options) return "accepted";
  EXPECT_EQ(options.error().code(), ErrorCode::invalid_argument);
  return options.error().message();
}

Bytes assignment_field(const DeviceAssignment& assignment) {
  return text(9, proto::encode_device_assignment(assignment));
}

TEST(CompileOptions, TheDefaultIsOneReplicaOnePartitionNoOrdinal) {
  const CompileOptions options;
  EXPECT_EQ(options.serialized(), text(3, number(1, -1) + number(4, 1) + number(5, 1)));
  EXPECT_EQ(options.replicas(), 1);
  EXPECT_EQ(options.partitions(), 1);
  EXPECT_FALSE(options.use_spmd());
  EXPECT_EQ(options.assignment(), std::nullopt);
  EXPECT_TRUE(CompileOptions::from_serialized(Bytes(options.serialized())));
}

TEST(CompileOptions, ReadsWhatJaxSends) {
  const Bytes bytes = test_data("options/jax_0_10_2.binpb");
  const auto options = CompileOptions::from_serialized(bytes);
  ASSERT_TRUE(options) << options.error().to_string();
  EXPECT_EQ(options->serialized(), bytes);
  EXPECT_EQ(options->replicas(), 1);
  EXPECT_EQ(options->partitions(), 2);
  EXPECT_TRUE(options->use_spmd());
  EXPECT_EQ(options->assignment(), (DeviceAssignment{1, 2, {0, 1}}));
}

TEST(CompileOptions, RefusesCountsThatWouldAbortXla) {
  EXPECT_NE(refusal("").find("num_replicas is missing or 0"), std::string::npos);
  EXPECT_NE(refusal(text(3, number(4, 1))).find("num_partitions is missing or 0"),
            std::string::npos);
  EXPECT_NE(refusal(text(3, number(4, 0) + number(5, 1))).find("num_replicas"), std::string::npos);
  EXPECT_NE(refusal(text(3, number(4, -1) + number(5, 1))).find("is -1"), std::string::npos);
  EXPECT_NE(refusal(text(3, number(4, 1) + number(5, std::int64_t{1} << 32))).find("from 1 to"),
            std::string::npos);
  EXPECT_NE(refusal(text(3, number(4, 1 << 15) + number(5, 1 << 15))).find("limit of 1048576"),
            std::string::npos);
  // A count as text is a field that protobuf does not know.
  EXPECT_NE(refusal(text(3, text(4, "1") + number(5, 1))).find("num_replicas"), std::string::npos);
}

TEST(CompileOptions, OfACountThatStandsTwiceTheLastCounts) {
  const auto options =
      CompileOptions::from_serialized(text(3, number(4, 2) + number(5, 1) + number(4, 3)));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->replicas(), 3);
  EXPECT_NE(refusal(text(3, number(4, 2) + number(5, 1) + number(4, 0))), "accepted");
}

TEST(CompileOptions, RefusesMessagesThatStandTwice) {
  EXPECT_NE(
      refusal(options_bytes() + options_bytes()).find("executable_build_options stands twice"),
      std::string::npos);
  EXPECT_NE(refusal(options_bytes(text(3, "") + text(3, ""))).find("debug_options stands twice"),
            std::string::npos);
  EXPECT_NE(refusal(options_bytes(assignment_field({1, 1, {0}}) + assignment_field({1, 1, {1}})))
                .find("device_assignment stands twice"),
            std::string::npos);
}

TEST(CompileOptions, RefusesAnAssignmentThatDoesNotFit) {
  EXPECT_NE(refusal(options_bytes(assignment_field({1, 2, {0, 1}})))
                .find("the device assignment is for 1 x 2 devices, the counts say 1 x 1"),
            std::string::npos);
  EXPECT_NE(refusal(options_bytes(text(9, ""))), "accepted");
  EXPECT_NE(refusal(options_bytes(text(9, number(1, 1) + number(2, 1)))), "accepted");
}

TEST(CompileOptions, RefusesDamageInEveryPartItEdits) {
  EXPECT_NE(refusal("\x1a").find("the message does not parse"), std::string::npos);
  EXPECT_NE(refusal(text(3, "\x08")).find("executable_build_options"), std::string::npos);
  EXPECT_NE(refusal(options_bytes(text(3, "\x08"))).find("debug_options does not parse"),
            std::string::npos);
  EXPECT_NE(refusal(options_bytes({}, text(7, "\x0a"))).find("env_option_overrides"),
            std::string::npos);
}

// Every field beside the edited one, at every level, stays byte for byte and in its place.
class Edits : public ::testing::Test {
 protected:
  const Bytes debug_ = number(31, 2) + text(1999, "d") + text(109, "") + text(61, "/cuda");
  const std::vector<Bytes> build_ = {number(1, 7),     text(900, "one"), text(3, debug_),
                                     number(4, 1),     number(5, 1),     number(6, 1),
                                     text(901, "two"), number(24, 29)};
  const std::vector<Bytes> outer_ = {text(800, "x"), text(3, join(build_)),
                                     override_entry("xla_a", text(1, "v")), number(801, 5),
                                     override_entry("xla_b", number(3, 1))};
  const CompileOptions options_ = CompileOptions::from_serialized(join(outer_)).value();

  // The message with its build options replaced.
  Bytes with_build(const std::vector<Bytes>& build) const {
    std::vector<Bytes> outer = outer_;
    outer[1] = text(3, join(build));
    return join(outer);
  }
};

TEST_F(Edits, Replicas) {
  CompileOptions options = options_;
  options.set_replicas(4);
  std::vector<Bytes> build = build_;
  build[3] = number(4, 4);
  EXPECT_EQ(options.serialized(), with_build(build));
  EXPECT_EQ(options.replicas(), 4);
  options.set_replicas(1);
  EXPECT_EQ(options.serialized(), options_.serialized());
}

TEST_F(Edits, Partitions) {
  CompileOptions options = options_;
  options.set_partitions(1 << 20);
  std::vector<Bytes> build = build_;
  build[4] = number(5, 1 << 20);
  EXPECT_EQ(options.serialized(), with_build(build));
  EXPECT_EQ(options.partitions(), 1 << 20);
}

TEST_F(Edits, UseSpmd) {
  CompileOptions options = options_;
  EXPECT_TRUE(options.use_spmd());
  options.set_use_spmd(false);
  std::vector<Bytes> build = build_;
  build.erase(build.begin() + 5);
  EXPECT_EQ(options.serialized(), with_build(build));
  EXPECT_FALSE(options.use_spmd());
  options.set_use_spmd(true);
  build.push_back(number(6, 1));  // what was not there comes last
  EXPECT_EQ(options.serialized(), with_build(build));
}

TEST_F(Edits, Assignment) {
  CompileOptions options = options_;
  const DeviceAssignment assignment{2, 2, {3, 2, 1, 0}};
  options.set_assignment(assignment);
  std::vector<Bytes> build = build_;
  build[0] = number(1, -1);
  build[3] = number(4, 2);
  build[4] = number(5, 2);
  std::vector<Bytes> without = build;
  build.push_back(assignment_field(assignment));
  EXPECT_EQ(options.serialized(), with_build(build));
  EXPECT_EQ(options.assignment(), assignment);
  options.set_assignment(std::nullopt);
  EXPECT_EQ(options.serialized(), with_build(without));
  EXPECT_EQ(options.assignment(), std::nullopt);
  EXPECT_EQ(options.replicas(), 2);
}

TEST_F(Edits, AnAssignmentThatNoLongerFitsIsRemoved) {
  CompileOptions options = options_;
  options.set_assignment(DeviceAssignment{1, 2, {0, 1}});
  options.set_replicas(1);
  options.set_partitions(2);
  EXPECT_TRUE(options.assignment());
  options.set_partitions(4);
  EXPECT_FALSE(options.assignment());
  options.set_assignment(DeviceAssignment{1, 2, {0, 1}});
  options.set_replicas(2);
  EXPECT_FALSE(options.assignment());
  EXPECT_TRUE(CompileOptions::from_serialized(Bytes(options.serialized())));
}

TEST_F(Edits, AnOptionIsReplacedInItsPlaceOrComesLast) {
  CompileOptions options = options_;
  ASSERT_TRUE(options.set_option("xla_a", "w"));
  std::vector<Bytes> outer = outer_;
  outer[2] = override_entry("xla_a", text(1, "w"));
  EXPECT_EQ(options.serialized(), join(outer));
  ASSERT_TRUE(options.set_option("xla_c", "w"));
  outer.push_back(override_entry("xla_c", text(1, "w")));
  EXPECT_EQ(options.serialized(), join(outer));
}

TEST_F(Edits, AnOptionThatStandsTwiceIsSetOnce) {
  CompileOptions options =
      options_of({}, override_entry("xla_a", text(1, "1")) + override_entry("xla_b", text(1, "2")) +
                         override_entry("xla_a", text(1, "3")));
  ASSERT_TRUE(options.set_option("xla_a", "4.5x"));
  EXPECT_EQ(options.serialized(), options_bytes({}, override_entry("xla_a", text(1, "4.5x")) +
                                                        override_entry("xla_b", text(1, "2"))));
}

TEST_F(Edits, DumpsAreClearedByExactName) {
  CompileOptions options = options_;
  ASSERT_TRUE(options.set_option("xla_dump_to", "/d"));
  ASSERT_TRUE(options.set_option("xla_dump_to_of_another", "/d"));
  std::vector<Bytes> build = build_;
  build[2] = text(3, number(31, 2) + text(1999, "d") + text(61, "/cuda"));
  std::vector<Bytes> outer = outer_;
  outer[1] = text(3, join(build));
  outer.push_back(override_entry("xla_dump_to_of_another", text(1, "/d")));
  EXPECT_EQ(options.without_dumps().serialized(), join(outer));
  EXPECT_EQ(options.without_dumps().without_dumps().serialized(), join(outer));
  EXPECT_NE(options.serialized(), join(outer));
}

TEST(WithoutDumps, DebugOptionsStayPresentWhenNothingIsLeftInThem) {
  EXPECT_EQ(options_of(text(3, text(109, "/d") + number(112, 1))).without_dumps().serialized(),
            options_bytes(text(3, "")));
  EXPECT_EQ(options_of().without_dumps().serialized(), options_bytes());
}

TEST(WithoutDumps, ClearsEveryDumpOptionInBothPlaces) {
  std::size_t dumps = 0;
  for (const proto::XlaOption& option : proto::all_options()) {
    if (!proto::is_dump_option(option.name)) continue;
    ++dumps;
    const CompileOptions options =
        options_of(text(3, option.type == proto::OptionType::text ? text(option.number, "v")
                                                                  : number(option.number, 1)),
                   override_entry(option.name, text(1, "v")));
    EXPECT_EQ(options.without_dumps().serialized(), options_bytes(text(3, ""))) << option.name;
  }
  EXPECT_EQ(dumps, 37u);
}

struct OptionCase {
  const char* name;
  const char* value;
  Bytes encoded;  // empty: refused
};

TEST(SetOption, SendsTheTypeThatXlaWants) {
  using proto::testing::real;
  const OptionCase kCases[] = {
      {"xla_cpu_enable_fast_math", "true", number(2, 1)},
      {"xla_cpu_enable_fast_math", "True", number(2, 1)},
      {"xla_cpu_enable_fast_math", "FALSE", number(2, 0)},
      {"xla_cpu_enable_fast_math", "1", number(2, 1)},
      {"xla_cpu_enable_fast_math", "0", number(2, 0)},
      {"xla_cpu_enable_fast_math", "yes", {}},
      {"xla_cpu_enable_fast_math", "", {}},
      {"xla_cpu_prefer_vector_width", "256", number(3, 256)},
      {"xla_cpu_prefer_vector_width", "-1", number(3, -1)},
      {"xla_cpu_prefer_vector_width", "2147483647", number(3, 2147483647)},
      {"xla_cpu_prefer_vector_width", "2147483648", {}},
      {"xla_cpu_prefer_vector_width", "-2147483649", {}},
      {"xla_cpu_prefer_vector_width", "12x", {}},
      {"xla_cpu_prefer_vector_width", " 12", {}},
      {"xla_cpu_prefer_vector_width", "", {}},
      {"xla_gpu_redzone_padding_bytes", "9223372036854775807",
       number(3, std::numeric_limits<std::int64_t>::max())},
      {"xla_gpu_redzone_padding_bytes", "9223372036854775808", {}},
      {"xla_gpu_autotune_gemm_rtol", "0.5", real(4, 0.5)},
      {"xla_gpu_autotune_gemm_rtol", "2", real(4, 2)},
      {"xla_gpu_autotune_gemm_rtol", "0", text(1, "0")},
      {"xla_gpu_autotune_gemm_rtol", "-1.5", text(1, "-1.5")},
      {"xla_gpu_autotune_gemm_rtol", "inf", text(1, "inf")},
      {"xla_gpu_autotune_gemm_rtol", "half", {}},
      {"xla_cpu_max_isa", "AVX2", text(1, "AVX2")},
      {"xla_cpu_max_isa", "true", text(1, "true")},
      {"xla_cpu_max_isa", "7", text(1, "7")},
      {"xla_cpu_max_isa", "", text(1, "")},
      {"xla_cpu_scheduler_type", "1", number(3, 1)},
      {"xla_cpu_scheduler_type", "CPU_SCHEDULER_TYPE_DEFAULT",
       text(1, "CPU_SCHEDULER_TYPE_DEFAULT")},
      {"xla_cpu_scheduler_type", "", {}},
      {"xla_disable_hlo_passes", "a,b", text(1, "a,b")},
      {"xla_gpu_enable_command_buffer", "FUSION,CUBLAS", text(1, "FUSION,CUBLAS")},
      {"xla_gpu_enable_command_buffer", "", text(1, "")},
      {"xla_backend_extra_options", "", text(1, "")},
      {"xla_backend_extra_options", "a=b", {}},
      {"xla_not_known_to_precast", "true", number(2, 1)},
      {"xla_not_known_to_precast", "1", number(3, 1)},
      {"xla_not_known_to_precast", "-5", number(3, -5)},
      {"xla_not_known_to_precast", "0.25", real(4, 0.25)},
      {"xla_not_known_to_precast", "-0.25", text(1, "-0.25")},
      {"xla_not_known_to_precast", "word", text(1, "word")},
      {"xla_not_known_to_precast", "", text(1, "")},
  };
  for (const OptionCase& c : kCases) {
    CompileOptions options;
    const Bytes before(options.serialized());
    const auto set = options.set_option(c.name, c.value);
    if (c.encoded.empty()) {
      ASSERT_FALSE(set) << c.name << "=" << c.value;
      EXPECT_EQ(set.error().code(), ErrorCode::invalid_argument);
      EXPECT_NE(set.error().message().find(c.name), std::string::npos);
      EXPECT_NE(set.error().message().find("not '" + std::string(c.value) + "'"),
                std::string::npos);
      EXPECT_EQ(options.serialized(), before);
    } else {
      ASSERT_TRUE(set) << c.name << "=" << c.value;
      EXPECT_EQ(options.serialized(), before + override_entry(c.name, c.encoded))
          << c.name << "=" << c.value;
    }
  }
}

TEST(SetOption, TheMessageNamesOptionValueAndType) {
  CompileOptions options;
  EXPECT_EQ(options.set_option("xla_cpu_prefer_vector_width", "wide").error().message(),
            "option 'xla_cpu_prefer_vector_width' takes a 32-bit integer, not 'wide'");
  EXPECT_EQ(options.set_option("xla_cpu_enable_fast_math", "on").error().message(),
            "option 'xla_cpu_enable_fast_math' takes a boolean, not 'on'; use true or false");
}

TEST(SetOption, RefusesWhatIsNoName) {
  CompileOptions options;
  for (const char* name : {"", "--xla_cpu_enable_fast_math", "-x", "xla_a=1"}) {
    const auto set = options.set_option(name, "1");
    ASSERT_FALSE(set) << name;
    EXPECT_NE(set.error().message().find("is no option name"), std::string::npos);
  }
}

TEST(NearestOption, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_xla_option("xla_cpu_enable_fast_maths"), "xla_cpu_enable_fast_math");
  EXPECT_EQ(nearest_xla_option("xla_cpu_fast_math"), "xla_cpu_enable_fast_math");
  EXPECT_EQ(nearest_xla_option("--xla_dump_too"), "xla_dump_to");
  EXPECT_EQ(nearest_xla_option("xla_dump_to"), "xla_dump_to");
  EXPECT_EQ(nearest_xla_option("xla_gpu_autotune_levl"), "xla_gpu_autotune_level");
}

TEST(NearestOption, SaysNothingWhenNothingIsNear) {
  for (const std::string& name :
       {std::string(), std::string("-"), std::string("fast"), std::string("completely_unrelated"),
        std::string(100000, 'x'), std::string("xla_")}) {
    EXPECT_EQ(nearest_xla_option(name), "") << name.substr(0, 30);
  }
}

TEST(HostileOptions, EveryTruncationIsReadOrRefused) {
  const Bytes whole = test_data("options/jax_0_10_2.binpb");
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (refusal(whole.substr(0, size)) == "accepted") ++accepted;
  }
  // Only cuts between top-level fields behind the build options leave a message.
  EXPECT_EQ(accepted, 4u);
}

TEST(HostileOptions, WhatIsAcceptedCanBeEdited) {
  const Bytes whole = test_data("options/jax_0_10_2.binpb");
  std::mt19937 random(11);
  std::size_t accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    Bytes changed = whole;
    const auto changes = 1 + random() % 3;
    for (std::size_t i = 0; i < changes; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    auto options = CompileOptions::from_serialized(changed);
    if (!options) continue;
    ++accepted;
    ASSERT_GE(options->replicas(), 1);
    ASSERT_GE(options->partitions(), 1);
    ASSERT_TRUE(options->set_option("xla_cpu_max_isa", "AVX2"));
    options->set_assignment(DeviceAssignment{1, 2, {1, 0}});
    const CompileOptions cleared = options->without_dumps();
    ASSERT_TRUE(CompileOptions::from_serialized(Bytes(cleared.serialized())));
    ASSERT_EQ(cleared.assignment(), (DeviceAssignment{1, 2, {1, 0}}));
  }
  EXPECT_GT(accepted, 200u);
}

}  // namespace
}  // namespace precast
