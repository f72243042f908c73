#include <gtest/gtest.h>

#include <random>

#include "proto/executable_view.h"
#include "proto/test_messages.h"

namespace precast::proto {
namespace {

using testing::number;
using testing::test_data;
using testing::text;

const Bytes kTarget =
    text(1, "x86_64-unknown-linux-gnu") + text(2, "haswell") + text(3, "+avx,+avx2,-avx512f");
const CpuTarget kExpected{"x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,-avx512f"};

Bytes executable_of(const Bytes& compilation_result) {
  return text(1, compilation_result) + text(2, testing::options_bytes());
}

Bytes topology_of(const Bytes& cpu_topology,
                  BytesView type = "type.googleapis.com/xla.CpuTopologyProto") {
  return number(1, 5) + text(2, "cpu") + text(9, text(1, type) + text(2, cpu_topology));
}

TEST(WithoutIfrtHeader, IsWhatStandsBehindIt) {
  const std::string header = text(2, "pjrt_ifrt");
  const std::string inside = "the plugin's bytes";
  const std::string whole = std::string(1, static_cast<char>(header.size())) + header + inside;
  EXPECT_EQ(without_ifrt_header(whole), inside);
  EXPECT_EQ(without_ifrt_header(inside), inside);
  EXPECT_EQ(without_ifrt_header(""), "");
  // Another runtime's, a length beyond the end, and one without an end.
  const std::string other = text(2, "proxy");
  const std::string others = std::string(1, static_cast<char>(other.size())) + other + inside;
  EXPECT_EQ(without_ifrt_header(others), others);
  EXPECT_EQ(without_ifrt_header(whole.substr(0, 5)), whole.substr(0, 5));
  EXPECT_EQ(without_ifrt_header("\xff\xff\xff\xff\xff\xff"), "\xff\xff\xff\xff\xff\xff");
}

TEST(CpuRequirement, IsReadFromWhatThePluginSerialized) {
  const auto target = cpu_requirement(test_data("cpu/executable.binpb"));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->triple, "x86_64-unknown-linux-gnu");
  EXPECT_EQ(target->name, "emeraldrapids");
  EXPECT_EQ(target->features.rfind("+64bit,+adx,+aes,+avx,+avx2,", 0), 0u);
  EXPECT_EQ(cpu_requirement(executable_of(text(1, "hlo") + text(9, kTarget))), kExpected);
}

TEST(CpuRequirement, OtherBytesSayNothing) {
  const Bytes kOthers[] = {
      "",
      "text",
      "\x83\xaf\x70\xd1",
      text(1, ""),
      text(1, "\xff\xff"),
      number(1, 3),
      executable_of(text(1, "hlo")),
      executable_of(text(9, "")),
      executable_of(text(9, "\x0a")),
      executable_of(text(9, text(2, "haswell"))),                // no triple
      executable_of(text(9, text(1, std::string("x86\0", 4)))),  // not LLVM's words
      executable_of(text(9, text(1, "x86_64") + text(3, "\xff"))),
      executable_of(number(9, 1)),
  };
  for (const Bytes& bytes : kOthers) EXPECT_EQ(cpu_requirement(bytes), std::nullopt);
}

TEST(CpuRequirement, HostileBytesNeverCrash) {
  const Bytes whole = test_data("cpu/executable.binpb");
  const auto target_of_whole = cpu_requirement(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // The executable comes first; a cut behind it leaves what it needs as it was.
    const auto target = cpu_requirement(BytesView(whole).substr(0, size));
    if (target) {
      EXPECT_EQ(target, target_of_whole) << size;
    }
  }
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    Bytes changed = whole;
    for (int i = 0; i < 4; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    const auto target = cpu_requirement(changed);
    if (target) {
      EXPECT_FALSE(target->triple.empty());
    }
  }
}

TEST(CpuFromTopology, ReadsTheCpuPluginsTopology) {
  const auto target = cpu_from_topology(test_data("cpu/topology.binpb"));
  ASSERT_TRUE(target) << target.error().to_string();
  // The plugin compiled the executable of the other test on the same machine.
  EXPECT_EQ(*target, cpu_requirement(test_data("cpu/executable.binpb")));
  EXPECT_EQ(cpu_from_topology(topology_of(text(1, "") + text(5, kTarget))).value(), kExpected);
}

TEST(CpuFromTopology, OldPluginsGiveFeaturesOnly) {
  EXPECT_EQ(cpu_from_topology(topology_of(text(4, "+avx") + text(4, "-avx512f"))).value(),
            (CpuTarget{"", "", "+avx,-avx512f"}));
  // PJRT 0.81 gives the inner message alone.
  const Bytes bare = text(1, "") + text(1, number(3, 1)) + text(4, "+avx") + text(4, "-avx512f");
  EXPECT_EQ(cpu_from_topology(bare).value(), (CpuTarget{"", "", "+avx,-avx512f"}));
  EXPECT_FALSE(cpu_from_topology(text(1, "") + text(9, "") + text(4, "+avx")));
  EXPECT_FALSE(cpu_from_topology(text(4, "+avx")));
}

TEST(CpuFromTopology, OtherTopologiesAreUnsupportedAndDamageIsCorrupt) {
  const auto code = [](const Bytes& bytes) { return cpu_from_topology(bytes).error().code(); };
  EXPECT_EQ(code(""), ErrorCode::unsupported);
  EXPECT_EQ(code(number(1, 5)), ErrorCode::unsupported);
  EXPECT_EQ(code(topology_of(kTarget, "type.googleapis.com/xla.GpuTopologyProto")),
            ErrorCode::unsupported);
  EXPECT_EQ(code(topology_of("")), ErrorCode::unsupported);
  EXPECT_EQ(code(topology_of(text(5, text(2, "haswell")))), ErrorCode::unsupported);
  EXPECT_EQ(code("\x08"), ErrorCode::corrupt);
  EXPECT_EQ(code(topology_of("\x08")), ErrorCode::corrupt);
}

TEST(CpuFromTopology, EveryTruncationIsAnError) {
  const Bytes whole = test_data("cpu/topology.binpb");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(cpu_from_topology(BytesView(whole).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace precast::proto
