#include "program/look_alike.h"

#include <array>
#include <cstdint>

#include "base/little_endian.h"
#include "program/hlo_proto.h"
#include "program/mlir_text.h"

namespace precast::program {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  const char* what;
};

constexpr auto kMagics = std::to_array<Magic>({
    {"\x9EPCA"sv,
     "is a Precast artifact, not a program; give it to 'precast run' or 'precast "
     "inspect'"},
    {"\x1f\x8b"sv, "is compressed with gzip; decompress it first"},
    {"\x28\xb5\x2f\xfd"sv, "is compressed with zstd; decompress it first"},
    {"\xfd"
     "7zXZ"sv,
     "is compressed with xz; decompress it first"},
    {"PK\x03\x04"sv, "is a zip archive (or .npz); unpack it first"},
    {"\x93NUMPY"sv, "is a NumPy array; arrays are inputs (--input), not programs"},
    {"\x7f"
     "ELF"sv,
     "is an ELF file; a plugin goes to --plugin"},
    {"\x83\xaf\x70\xd1"sv,
     "is a Riegeli file, probably an executable that a plugin serialized; "
     "Precast compiles programs"},
    {"\x80\x04\x95"sv,
     "is a Python pickle; Precast never reads those. Export the program with "
     "jax.export and take its mlir_module_serialized"},
    {"BC\xC0\xDE"sv, "is LLVM bitcode; Precast takes StableHLO"},
});

// A flatbuffer has no magic: four bytes say where its root table is, and the table says where its
// description is, in front of it. One that holds MLIR bytecode is what jax.export writes.
bool looks_like_jax_export(BytesView bytes) {
  if (bytes.size() < 16 || bytes.find("ML\xEFR"sv) == BytesView::npos) return false;
  const std::uint64_t root = base::read_little_endian<std::uint32_t>(bytes, 0);
  if (root < 4 || root % 2 != 0 || root + 4 > bytes.size()) return false;
  const auto back = static_cast<std::int32_t>(
      base::read_little_endian<std::uint32_t>(bytes, static_cast<std::size_t>(root)));
  const std::int64_t table = static_cast<std::int64_t>(root) - back;
  if (table < 4 || table + 4 > static_cast<std::int64_t>(bytes.size())) return false;
  const auto size = base::read_little_endian<std::uint16_t>(bytes, static_cast<std::size_t>(table));
  constexpr std::uint16_t kMaxTableBytes = 256;
  return size >= 4 && size % 2 == 0 && size <= kMaxTableBytes;
}

std::string text_look_alike(BytesView text) {
  if (text.starts_with("HloModule")) {
    return "is HLO text, which no plugin takes; convert it to StableHLO or to a serialized "
           "xla.HloModuleProto first";
  }
  if (text.empty()) return "holds only white space and comments";
  constexpr std::size_t kShown = 24;
  const BytesView line = text.substr(0, text.find_first_of("\r\n"));
  return "is text, but begins with '" + std::string(line.substr(0, kShown)) +
         "' and not like StableHLO (module, func.func, an alias)";
}

}  // namespace

std::string look_alike(BytesView bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes)) return magic.what;
  }
  if (is_text(bytes)) return text_look_alike(skip_comments(bytes));
  if (looks_like_serialized_executable(bytes)) {
    return "is an executable that a plugin serialized; Precast compiles programs and loads "
           "artifacts";
  }
  if (looks_like_wrapped_hlo_module(bytes)) {
    return "is an xla.HloProto (XLA dumps those) or an xla.HloModuleProtoWithConfig; take its "
           "hlo_module, field 1";
  }
  if (looks_like_jax_export(bytes)) {
    return "looks like a jax.export file; write its mlir_module_serialized to a file and give that";
  }
  return "";
}

}  // namespace precast::program
