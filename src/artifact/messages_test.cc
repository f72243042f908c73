#include "artifact/messages.h"

#include <gtest/gtest.h>

#include <limits>
#include <protozero/pbf_writer.hpp>
#include <random>

#include "artifact/test_allocation_probe.h"
#include "artifact/test_artifacts.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

template <typename T>
void expect_refused(const Result<T>& result, const std::string& words,
                    ErrorCode code = ErrorCode::corrupt) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), code) << result.error().to_string();
  EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().to_string();
}

// A signature with one parameter whose message is `fields`.
template <typename Fill>
Bytes one_parameter(const Fill& fill) {
  Bytes tensor;
  protozero::pbf_writer tensor_writer(tensor);
  fill(tensor_writer);
  Bytes out;
  protozero::pbf_writer writer(out);
  writer.add_message(2, tensor);
  return out;
}

TEST(SignatureMessage, RoundTrips) {
  const ProgramSignature signature = *full_contents().signature;
  EXPECT_EQ(decode_signature(encode_signature(signature)).value(), signature);
  EXPECT_EQ(decode_signature("").value(), ProgramSignature{});
  EXPECT_EQ(encode_signature({}), "");
}

TEST(SignatureMessage, EveryFieldIsKept) {
  const ProgramSignature base = *full_contents().signature;
  std::vector<ProgramSignature> variants;
  const auto vary = [&](auto edit) {
    variants.push_back(base);
    edit(variants.back());
  };
  vary([](auto& s) { s.name += "2"; });
  vary([](auto& s) { s.parameters.pop_back(); });
  vary([](auto& s) { s.results.push_back(s.results[0]); });
  vary([](auto& s) { s.parameters[0].type.element = ElementType::f64; });
  vary([](auto& s) { s.parameters[0].type.element = static_cast<ElementType>(4000); });
  vary([](auto& s) { s.parameters[0].type.dimensions[1] = std::int64_t{1} << 40; });
  vary([](auto& s) { s.parameters[0].type.dimensions[1] = -1; });
  vary([](auto& s) { s.parameters[0].minor_to_major = {0, 1}; });
  vary([](auto& s) { s.parameters[0].minor_to_major = {}; });
  vary([](auto& s) { s.parameters[0].has_tiles = true; });
  vary([](auto& s) { s.parameters[0].memory_kind = "x"; });
  vary([](auto& s) { s.parameters[0].sharding = Bytes(3, '\0'); });
  for (const Donation donation : {Donation::may_alias, Donation::must_alias, Donation::donor}) {
    vary([&](auto& s) { s.parameters[0].donation = donation; });
  }
  for (const ProgramSignature& variant : variants) {
    EXPECT_NE(variant, base);
    EXPECT_EQ(decode_signature(encode_signature(variant)).value(), variant);
  }
}

TEST(SignatureMessage, LimitsHoldBothWays) {
  ProgramSignature signature;
  signature.parameters.resize(1);
  TensorSpec& spec = signature.parameters[0];
  spec.type.dimensions.assign(limits::kMaxDimensions, 2);
  EXPECT_EQ(objection_to(signature), "");
  EXPECT_TRUE(decode_signature(encode_signature(signature)));
  spec.type.dimensions.push_back(2);
  EXPECT_NE(objection_to(signature).find("65 dimensions"), std::string::npos);
  expect_refused(decode_signature(encode_signature(signature)), "more dimensions");

  signature.parameters.assign(limits::kMaxParameters + 1, {});
  EXPECT_NE(objection_to(signature).find("1048577 parameters"), std::string::npos);
  Bytes too_many;  // field 2, empty, once more than is allowed
  for (std::uint32_t i = 0; i <= limits::kMaxParameters; ++i) too_many += Bytes("\x12\0", 2);
  expect_refused(decode_signature(too_many), "more parameters");
}

TEST(SignatureMessage, LayoutsArePermutations) {
  const std::vector<std::vector<std::int64_t>> wrong = {
      {0}, {0, 1, 2, 3}, {0, 0, 1}, {1, 2, 3}, {-1, 0, 1}, {0, 1, std::int64_t{1} << 62}};
  for (const auto& layout : wrong) {
    ProgramSignature signature;
    signature.results.resize(3);
    signature.results[2].type.dimensions = {2, 3, 4};
    signature.results[2].minor_to_major = layout;
    EXPECT_NE(objection_to(signature).find("result 2 has a layout"), std::string::npos);
    expect_refused(decode_signature(encode_signature(signature)), "result 2 has a layout");
  }
}

TEST(SignatureMessage, WrongTypesAreCorruptAndUnknownFieldsArePassedOver) {
  for (std::uint32_t tag = 1; tag <= 7; ++tag) {
    expect_refused(decode_signature(one_parameter([&](auto& w) { w.add_fixed32(tag, 1); })),
                   "field " + std::to_string(tag) + " has the wrong type");
  }
  // A list that is not packed is not ours.
  expect_refused(decode_signature(one_parameter([](auto& w) { w.add_int64(2, 4); })), "field 2");
  Bytes bytes = one_parameter([](auto& w) {
    w.add_uint64(1, 11);
    w.add_string(8, "later");
    w.add_fixed64(900, 1);
  });
  protozero::pbf_writer(bytes).add_string(4, "later");
  const auto signature = decode_signature(bytes);
  ASSERT_TRUE(signature) << signature.error().to_string();
  EXPECT_EQ(signature->parameters[0].type.element, ElementType::f32);
}

TEST(SignatureMessage, NumbersOfALaterVersion) {
  expect_refused(decode_signature(one_parameter([](auto& w) { w.add_uint64(7, 4); })),
                 "donated in a way", ErrorCode::incompatible);
  expect_refused(
      decode_signature(one_parameter([](auto& w) { w.add_uint64(1, std::uint64_t{1} << 32); })),
      "element type 4294967296");
}

