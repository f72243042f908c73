#include "program/mlir_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace precast::program {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.' || c == '-';
}

BytesView skip_space(BytesView text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text;
}

BytesView skip_identifier(BytesView text) {
  const auto end = std::ranges::find_if_not(text, is_identifier_char);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return text;
}

// The length of the UTF-8 sequence at the front, without what Unicode forbids (overlong forms,
// surrogates, beyond U+10FFFF); 0 when it is none.
std::size_t utf8_length(BytesView text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool forbidden = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                         (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return forbidden ? 0 : length;
}

bool is_control(unsigned char c) { return (c < 0x20 && (c < '\t' || c > '\r')) || c == 0x7f; }

}  // namespace

bool is_text(BytesView bytes) {
  while (!bytes.empty()) {
    if (is_control(static_cast<unsigned char>(bytes[0]))) return false;
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

BytesView skip_comments(BytesView text) {
  text = skip_space(text);
  while (text.starts_with("//")) {
    text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
    text = skip_space(text);
  }
  return text;
}

bool begins_like_mlir(BytesView text) {
  static constexpr std::array<std::string_view, 10> kDialects = {
      "arith.",      "builtin.", "chlo.",  "func.",      "mhlo.",
      "ml_program.", "sdy.",     "shape.", "stablehlo.", "vhlo."};
  text = skip_comments(text);
  if (text.empty()) return false;
  if (text.starts_with("{-#")) return true;
  if (text[0] == '#' || text[0] == '!') {
    const BytesView behind = skip_identifier(text.substr(1));
    return behind.size() + 1 < text.size() && skip_space(behind).starts_with('=');
  }
  if (text[0] == '"') text.remove_prefix(1);
  if (std::ranges::any_of(kDialects, [&](auto dialect) { return text.starts_with(dialect); })) {
    return true;
  }
  const BytesView behind = skip_comments(skip_identifier(text));
  if (text.starts_with("func ")) return behind.starts_with('@') || behind.starts_with("private");
  const bool is_module =
      text.starts_with("module") && (text.size() == 6 || !is_identifier_char(text[6]));
  return is_module &&
         (behind.starts_with('@') || behind.starts_with('{') || behind.starts_with("attributes"));
}

}  // namespace precast::program
