// Prints the structural digest of programs as JSON lines, in the order in which they come.
//
//   program_digest_dump FILE...     one line per file
//   program_digest_dump --framed    standard input: a size (4 bytes, little-endian), then the
//   bytes,
//                                   again and again; every line is flushed
//
// {"name": ..., "format": "bytecode"|"text", "bytes": n, "us": time of the digest,
//  "sha256": ... or "error": ..., "plain": [...], "index_bound": [...], "process_bound": [...]}
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "program/bytecode/bytecode_digest.h"
#include "program/text_digest.h"

namespace {

using precast::BytesView;
using precast::Result;
using precast::program::StructuralDigest;

void print(const std::string& name, BytesView bytes) {
  const bool is_bytecode = bytes.starts_with("ML\xefR");
  const auto start = std::chrono::steady_clock::now();
  const Result<StructuralDigest> digest =
      is_bytecode ? precast::program::digest_bytecode(bytes) : precast::program::digest_text(bytes);
  const auto time = std::chrono::steady_clock::now() - start;
  nlohmann::json line;
  line["name"] = name;
  line["format"] = is_bytecode ? "bytecode" : "text";
  line["bytes"] = bytes.size();
  line["us"] = std::chrono::duration<double, std::micro>(time).count();
  if (digest) {
    line["sha256"] = digest->sha256.hex();
    line["plain"] = digest->custom_calls.plain;
    line["index_bound"] = digest->custom_calls.index_bound;
    line["process_bound"] = digest->custom_calls.process_bound;
  } else {
    line["error"] = digest.error().to_string();
  }
  std::cout << line.dump() << std::endl;
}

int run_framed() {
  std::array<unsigned char, 4> size_bytes{};
  for (int n = 0; std::cin.read(reinterpret_cast<char*>(size_bytes.data()), size_bytes.size());
       ++n) {
    std::uint32_t size = 0;
    for (std::size_t i = size_bytes.size(); i-- > 0;) size = size << 8 | size_bytes[i];
    std::string bytes(size, '\0');
    if (!std::cin.read(bytes.data(), size)) return 1;
    print(std::to_string(n), bytes);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--framed") return run_framed();
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::cerr << "cannot read '" << argv[i] << "'\n";
      return 1;
    }
    print(argv[i], std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return 0;
}
