#include <gtest/gtest.h>

#include <random>

#include "precast/limits.h"
#include "proto/executable_view.h"
#include "proto/shape_proto.h"
#include "proto/test_messages.h"

namespace precast::proto {
namespace {

using testing::number;
using testing::packed;
using testing::test_data;
using testing::text;

constexpr std::int64_t kF32 = 11;
constexpr std::int64_t kTuple = 13;

Bytes array(std::initializer_list<std::int64_t> dimensions, const Bytes& more = {}) {
  return number(2, kF32) + packed(3, dimensions) + more;
}

Bytes tuple(std::initializer_list<Bytes> parts) {
  Bytes shape = number(2, kTuple);
  for (const Bytes& part : parts) shape += text(4, part);
  return shape;
}

Bytes layout(std::initializer_list<std::int64_t> minor_to_major, const Bytes& more = {}) {
  return text(5, packed(1, minor_to_major) + more);
}

Bytes program_shape(std::initializer_list<Bytes> parameters, const Bytes& result) {
  Bytes shape;
  for (const Bytes& parameter : parameters) shape += text(1, parameter);
  return shape + text(2, result);
}

Bytes module_of(const Bytes& shape, const Bytes& more = {}, const Bytes& config = {}) {
  return text(1, text(1, "m") + text(4, shape) + more) + text(2, config);
}

std::vector<std::string> texts(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> all;
  for (const TensorSpec& spec : specs) all.push_back(spec.to_string());
  return all;
}

std::vector<Donation> donations(const ProgramSignature& signature) {
  std::vector<Donation> all;
  for (const TensorSpec& spec : signature.parameters) all.push_back(spec.donation);
  return all;
}

using Texts = std::vector<std::string>;
using Donations = std::vector<Donation>;

ProgramSignature real(const std::string& name) {
  auto signature = signature_from_optimized_program(test_data("optimized/" + name + ".binpb"));
  EXPECT_TRUE(signature) << signature.error().to_string();
  return signature ? *signature : ProgramSignature();
}

ErrorCode code_of(const Bytes& bytes) {
  const auto signature = signature_from_optimized_program(bytes);
  EXPECT_FALSE(signature);
  return signature ? ErrorCode::internal : signature.error().code();
}

// What the CPU plugin (0.115) gave for small programs whose types are known from their source.

TEST(RealSignature, SeveralTypesAndResults) {
  const ProgramSignature signature = real("multi");
  EXPECT_EQ(signature.name, "multi");
  EXPECT_EQ(texts(signature.parameters), (Texts{"f32[2,3]", "pred[]", "u4[4]"}));
  EXPECT_EQ(texts(signature.results), (Texts{"f32[2,3]", "pred[]", "f32[3,2]"}));
  EXPECT_EQ(donations(signature), Donations(3, Donation::none));
}

TEST(RealSignature, AProgramWithoutResults) {
  const ProgramSignature signature = real("empty");
  EXPECT_EQ(texts(signature.parameters), Texts{"f32[4]"});
  EXPECT_EQ(signature.results, std::vector<TensorSpec>{});
}

TEST(RealSignature, DonatedParameters) {
  // The first was given for a result, the second as a donor, which the compiler gave to the other
  // result; the third was kept.
  EXPECT_EQ(donations(real("donate")),
            (Donations{Donation::may_alias, Donation::may_alias, Donation::none}));
}

TEST(RealSignature, TupledArgumentsStandFlatAsExecuteTakesThem) {
  const ProgramSignature signature = real("tupledonate");
  EXPECT_EQ(texts(signature.parameters), (Texts{"f32[2]", "f32[4]"}));
  EXPECT_EQ(donations(signature), (Donations{Donation::none, Donation::may_alias}));
}

TEST(RealSignature, AfterPartitioningShapesAreThoseOfOneDevice) {
  // f32[8,4] over two devices.
  const ProgramSignature signature = real("spmd");
  EXPECT_EQ(texts(signature.parameters), (Texts{"f32[4,4]", "f32[4]"}));
  EXPECT_EQ(texts(signature.results), Texts{"f32[4,4]"});
  EXPECT_FALSE(signature.results[0].sharding.empty());
}

TEST(RealSignature, LayoutsAreThoseThatWereCompiledFor) {
  const ProgramSignature signature = real("layout");
  EXPECT_EQ(texts(signature.parameters), Texts{"f32[2,3]{0,1}"});
  EXPECT_EQ(texts(signature.results), Texts{"f32[2,3]{0,1}"});
}

TEST(ElementTypeOf, EveryPrimitiveTypeThatABufferHas) {
  using enum ElementType;
  const std::pair<std::uint64_t, ElementType> kTypes[] = {
      {1, pred},        {2, s8},          {3, s16},
      {4, s32},         {5, s64},         {6, u8},
      {7, u16},         {8, u32},         {9, u64},
      {10, f16},        {11, f32},        {12, f64},
      {15, c64},        {16, bf16},       {17, token},
      {18, c128},       {19, f8e5m2},     {20, f8e4m3fn},
      {21, s4},         {22, u4},         {23, f8e4m3b11fnuz},
      {24, f8e5m2fnuz}, {25, f8e4m3fnuz}, {26, s2},
      {27, u2},         {28, f8e4m3},     {29, f8e3m4},
      {30, s1},         {31, u1},         {32, f4e2m1fn},
      {33, f8e8m0fnu},  {35, f6e3m2fn},   {36, f6e2m3fn}};
  for (const auto& [primitive, element] : kTypes) EXPECT_EQ(element_type_of(primitive), element);
  for (const std::uint64_t none : {0u, 13u, 14u, 34u, 37u, 1000000u}) {
    EXPECT_EQ(element_type_of(none), std::nullopt) << none;
  }
}

TEST(Signature, NestedTuplesStandDepthFirst) {
  const Bytes shape =
      program_shape({array({1}), tuple({array({2}), tuple({array({3}), tuple({})}), array({4})})},
                    tuple({tuple({array({5})}), array({6})}));
  const auto signature = signature_from_optimized_program(module_of(shape));
  ASSERT_TRUE(signature);
  EXPECT_EQ(texts(signature->parameters), (Texts{"f32[1]", "f32[2]", "f32[3]", "f32[4]"}));
  EXPECT_EQ(texts(signature->results), (Texts{"f32[5]", "f32[6]"}));
}

TEST(Signature, DonationFindsItsTensorInATuple) {
  const Bytes shape =
      program_shape({tuple({array({1}), tuple({array({2}), array({3})})}), array({4})}, array({1}));
  const auto alias = [](const Bytes& entry) { return text(8, text(1, entry)); };
  const auto donated = [](const Bytes& entry) { return text(18, text(1, entry)); };
  const auto get = [&](const Bytes& more) {
    return donations(signature_from_optimized_program(module_of(shape, more)).value());
  };
  using enum Donation;
  EXPECT_EQ(get(alias(number(2, 0) + packed(3, {1, 0}) + number(4, 1))),
            (Donations{none, may_alias, none, none}));
  EXPECT_EQ(get(alias(number(2, 0) + packed(3, {1, 1}) + number(4, 2))),
            (Donations{none, none, must_alias, none}));
  EXPECT_EQ(get(alias(number(2, 1) + number(4, 2))), (Donations{none, none, none, must_alias}));
  EXPECT_EQ(get(donated(packed(2, {0}))), (Donations{donor, none, none, none}));
  EXPECT_EQ(get(donated(number(1, 1))), (Donations{none, none, none, donor}));
  // A path that is not packed, one to a tuple, one to nothing.
  EXPECT_EQ(get(alias(number(3, 1) + number(3, 1) + number(4, 1))),
            (Donations{none, none, may_alias, none}));
  EXPECT_EQ(get(alias(packed(3, {1}) + number(4, 1))), Donations(4, none));
  EXPECT_EQ(get(alias(packed(3, {7}) + number(4, 1))), Donations(4, none));
  // What becomes a result says more than what may be used for anything.
  EXPECT_EQ(get(alias(number(2, 1) + number(4, 1)) + donated(number(1, 1))),
            (Donations{none, none, none, may_alias}));
}

TEST(Signature, LayoutsComeFromTheEntryLayoutWhenThereIsOne) {
  const Bytes shape = program_shape({array({2, 3}, layout({1, 0}))}, array({2, 3}));
  const Bytes entry = program_shape({array({2, 3}, layout({0, 1}))}, array({2, 3}, layout({0, 1})));
  const auto without = signature_from_optimized_program(module_of(shape)).value();
  EXPECT_EQ(texts(without.parameters), Texts{"f32[2,3]"});
  EXPECT_EQ(without.results[0].minor_to_major, (std::vector<std::int64_t>{1, 0}));
  const auto with = signature_from_optimized_program(module_of(shape, {}, text(1, entry))).value();
  EXPECT_EQ(texts(with.parameters), Texts{"f32[2,3]{0,1}"});
  EXPECT_EQ(texts(with.results), Texts{"f32[2,3]{0,1}"});
}

TEST(Signature, LayoutsThatMoreThanTheOrderTellsAreMarked) {
  const auto tiled = [](const Bytes& more, std::int64_t element = kF32) {
    const Bytes shape = number(2, element) + packed(3, {2, 3}) + layout({1, 0}, more);
    return signature_from_optimized_program(module_of(program_shape({shape}, tuple({}))))
        .value()
        .parameters[0]
        .has_tiles;
  };
  EXPECT_FALSE(tiled({}));
  EXPECT_FALSE(tiled(number(16, 1)));     // no padding
  EXPECT_FALSE(tiled(number(8, 5)));      // host memory
  EXPECT_FALSE(tiled(number(7, 32)));     // f32 in 32 bits
  EXPECT_FALSE(tiled(number(7, 4), 22));  // u4 in 4 bits
  EXPECT_FALSE(tiled(number(11, 0)));     // no index type
  EXPECT_TRUE(tiled(text(6, packed(1, {8, 128}))));
  EXPECT_TRUE(tiled(number(16, 2)));
  EXPECT_TRUE(tiled(number(7, 1), 1));       // packed booleans
  EXPECT_TRUE(tiled(text(10, array({1}))));  // sparse
  EXPECT_TRUE(tiled(number(15, 8)));         // a prefix
  EXPECT_TRUE(tiled(text(99, "")));          // not known
}

TEST(Signature, ADynamicDimensionIsMarked) {
  const Bytes shape =
      program_shape({array({4}, packed(6, {1})), array({4}, packed(6, {0}))}, tuple({}));
  const auto signature = signature_from_optimized_program(module_of(shape)).value();
  EXPECT_TRUE(signature.parameters[0].has_tiles);
  EXPECT_FALSE(signature.parameters[1].has_tiles);
}

TEST(Signature, ShardingsGoToTheirTensors) {
  const Bytes shape = program_shape({array({4}), array({4})}, tuple({array({1}), array({2})}));
  const Bytes a = number(1, 3) + packed(3, {2});
  const Bytes b = number(1, 0);
  const Bytes pair = number(1, 2) + text(5, a) + text(5, b);
  const auto get = [&](const Bytes& more) {
    return signature_from_optimized_program(module_of(shape, more)).value();
  };
  const auto both = get(text(14, a) + text(14, b) + text(12, pair));
  EXPECT_EQ(both.parameters[0].sharding, a);
  EXPECT_EQ(both.parameters[1].sharding, b);
  EXPECT_EQ(both.results[0].sharding, a);
  EXPECT_EQ(both.results[1].sharding, b);
  // One sharding for two parameters, or for a pair of results, is not guessed about.
  const auto one = get(text(14, a) + text(12, a));
  EXPECT_EQ(one.parameters[0].sharding, "");
  EXPECT_EQ(one.results[0].sharding, "");
  EXPECT_EQ(get(text(12, number(1, 2) + text(5, a))).results[0].sharding, "");
}

TEST(HostileSignature, ContradictionsAreCorrupt) {
  const Bytes sound = program_shape({array({4})}, array({4}));
  EXPECT_EQ(code_of(""), ErrorCode::corrupt);
  EXPECT_EQ(code_of("\x08"), ErrorCode::corrupt);
  EXPECT_EQ(code_of(text(1, text(1, "m"))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of("")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(sound + text(2, array({4})))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(program_shape({array({-1})}, array({4})))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(program_shape({array({4}, text(4, array({1})))}, array({4})))),
            ErrorCode::corrupt);
  for (const auto& bad :
       {layout({1}), layout({0, 0}), layout({0, 2}), layout({0, -1}), layout({0, 1, 2})}) {
    EXPECT_EQ(code_of(module_of(program_shape({array({2, 3}, bad)}, array({4})))),
              ErrorCode::corrupt);
  }
  EXPECT_EQ(code_of(module_of(sound, text(8, text(1, number(2, 1) + number(4, 1))))),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(sound, text(18, text(1, number(1, -1))))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(sound, {}, text(1, program_shape({array({5})}, array({4}))))),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(sound, {}, text(1, program_shape({}, array({4}))))),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of(module_of(sound, text(12, "\x08"))), ErrorCode::corrupt);
}

