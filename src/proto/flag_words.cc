#include "proto/flag_words.h"

#include <algorithm>

namespace precast::proto {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

// XLA looks these up with strchr(), which finds the NUL at the end of every set. So a NUL, which
// only a flags file can hold, is part of a name, and quotes like a quotation mark does.
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '\0';
}
bool is_quote(char c) { return c == '"' || c == '\'' || c == '\0'; }

std::size_t skip_white_space(BytesView text, std::size_t from) {
  return std::min(text.find_first_not_of(kWhiteSpace, from), text.size());
}

std::size_t find_white_space(BytesView text, std::size_t from) {
  return std::min(text.find_first_of(kWhiteSpace, from), text.size());
}

// Appends the quoted text that begins at `at` (the quote) and returns the place behind it. A quote
// that is not closed reaches to the end. A backslash takes the next character as it is, in double
// quotes only.
std::size_t read_quoted(BytesView text, std::size_t at, std::string& word) {
  const char quote = text[at++];
  for (; at < text.size() && text[at] != quote; ++at) {
    if (quote == '"' && text[at] == '\\' && at + 1 < text.size()) ++at;
    word += text[at];
  }
  return std::min(at + 1, text.size());
}

}  // namespace

FlagWords split_flags(BytesView text) {
  FlagWords result;
  std::size_t at = skip_white_space(text, 0);
  while (at < text.size() && text[at] == '-') {
    std::size_t end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    std::string word;
    if (end + 1 < text.size() && text[end] == '=' && is_quote(text[end + 1])) {
      word = text.substr(at, end + 1 - at);
      end = read_quoted(text, end + 1, word);
    } else {
      end = find_white_space(text, end);
      word = text.substr(at, end - at);
    }
    word.resize(std::min(word.find('\0'), word.size()));
    result.words.push_back(std::move(word));
    at = skip_white_space(text, end);
  }
  while (at < text.size()) {
    const std::size_t end = find_white_space(text, at);
    result.ignored.emplace_back(text.substr(at, end - at));
    at = skip_white_space(text, end);
  }
  return result;
}

}  // namespace precast::proto
