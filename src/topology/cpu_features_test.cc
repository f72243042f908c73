#include "topology/cpu_features.h"

#include <gtest/gtest.h>

namespace precast::topology {
namespace {

using Names = std::vector<std::string>;

TEST(IsaFeatures, SortsByNameAndKeepsSigns) {
  EXPECT_EQ(isa_features("+sse4.2,-avx512f,+avx2,+avx"),
            (Names{"+avx", "+avx2", "-avx512f", "+sse4.2"}));
  EXPECT_EQ(isa_features(""), Names{});
  EXPECT_EQ(isa_features("+avx"), Names{"+avx"});
}

TEST(IsaFeatures, OrderSpaceAndRepetitionDoNotCount) {
  EXPECT_EQ(isa_features(" +b , +a,,+b,"), (Names{"+a", "+b"}));
  EXPECT_EQ(isa_features("+a,+b"), isa_features("+b,+a"));
}

TEST(IsaFeatures, OfOneNameTheLastCountsAndNoSignMeansOn) {
  EXPECT_EQ(isa_features("+a,-a"), Names{"-a"});
  EXPECT_EQ(isa_features("-a,+a"), Names{"+a"});
  EXPECT_EQ(isa_features("a,b"), (Names{"+a", "+b"}));
  EXPECT_EQ(isa_features("+,-"), Names{});
}

TEST(IsaFeatures, DropsTuningHintsOnly) {
  EXPECT_EQ(isa_features("+prefer-no-gather,+prefer-no-scatter,+fast-gather,+slow-3ops-lea,"
                         "+tuning-fast-imm-vector-shift,+idivl-to-divb,+idivq-to-divl,"
                         "+false-deps-popcnt,+macrofusion,+branchfusion,+allow-light-256-bit"),
            Names{});
  for (const char* feature : {"avx", "64bit", "fma", "f16c", "sse4.1", "serialize", "fp-armv8",
                              "prefetchi", "prfchw", "fsgsbase", "sve2"}) {
    EXPECT_FALSE(is_tuning_hint(feature)) << feature;
  }
}

TEST(MissingFeatures, NamesWhatTheHostLacks) {
  EXPECT_EQ(missing_features("+avx,+avx512f,+amx-tile", "+avx,-amx-tile"),
            (Names{"amx-tile", "avx512f"}));
  EXPECT_EQ(missing_features("+avx,+avx2", "+avx2,+avx,+avx512f"), Names{});
}

TEST(MissingFeatures, OfOneNameTheLastCountsOnBothSides) {
  EXPECT_EQ(missing_features("-avx,+avx", "+sse,+avx,-avx"), Names{"avx"});
  EXPECT_EQ(missing_features("+avx,-avx", "+sse"), Names{});
  EXPECT_EQ(missing_features("+avx", "-avx,+sse,+avx"), Names{});
}

TEST(MissingFeatures, NothingIsMissingOnTheSameCpu) {
  EXPECT_EQ(missing_features("-avx512f,+avx,+prefer-no-gather", "-avx512f,+avx,+prefer-no-gather"),
            Names{});
}

TEST(MissingFeatures, WhatIsOffOrAHintIsNotNeeded) {
  EXPECT_EQ(missing_features("-avx512f,+prefer-no-gather,+avx", "+avx"), Names{});
  EXPECT_EQ(missing_features("", ""), Names{});
  EXPECT_EQ(missing_features("+avx", ""), Names{"avx"});
}

TEST(ArchitectureOf, TakesTheFirstPart) {
  EXPECT_EQ(architecture_of("x86_64-unknown-linux-gnu"), "x86_64");
  EXPECT_EQ(architecture_of("aarch64-linux-gnu"), "aarch64");
  EXPECT_EQ(architecture_of("aarch64"), "aarch64");
  EXPECT_EQ(architecture_of(""), "");
}

}  // namespace
}  // namespace precast::topology
