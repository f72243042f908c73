#include "program/text_lexer.h"

#include <algorithm>
#include <array>

namespace precast::program {
namespace {

enum CharClass : std::uint8_t {
  kSpace = 1,
  kLetter = 2,  // also '_'
  kDigit = 4,
  kInName = 8,     // letters, digits, '_', '$', '.'
  kInSuffix = 16,  // what may follow %, ^, @, #, !: also '-'
  kSign = 32,
  kPunctuation = 64,
};

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view chars, std::uint8_t bits) {
    for (const char c : chars) classes[static_cast<unsigned char>(c)] |= bits;
  };
  add(" \t\r\n", kSpace);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", kLetter | kInName | kInSuffix);
  add("0123456789", kDigit | kInName | kInSuffix);
  add("$.", kInName | kInSuffix);
  add("-", kInSuffix);
  add("+-", kSign);
  add("()[]{}<>,=:;+-*?|/!#%^@&.~'`$\\", kPunctuation);
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is(char c, int bits) { return (kClasses[static_cast<unsigned char>(c)] & bits) != 0; }

}  // namespace

Token TextLexer::next() {
  if (!skip_space()) return invalid("a character that MLIR text does not have");
  if (at_ == text_.size()) return {};
  const char c = text_[at_];
  if (is(c, kLetter | kDigit)) return word();
  switch (c) {
    case '"': return string(0, TokenKind::string);
    case '%':
    case '^':
    case '!': return prefixed(TokenKind::sigil);
    case '#': return prefixed(TokenKind::hash);
    case '@':
      if (text_.substr(at_ + 1).starts_with('"')) return string(1, TokenKind::symbol);
      return prefixed(TokenKind::symbol);
    default: return punctuation();
  }
}

// False when what follows is neither space nor the beginning of a token.
bool TextLexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is(c, kSpace)) {
      ++at_;
    } else if (c == '/' && text_.substr(at_ + 1).starts_with('/')) {
      // As for MLIR, either of the two ends a comment.
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else {
      return c == '"' || is(c, kInName | kPunctuation);
    }
  }
  return true;
}

Token TextLexer::take(TokenKind kind, std::size_t size) {
  const Token token{.kind = kind, .text = text_.substr(at_, size)};
  at_ += size;
  return token;
}

Token TextLexer::invalid(const char* problem) {
  problem_ = problem;
  return {.kind = TokenKind::invalid, .text = text_.substr(at_, 1)};
}

Token TextLexer::word() {
  const bool number = is(text_[at_], kDigit);
  std::size_t end = at_ + 1;
  while (end < text_.size()) {
    const char c = text_[end];
    // The exponent of a float belongs to it: "1.0e+2" is one token, "1.0e + 2" is not.
    const bool exponent =
        number && is(c, kSign) && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (!is(c, kInName) && !exponent) break;
    ++end;
  }
  return take(TokenKind::word, end - at_);
}

Token TextLexer::string(std::size_t prefix, TokenKind kind) {
  for (std::size_t end = at_ + prefix + 1; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '"') return take(kind, end + 1 - at_);
    if (c == '\n' || c == '\v' || c == '\f') return invalid("a string that goes over the line");
    if (c == '\\') ++end;
  }
  return invalid("a string without its closing quote");
}

Token TextLexer::prefixed(TokenKind kind) {
  if (text_.substr(at_).starts_with("#-}")) return take(TokenKind::punctuation, 3);
  std::size_t end = at_ + 1;
  if (end < text_.size() && is(text_[end], kDigit)) {
    while (end < text_.size() && is(text_[end], kDigit)) ++end;
  } else {
    while (end < text_.size() && is(text_[end], kInSuffix)) ++end;
  }
  return end == at_ + 1 ? take(TokenKind::punctuation, 1) : take(kind, end - at_);
}

Token TextLexer::punctuation() {
  for (const BytesView run : {BytesView("->"), BytesView("..."), BytesView("{-#")}) {
    if (text_.substr(at_).starts_with(run)) return take(TokenKind::punctuation, run.size());
  }
  return take(TokenKind::punctuation, 1);
}

}  // namespace precast::program
