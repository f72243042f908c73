// HLO modules as far as the fake plugin needs them: shapes, donations and counts; field numbers as
// in XLA.

#include <algorithm>
#include <array>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/program.h"

namespace precast::fake {
namespace {

constexpr std::uint32_t kTuple = 13;  // xla.PrimitiveType

// xla.PrimitiveType by PJRT_Buffer_Type.
constexpr std::array<std::uint32_t, 34> kPrimitive = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 16, 15, 18, 19,
    20, 23, 24, 25, 21, 22, 17, 26, 27, 28, 29, 33, 32, 30, 31, 36, 35};

std::string encode_shape(const TensorType& type) {
  std::string bytes;
  protozero::pbf_writer shape(bytes);
  shape.add_uint32(2, kPrimitive.at(static_cast<std::uint32_t>(type.element)));
  shape.add_packed_int64(3, type.dimensions.begin(), type.dimensions.end());
  std::vector<std::int64_t> minor_to_major;
  for (std::size_t i = type.dimensions.size(); i > 0; --i) {
    minor_to_major.push_back(static_cast<std::int64_t>(i) - 1);
  }
  std::string layout;
  protozero::pbf_writer(layout).add_packed_int64(1, minor_to_major.begin(), minor_to_major.end());
  shape.add_message(5, layout);
  const std::vector<bool> dynamic(type.dimensions.size(), false);
  shape.add_packed_bool(6, dynamic.begin(), dynamic.end());
  return bytes;
}

TensorType decode_shape(protozero::pbf_reader shape) {
  TensorType type;
  while (shape.next()) {
    if (shape.tag() == 2) {
      const auto found = std::find(kPrimitive.begin(), kPrimitive.end(), shape.get_uint32());
      if (found == kPrimitive.end()) fail(PJRT_Error_Code_INTERNAL, "unknown primitive type");
      type.element = static_cast<ElementType>(found - kPrimitive.begin());
    } else if (shape.tag() == 3) {
      for (const std::int64_t dimension : shape.get_packed_int64()) {
        type.dimensions.push_back(dimension);
      }
    } else {
      shape.skip();
    }
  }
  return type;
}

// One result stands alone, several (or none) in a tuple, as XLA does it.
std::string encode_program_shape(const Compiled& compiled) {
  std::string bytes;
  protozero::pbf_writer shape(bytes);
  for (const TensorType& type : compiled.parameters) shape.add_message(1, encode_shape(type));
  if (compiled.results.size() == 1) {
    shape.add_message(2, encode_shape(compiled.results[0]));
  } else {
    std::string tuple;
    protozero::pbf_writer writer(tuple);
    writer.add_uint32(2, kTuple);
    for (const TensorType& type : compiled.results) writer.add_message(4, encode_shape(type));
    shape.add_message(2, tuple);
  }
  return bytes;
}

void decode_result(protozero::pbf_reader shape, Compiled& compiled) {
  const protozero::pbf_reader whole = shape;
  while (shape.next()) {
    if (shape.tag() == 4) {
      compiled.results.push_back(decode_shape(shape.get_message()));
    } else if (shape.tag() == 2 && shape.get_uint32() != kTuple) {
      compiled.results = {decode_shape(whole)};
      return;
    } else if (shape.tag() != 2) {
      shape.skip();
    }
  }
}

// A donated parameter becomes the first free result of its type; one without such a result is a
// donor that the compiler may use for anything.
void encode_donations(const Compiled& compiled, protozero::pbf_writer& module) {
  std::string aliases;
  std::string donors;
  std::vector<bool> taken(compiled.results.size(), false);
  for (const std::int64_t parameter : compiled.donated) {
    std::string entry;
    protozero::pbf_writer writer(entry);
    std::size_t result = 0;
    while (result < taken.size() &&
           (taken[result] ||
            compiled.results[result] != compiled.parameters[static_cast<std::size_t>(parameter)])) {
      ++result;
    }
    if (result == taken.size()) {
      writer.add_int64(1, parameter);
      protozero::pbf_writer(donors).add_message(1, entry);
      continue;
    }
    taken[result] = true;
    if (taken.size() > 1) {
      const std::array<std::int64_t, 1> index = {static_cast<std::int64_t>(result)};
      writer.add_packed_int64(1, index.begin(), index.end());
    }
    writer.add_int64(2, parameter);
    writer.add_enum(4, 1);  // MAY_ALIAS
    protozero::pbf_writer(aliases).add_message(1, entry);
  }
  if (!aliases.empty()) module.add_message(8, aliases);
  if (!donors.empty()) module.add_message(18, donors);
}

void decode_donations(protozero::pbf_reader list, protozero::pbf_tag_type number,
                      Compiled& compiled) {
  while (list.next(1)) {
    protozero::pbf_reader entry = list.get_message();
    std::int64_t parameter = 0;  // proto3 leaves out a zero
    while (entry.next()) {
      if (entry.tag() == number) {
        parameter = entry.get_int64();
      } else {
        entry.skip();
      }
    }
    compiled.donated.push_back(parameter);
  }
}

}  // namespace

std::string encode_module(const Compiled& compiled) {
  std::string module;
  protozero::pbf_writer writer(module);
  writer.add_string(1, compiled.name);
  writer.add_string(2, "main");
  writer.add_message(4, encode_program_shape(compiled));
  encode_donations(compiled, writer);
  std::string config;
  protozero::pbf_writer(config).add_int64(4, compiled.options.replicas);
  protozero::pbf_writer(config).add_int64(5, compiled.options.partitions);
  std::string bytes;
  protozero::pbf_writer(bytes).add_message(1, module);
  protozero::pbf_writer(bytes).add_message(2, config);
  return bytes;
}

void decode_module(std::string_view module_with_config, Compiled& compiled) {
  protozero::pbf_reader outer(module_with_config.data(), module_with_config.size());
  if (!outer.next(1)) fail(PJRT_Error_Code_INTERNAL, "there is no HLO module");
  protozero::pbf_reader module = outer.get_message();
  while (module.next()) {
    switch (module.tag()) {
      case 1: compiled.name = module.get_string(); break;
      case 4: {
        protozero::pbf_reader shape = module.get_message();
        while (shape.next()) {
          if (shape.tag() == 1) {
            compiled.parameters.push_back(decode_shape(shape.get_message()));
          } else if (shape.tag() == 2) {
            decode_result(shape.get_message(), compiled);
          } else {
            shape.skip();
          }
        }
        break;
      }
      case 8: decode_donations(module.get_message(), 2, compiled); break;
      case 18: decode_donations(module.get_message(), 1, compiled); break;
      default: module.skip();
    }
  }
}

}  // namespace precast::fake
