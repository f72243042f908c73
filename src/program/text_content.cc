#include "program/text_content.h"

#include <fmt/format.h>

#include "precast/limits.h"

namespace precast::program {
namespace {

bool defines_location(TextLexer ahead) {
  return ahead.next().is('=') && ahead.next().is_word("loc") && ahead.next().is('(');
}

// Behind the end of an operation or an argument "loc" is its place; behind an opening bracket or a
// separator it is a value, and counts.
bool ends_something(const Token& token) {
  if (token.kind == TokenKind::end) return false;
  if (token.kind != TokenKind::punctuation) return true;
  return token.is(')') || token.is(']') || token.is('}') || token.is('>') || token.is('?');
}

}  // namespace

Result<Token> TextContent::next() {
  for (;;) {
    const Token token = lexer_.next();
    if (token.kind == TokenKind::invalid) return error(lexer_.problem());
    if (token.kind == TokenKind::end) {
      if (!open_.empty()) return error("a bracket is not closed");
      return token;
    }
    if (token.is_word("loc") && looks_ahead_at('(') && ends_something(last_)) {
      PRECAST_TRY(skip_location());
      continue;
    }
    if (token.kind == TokenKind::hash) {
      if (defines_location(lexer_)) {
        location_aliases_.insert(token.text);
        lexer_.next();  // =
        lexer_.next();  // loc
        PRECAST_TRY(skip_location());
        continue;
      }
      used_aliases_.insert(token.text);
    }
    PRECAST_TRY(track_brackets(token));
    before_previous_ = previous_;
    previous_ = last_;
    last_ = token;
    return token;
  }
}

bool TextContent::looks_ahead_at(char c) const {
  TextLexer ahead = lexer_;
  return ahead.next().is(c);
}

// From the "(" behind "loc" to its ")".
Result<void> TextContent::skip_location() {
  std::size_t depth = 0;
  do {
    const Token token = lexer_.next();
    if (token.kind == TokenKind::invalid) return error(lexer_.problem());
    if (token.kind == TokenKind::end) return error("a location is not closed");
    if (token.is('(')) ++depth;
    if (token.is(')')) --depth;
  } while (depth != 0);
  return {};
}

Result<void> TextContent::track_brackets(const Token& token) {
  if (token.kind != TokenKind::punctuation || token.text.size() != 1) return {};
  switch (token.text.front()) {
    case '(':
    case '[':
    case '{':
      if (open_.size() >= limits::kMaxTextNesting) return error("brackets nest too deep");
      open_.push_back(token.text.front());
      return {};
    case ')': return close('(');
    case ']': return close('[');
    case '}': return close('{');
    default: return {};
  }
}

Result<void> TextContent::close(char opening) {
  if (open_.empty() || open_.back() != opening) return error("a bracket does not match");
  open_.pop_back();
  return {};
}

Result<void> TextContent::check_aliases() const {
  for (const BytesView alias : location_aliases_) {
    if (!used_aliases_.contains(alias)) continue;
    return Error(ErrorCode::unsupported,
                 fmt::format("the location '{}' is used as a value", alias));
  }
  return {};
}

Error TextContent::error(const char* problem) const {
  return {ErrorCode::corrupt, fmt::format("{} at byte {} of the text", problem, lexer_.offset())};
}

}  // namespace precast::program