TEST(SignatureMessage, ShortInputAsksForLittleMemory) {
  // A length of 2^31 in front of nothing.
  const Bytes bytes = "\x12\xFF\xFF\xFF\xFF\x07";
  const AllocationProbe probe;
  const auto result = decode_signature(bytes);
  EXPECT_LT(probe.largest(), std::size_t{1} << 16);
  expect_refused(result, "does not parse");
}

TEST(MemoryStatsMessage, RoundTripsEveryField) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const MemoryStats& stats :
       {MemoryStats{}, MemoryStats{1, 0, 0, 0, 0, 0}, MemoryStats{0, 2, 0, 0, 0, 0},
        MemoryStats{0, 0, 3, 0, 0, 0}, MemoryStats{0, 0, 0, 4, 0, 0}, MemoryStats{0, 0, 0, 0, 5, 0},
        MemoryStats{0, 0, 0, 0, 0, 6}, MemoryStats{kMin, kMax, -1, 1, kMin, kMax}}) {
    EXPECT_EQ(decode_memory_stats(encode_memory_stats(stats)).value(), stats);
  }
}

TEST(MemoryStatsMessage, IsStrict) {
  for (std::uint32_t tag = 1; tag <= 6; ++tag) {
    Bytes bytes;
    protozero::pbf_writer(bytes).add_string(tag, "1");
    expect_refused(decode_memory_stats(bytes), "field " + std::to_string(tag));
  }
  Bytes later;
  protozero::pbf_writer(later).add_int64(7, 1);
  EXPECT_EQ(decode_memory_stats(later).value(), MemoryStats{});
  expect_refused(decode_memory_stats("\x08"), "does not parse");
  expect_refused(decode_memory_stats(Bytes("\x00", 1)), "does not parse");
  expect_refused(decode_memory_stats("\x0B\x0C"), "does not parse");  // a group
}

TEST(CostMessage, RoundTripsNumbersByTheirBits) {
  const std::vector<CostItem> items = {{"flops", 1.5},
                                       {"", 0.0},
                                       {"flops", -0.0},
                                       {Bytes("a\0b", 3), std::numeric_limits<double>::infinity()},
                                       {"nan", std::numeric_limits<double>::quiet_NaN()}};
  const auto back = decode_cost_analysis(encode_cost_analysis(items));
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ((*back)[i].name, items[i].name);
    EXPECT_EQ(std::bit_cast<std::uint64_t>((*back)[i].value),
              std::bit_cast<std::uint64_t>(items[i].value));
  }
}

TEST(CostMessage, IsStrictAndLimited) {
  Bytes wrong;
  protozero::pbf_writer(wrong).add_int64(1, 1);
  expect_refused(decode_cost_analysis(wrong), "field 1");
  Bytes item;
  protozero::pbf_writer(item).add_int64(2, 1);
  Bytes wrong_item;
  protozero::pbf_writer(wrong_item).add_message(1, item);
  expect_refused(decode_cost_analysis(wrong_item), "field 2");
  std::vector<CostItem> items(limits::kMaxCostItems);
  EXPECT_EQ(decode_cost_analysis(encode_cost_analysis(items)).value().size(), items.size());
  items.emplace_back();
  expect_refused(decode_cost_analysis(encode_cost_analysis(items)), "more cost items");
}

TEST(ProvenanceMessage, EveryFieldIsKept) {
  const Provenance base = full_contents().provenance;
  EXPECT_EQ(decode_provenance(encode_provenance(base)).value(), base);
  EXPECT_EQ(decode_provenance("").value(), Provenance{});
  std::vector<Provenance> variants;
  const auto vary = [&](auto edit) {
    variants.push_back(base);
    edit(variants.back());
  };
  vary([](auto& p) { p.created_unix_s = -1; });
  vary([](auto& p) { p.compile_ms = 0; });
  for (const auto field :
       {&Provenance::host, &Provenance::precast_version, &Provenance::plugin_path,
        &Provenance::platform, &Provenance::platform_version, &Provenance::api_version,
        &Provenance::label, &Provenance::program_name}) {
    vary([&](auto& p) { p.*field = Bytes("\0x\xFF", 3); });
  }
  for (const Provenance& variant : variants) {
    EXPECT_NE(variant, base);
    EXPECT_EQ(decode_provenance(encode_provenance(variant)).value(), variant);
  }
}

TEST(ProvenanceMessage, IsStrict) {
  for (std::uint32_t tag = 1; tag <= 10; ++tag) {
    Bytes bytes;
    protozero::pbf_writer(bytes).add_fixed32(tag, 1);
    expect_refused(decode_provenance(bytes), "field " + std::to_string(tag));
  }
  Bytes later;
  protozero::pbf_writer(later).add_fixed32(11, 1);
  EXPECT_EQ(decode_provenance(later).value(), Provenance{});
}

template <typename Decode>
void expect_harmless(const Bytes& good, const Decode& decode) {
  int refused = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (!decode(BytesView(good).substr(0, size))) ++refused;
  }
  std::mt19937_64 random(9);
  for (int round = 0; round < 3000; ++round) {
    Bytes bad = good;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    if (!decode(BytesView(bad))) ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(Messages, TruncatedAndMutatedBytesDoNoHarm) {
  const ArtifactContents contents = full_contents();
  expect_harmless(encode_signature(*contents.signature), decode_signature);
  expect_harmless(encode_memory_stats(*contents.memory_stats), decode_memory_stats);
  expect_harmless(encode_cost_analysis(contents.cost_analysis), decode_cost_analysis);
  expect_harmless(encode_provenance(contents.provenance), decode_provenance);
}

}  // namespace
}  // namespace precast::artifact
