#include "cli/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace precast::cli {
namespace {

using ::testing::HasSubstr;

// A version 1 file: the literal, padded, and the data.
Bytes npy(const std::string& literal, const Bytes& data, char version = 1) {
  std::string header = literal + "\n";
  Bytes bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1) bytes += Bytes(2, '\0');
  return bytes + header + data;
}

Bytes floats(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string literal(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

std::string error_of(const Bytes& bytes, const TensorType* wanted = nullptr) {
  const auto tensor = decode_npy(bytes, wanted);
  return tensor ? "no error" : tensor.error().message();
}

TEST(Npy, ReadsEveryVersion) {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto tensor =
        decode_npy(npy(literal("<f4", "(2, 2)"), floats({1, 2, 3, 4}), version), nullptr);
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    EXPECT_EQ(tensor->type, (TensorType{ElementType::f32, {2, 2}}));
    EXPECT_EQ(tensor->data, floats({1, 2, 3, 4}));
  }
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  const auto scalar = decode_npy(npy(literal("<f4", "()"), floats({5})), nullptr);
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->type.to_string(), "f32[]");
  const auto empty = decode_npy(npy(literal("<f4", "(0, 7)", true), ""), nullptr);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->type.to_string(), "f32[0,7]");
}

TEST(Npy, TransposesFortranOrder) {
  // [[1, 2, 3], [4, 5, 6]] column by column.
  const auto tensor =
      decode_npy(npy(literal("<f4", "(2, 3)", true), floats({1, 4, 2, 5, 3, 6})), nullptr);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->data, floats({1, 2, 3, 4, 5, 6}));
}

TEST(Npy, KnowsEveryNumpyType) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"|b1", "pred[1]"}, {"|i1", "s8[1]"},  {"<i2", "s16[1]"}, {"<i4", "s32[1]"},
      {"<i8", "s64[1]"},  {"|u1", "u8[1]"},  {"<u2", "u16[1]"}, {"<u4", "u32[1]"},
      {"<u8", "u64[1]"},  {"<f2", "f16[1]"}, {"<f8", "f64[1]"}, {"<c8", "c64[1]"},
      {"<c16", "c128[1]"}};
  for (const auto& [descr, type] : cases) {
    const auto header = parse_npy_header(npy(literal(descr, "(1,)"), ""));
    ASSERT_TRUE(header) << descr;
    const std::size_t size = descr == "<c16" ? 16 : static_cast<std::size_t>(descr[2] - '0');
    const auto tensor = decode_npy(npy(literal(descr, "(1,)"), Bytes(size, '\0')), nullptr);
    ASSERT_TRUE(tensor) << descr << tensor.error().to_string();
    EXPECT_EQ(tensor->type.to_string(), type);
  }
}

TEST(Npy, TakesRawValuesForTypesThatNumpyLacks) {
  const TensorType bf16{ElementType::bf16, {2}};
  for (const char* descr : {"<V2", "|V2", "<u2"}) {
    const auto tensor = decode_npy(npy(literal(descr, "(2,)"), Bytes(4, '\1')), &bf16);
    ASSERT_TRUE(tensor) << descr;
    EXPECT_EQ(tensor->type, bf16);
  }
  const TensorType f8{ElementType::f8e5m2, {2}};
  EXPECT_TRUE(decode_npy(npy(literal("<f1", "(2,)"), Bytes(2, '\1')), &f8));
  EXPECT_TRUE(decode_npy(npy(literal("|u1", "(2,)"), Bytes(2, '\1')), &f8));
  // Two bytes are not one, and f16 has a name of its own.
  EXPECT_THAT(error_of(npy(literal("<u2", "(2,)"), Bytes(4, '\1')), &f8), HasSubstr("f8e5m2[2]"));
  const TensorType f16{ElementType::f16, {2}};
  EXPECT_THAT(error_of(npy(literal("<u2", "(2,)"), Bytes(4, '\1')), &f16),
              HasSubstr("astype('float16')"));
}