TEST(HostileSignature, TypesThatNoBufferHasAreUnsupported) {
  for (const std::int64_t type : {0, 14, 34, 37, 999}) {
    EXPECT_EQ(code_of(module_of(program_shape({number(2, type)}, array({4})))),
              ErrorCode::unsupported)
        << type;
  }
}

TEST(HostileSignature, LimitsHoldWithoutMuchMemoryOrDepth) {
  Bytes deep = tuple({});
  for (int i = 0; i < 20 * limits::kMaxNesting; ++i) deep = tuple({deep});
  EXPECT_EQ(code_of(module_of(program_shape({deep}, array({4})))), ErrorCode::corrupt);
  const Bytes empty_tuple = tuple({});
  Bytes wide = number(2, kTuple);
  for (std::uint32_t i = 0; i <= limits::kMaxParameters; ++i) wide += text(4, empty_tuple);
  EXPECT_EQ(code_of(module_of(program_shape({wide}, array({4})))), ErrorCode::corrupt);
  const Bytes rank = number(2, kF32) + text(3, Bytes(limits::kMaxDimensions + 1, '\1'));
  EXPECT_EQ(code_of(module_of(program_shape({rank}, array({4})))), ErrorCode::corrupt);
  const Bytes huge = number(2, kF32) + text(3, Bytes(std::size_t{1} << 22, '\1'));
  EXPECT_EQ(code_of(module_of(program_shape({huge}, array({4})))), ErrorCode::corrupt);
}

TEST(HostileSignature, TruncationsAndMutationsNeverCrash) {
  std::mt19937 random(17);
  for (const char* name : {"multi", "donate", "tupledonate", "spmd", "layout"}) {
    const Bytes whole = test_data(std::string("optimized/") + name + ".binpb");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      (void)signature_from_optimized_program(BytesView(whole).substr(0, size));
    }
    for (int round = 0; round < 3000; ++round) {
      Bytes changed = whole;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      const auto signature = signature_from_optimized_program(changed);
      if (!signature) continue;
      for (const TensorSpec& spec : signature->parameters) {
        ASSERT_EQ(spec.minor_to_major.size(), spec.type.dimensions.size());
      }
    }
  }
}

}  // namespace
}  // namespace precast::proto
