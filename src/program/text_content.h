// The tokens of MLIR text that count: all but the locations behind operations and block arguments
// and the lines that give locations a name.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"
#include "program/text_lexer.h"

namespace precast::program {

class TextContent {
 public:
  explicit TextContent(BytesView text) : lexer_(text) {}

  // The next token that counts; of kind `end` when everything was read and all brackets are closed.
  // corrupt: a string that does not end, brackets that do not match or nest too deep, a character
  // that MLIR text does not have.
  Result<Token> next();

  // The tokens that next() returned before its last one.
  const Token& previous() const { return previous_; }
  const Token& before_previous() const { return before_previous_; }
  // How many brackets are open behind the last token.
  std::size_t depth() const { return open_.size(); }

  // To be called at the end. unsupported: a location that is used as a value under a name.
  Result<void> check_aliases() const;

 private:
  bool looks_ahead_at(char c) const;
  Result<void> skip_location();
  Result<void> track_brackets(const Token& token);
  Result<void> close(char opening);
  Error error(const char* problem) const;

  TextLexer lexer_;
  std::string open_;
  Token last_;
  Token previous_;
  Token before_previous_;
  // Ordered, not hashed: names are hostile.
  std::set<BytesView> location_aliases_;
  std::set<BytesView> used_aliases_;
};

}  // namespace precast::program
