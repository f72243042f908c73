// Tokens of MLIR text.
//
// A token here is one or more tokens of MLIR's own lexer that stand without space between them, and
// what lies between two tokens is only white space and comments. So texts with equal tokens are
// equal to MLIR. A few things that MLIR reads as several tokens ("4x8xf32") are one here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "precast/bytes.h"

namespace precast::program {

enum class TokenKind : std::uint8_t {
  end,
  word,         // an identifier, a keyword, a number, the name of an operation
  string,       // with its quotes
  symbol,       // @name or @"name"
  hash,         // #name
  sigil,        // %name, ^name, !name
  punctuation,  // one character, or "->", "...", "{-#", "#-}"
  invalid,      // see TextLexer::problem()
};

struct Token {
  TokenKind kind = TokenKind::end;
  BytesView text;

  bool is(char c) const { return text.size() == 1 && text.front() == c; }
  bool is_word(BytesView word) const { return kind == TokenKind::word && text == word; }
};

// Copyable: a copy looks ahead.
class TextLexer {
 public:
  explicit TextLexer(BytesView text) : text_(text) {}

  // Token of kind `end` at the end, again and again.
  Token next();

  std::size_t offset() const { return at_; }
  // Why the last token was invalid.
  const char* problem() const { return problem_; }

 private:
  bool skip_space();
  Token take(TokenKind kind, std::size_t size);
  Token invalid(const char* problem);
  Token word();
  Token string(std::size_t prefix, TokenKind kind);
  Token prefixed(TokenKind kind);
  Token punctuation();

  BytesView text_;
  std::size_t at_ = 0;
  const char* problem_ = "";
};

}  // namespace precast::program
