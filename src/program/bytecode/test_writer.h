// Writes small bytecode files for tests: valid ones, and ones that are wrong in one place.
//
//   TestFile file;
//   const auto f32 = file.type("builtin", number(5));
//   file.body({.name = file.op("stablehlo", "abs"), .results = {f32}});
//   const Bytes bytes = file.finish();
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/bytes.h"

namespace precast::program::bytecode {

// Encodings of the format. They return bytes to be joined with +.
Bytes number(std::uint64_t value);
// As number(), in the longest form that the format allows.
Bytes long_number(std::uint64_t value);
Bytes byte(unsigned value);
Bytes list(const std::vector<Bytes>& items);
Bytes blob(BytesView bytes);

// An operation holds regions, which hold blocks, which hold operations. Inside of a class, the
// defaults are looked at when all of them are complete.
struct TestIr {
  struct Region;

  struct Op {
    std::uint64_t name = 0;
    std::uint64_t location = 0;
    std::optional<std::uint64_t> dictionary = {};
    std::optional<std::uint64_t> properties = {};
    std::vector<std::uint64_t> results = {};   // types
    std::vector<std::uint64_t> operands = {};  // values
    std::vector<std::uint64_t> successors = {};
    Bytes use_lists = {};  // encoded; empty: none
    bool isolated = false;
    std::vector<Region> regions = {};
  };

  struct Block {
    struct Argument {
      std::uint64_t type = 0;
      std::optional<std::uint64_t> location = {};  // 0 where the version demands one
    };
    std::vector<Argument> arguments = {};
    Bytes use_lists = {};
    std::vector<Op> ops = {};
  };

  struct Region {
    std::uint64_t values = 0;
    std::vector<Block> blocks = {};
  };
};
using TestOp = TestIr::Op;
using TestBlock = TestIr::Block;
using TestRegion = TestIr::Region;

class TestFile {
 public:
  explicit TestFile(std::uint64_t bytecode_version = 6);

  // Each returns the index of the thing; strings, dialects and operation names are entered once.
  std::uint64_t string(const std::string& text);
  std::uint64_t dialect(const std::string& name);
  std::uint64_t op(const std::string& dialect_name, const std::string& name,
                   bool registered = true);
  std::uint64_t attribute(const std::string& dialect_name, const Bytes& encoded);
  std::uint64_t type(const std::string& dialect_name, const Bytes& encoded);
  std::uint64_t attribute_text(const std::string& dialect_name, const std::string& text);
  std::uint64_t type_text(const std::string& dialect_name, const std::string& text);
  std::uint64_t property_set(const Bytes& encoded);
  // Returns the handle.
  std::uint64_t resource(const std::string& dialect_name, const std::string& key,
                         BytesView content);
  void external_resource(const std::string& group, const std::string& key,
                         const std::string& value);
  void dialect_version(const std::string& dialect_name, const Bytes& version);

  // Attributes of builtin that many tests need.
  std::uint64_t string_attribute(const std::string& text);
  std::uint64_t symbol_reference(const std::string& text);
  std::uint64_t array(const std::vector<std::uint64_t>& items);
  std::uint64_t dictionary(const std::vector<std::pair<std::string, std::uint64_t>>& items);
  std::uint64_t location();

  // A module with the operations in its only block. The attributes are the module's own.
  void body(const std::vector<TestOp>& ops,
            const std::vector<std::pair<std::string, std::uint64_t>>& attributes = {});
  // The program, if it is not what body() makes.
  void root(const TestOp& op) { ir_ = number(2) + encode(op); }
  void raw_ir(const Bytes& ir) { ir_ = ir; }

  std::string producer = "precast test";
  std::vector<int> section_order = {1, 3, 2, 4, 6, 5, 0, 8};
  // What section() returned is replaced by `content`, or added.
  void replace_section(int id, const Bytes& content) { replaced_[id] = content; }

  Bytes finish() const;

 private:
  struct Entry {
    std::uint64_t dialect;
    Bytes bytes;
    bool encoded;
  };
  struct Resource {
    std::string key;
    Bytes bytes;
    unsigned kind;
  };

  Bytes encode(const TestOp& op) const;
  Bytes encode(const TestBlock& block) const;
  Bytes encode(const TestRegion& region) const;
  Bytes section(int id) const;
  Bytes string_section() const;
  Bytes dialect_section() const;
  Bytes size_section() const;
  Bytes resource_sizes() const;
  std::uint64_t known_string(const std::string& text) const;

  std::uint64_t version_;
  std::vector<std::string> strings_;
  std::vector<std::string> dialects_;
  std::map<std::uint64_t, Bytes> dialect_versions_;
  struct Name {
    std::uint64_t dialect;
    std::string name;
    bool registered;
  };
  std::vector<Name> ops_;
  std::vector<Entry> attributes_;
  std::vector<Entry> types_;
  std::vector<Bytes> properties_;
  std::map<std::string, std::vector<Resource>> external_resources_;
  std::vector<std::pair<std::uint64_t, Resource>> resources_;
  std::map<int, Bytes> replaced_;
  Bytes ir_;
};

}  // namespace precast::program::bytecode