TEST(Npy, SaysWhatDiffersFromWhatIsWanted) {
  const TensorType wanted{ElementType::f32, {2}};
  EXPECT_EQ(error_of(npy(literal("<f8", "(2,)"), Bytes(16, '\0')), &wanted),
            "it holds f64[2], but f32[2] is wanted; save it as x.astype('float32')");
  EXPECT_EQ(error_of(npy(literal("<f4", "(3,)"), Bytes(12, '\0')), &wanted),
            "it holds f32[3], but f32[2] is wanted");
  EXPECT_EQ(error_of(npy(literal(">f4", "(2,)"), Bytes(8, '\0')), &wanted),
            "its values are big-endian ('>f4'); save it as x.astype('<f4')");
  EXPECT_THAT(error_of(npy(literal("<U3", "(2,)"), Bytes(24, '\0')), &wanted),
              HasSubstr("type '<U3', but f32[2] is wanted"));
}

TEST(Npy, NeverLoadsObjectsOrStructures) {
  EXPECT_THAT(error_of(npy(literal("|O", "(1,)"), "\x80\x03]q")), HasSubstr("Python objects"));
  EXPECT_THAT(error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                           Bytes(4, '\0'))),
              HasSubstr("structures"));
}

TEST(Npy, RefusesWhatIsNoArray) {
  EXPECT_EQ(error_of(""), "it is empty");
  EXPECT_THAT(error_of("PK\3\4 and so on"), HasSubstr("npz"));
  EXPECT_THAT(error_of("GIF89a and so on"), HasSubstr("not a .npy file"));
  EXPECT_THAT(error_of(npy(literal("<f4", "(1,)"), floats({1}), 4)), HasSubstr("version 4"));
  const Bytes whole = npy(literal("<f4", "(2,)"), floats({1, 2}));
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("1 bytes follow"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
  }
}

TEST(Npy, RefusesHeadersThatAreNoDictionaryOfThreeKeys) {
  for (const char* bad :
       {"", "{", "{}", "[]", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1"}) {
    EXPECT_FALSE(parse_npy_header(npy(bad, ""))) << bad;
  }
  EXPECT_TRUE(parse_npy_header(
      npy("{\"shape\": (3L, 4), \"fortran_order\": True, \"descr\": \"<f4\"}", "")));
}

TEST(Npy, RefusesSizesThatOverflow) {
  EXPECT_THAT(error_of(npy(literal("<f8", "(4294967296, 4294967296, 4294967296)"), "")),
              HasSubstr("too large"));
  std::string shape = "(";
  for (int i = 0; i < 100; ++i) shape += "1, ";
  EXPECT_THAT(error_of(npy(literal("<f8", shape + ")"), Bytes(8, '\0'))), HasSubstr("dimensions"));
}

TEST(Npy, RefusesBooleansThatAreNone) {
  EXPECT_THAT(error_of(npy(literal("|b1", "(2,)"), Bytes("\1\2", 2))),
              HasSubstr("neither 0 nor 1"));
}

TEST(Npy, WritesWhatItReads) {
  const std::vector<TensorType> types = {
      {ElementType::f32, {}},         {ElementType::f32, {3}},     {ElementType::pred, {2, 3}},
      {ElementType::c128, {1, 2, 3}}, {ElementType::bf16, {4, 2}}, {ElementType::s4, {5}}};
  for (const TensorType& type : types) {
    const auto header = npy_header_for(type);
    ASSERT_TRUE(header) << type.to_string();
    EXPECT_EQ(header->size() % 64, 0U) << type.to_string();
    const Bytes data(static_cast<std::size_t>(*type.host_bytes()), '\1');
    const auto tensor = decode_npy(*header + data, &type);
    ASSERT_TRUE(tensor) << tensor.error().to_string();
    EXPECT_EQ(tensor->data, data);
  }
  EXPECT_FALSE(npy_header_for({ElementType::token, {}}));
}

TEST(Npy, WritesTheHeaderAsNumpyDoes) {
  const auto header = npy_header_for({ElementType::f32, {2, 3}});
  ASSERT_TRUE(header);
  EXPECT_EQ(header->substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header->back(), '\n');
}

}  // namespace
}  // namespace precast::cli
