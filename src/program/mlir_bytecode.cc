#include "program/mlir_bytecode.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace precast::program {
namespace {

constexpr std::string_view kMagic = "ML\xEFR";
constexpr std::size_t kMaxProducerBytes = 256;

// MLIR's varint: the zero bits at the low end of the first byte count the bytes that follow; a
// first byte of zero is followed by eight.
std::optional<std::uint64_t> take_varint(BytesView& rest) {
  if (rest.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(rest[0]);
  const auto following = static_cast<std::size_t>(first == 0 ? 8 : std::countr_zero(first));
  if (rest.size() < following + 1) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = following; i > 0; --i) {
    value = (value << 8) | static_cast<unsigned char>(rest[i]);
  }
  // The rest of the first byte is the low end of the value.
  if (first != 0)
    value = (following == 7 ? value : (value << (7 - following)) | (first >> (following + 1)));
  rest.remove_prefix(following + 1);
  return value;
}

bool take_number(std::string_view& rest, int& number) {
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return false;
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  return true;
}

bool take_char(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

}  // namespace

bool has_bytecode_magic(BytesView bytes) { return bytes.starts_with(kMagic); }

std::optional<BytecodeHead> read_bytecode_head(BytesView bytes) {
  bytes.remove_prefix(kMagic.size());
  const auto version = take_varint(bytes);
  if (!version) return std::nullopt;
  const std::size_t end = bytes.substr(0, kMaxProducerBytes + 1).find('\0');
  if (end == BytesView::npos) return std::nullopt;
  const BytesView producer = bytes.substr(0, end);
  const bool printable =
      std::ranges::all_of(producer, [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!printable) return std::nullopt;
  return BytecodeHead{*version, std::string(producer)};
}

std::optional<StablehloVersion> stablehlo_version_of(const std::string& producer) {
  constexpr std::string_view kPrefix = "StableHLO_v";
  std::string_view rest = producer;
  if (!rest.starts_with(kPrefix)) return std::nullopt;
  rest.remove_prefix(kPrefix.size());
  StablehloVersion version;
  const bool ok = take_number(rest, version.major) && take_char(rest, '.') &&
                  take_number(rest, version.minor) && take_char(rest, '.') &&
                  take_number(rest, version.patch) && rest.empty();
  return ok ? std::optional(version) : std::nullopt;
}

}  // namespace precast::program
