#include "program/text_digest.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

#include "precast/limits.h"
#include "program/canonical_stream.h"
#include "program/text_lexer.h"

namespace precast::program {
namespace {

class TextDigester {
 public:
  explicit TextDigester(BytesView text)
      : lexer_(text),
        out_("precast: tokens of MLIR text", limits::program_expansion_bytes(text.size())) {
    out_.number(kTextRulesVersion);
  }

  Result<StructuralDigest> run() {
    for (Token token = lexer_.next(); token.kind != TokenKind::end; token = lexer_.next()) {
      PRECAST_TRY(take(token));
    }
    if (!open_.empty()) return error("a bracket is not closed");
    PRECAST_TRY(check_aliases());
    return StructuralDigest{.sha256 = out_.finish(), .custom_calls = std::move(custom_calls_)};
  }

 private:
  Result<void> take(const Token& token) {
    if (token.kind == TokenKind::invalid) return error(lexer_.problem());
    if (token.is_word("loc") && looks_ahead_at('(') && ends_something(previous_)) {
      return skip_location();
    }
    if (token.kind == TokenKind::hash) {
      if (defines_location(lexer_)) {
        location_aliases_.insert(token.text);
        lexer_.next();  // =
        lexer_.next();  // loc
        return skip_location();
      }
      used_aliases_.insert(token.text);
    }
    PRECAST_TRY(track_brackets(token));
    note_custom_call(token);
    out_.bytes(token.text);
    before_previous_ = previous_;
    previous_ = token;
    return {};
  }

  bool looks_ahead_at(char c) const {
    TextLexer ahead = lexer_;
    return ahead.next().is(c);
  }

  static bool defines_location(TextLexer ahead) {
    return ahead.next().is('=') && ahead.next().is_word("loc") && ahead.next().is('(');
  }

  // Behind the end of an operation or an argument "loc" is its place; behind an opening bracket or
  // a separator it is a value, and counts.
  static bool ends_something(const Token& token) {
    if (token.kind == TokenKind::end) return false;
    if (token.kind != TokenKind::punctuation) return true;
    return token.is(')') || token.is(']') || token.is('}') || token.is('>') || token.is('?');
  }

  // From the "(" behind "loc" to its ")".
  Result<void> skip_location() {
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

  Result<void> track_brackets(const Token& token) {
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

  Result<void> close(char opening) {
    if (open_.empty() || open_.back() != opening) return error("a bracket does not match");
    open_.pop_back();
    return {};
  }

  void note_custom_call(const Token& token) {
    const std::optional<std::string> name = name_in(token);
    if (!name) return;
    const bool is_target =
        (token.kind == TokenKind::symbol && previous_.text.ends_with("custom_call")) ||
        (previous_.is('=') && before_previous_.is_word("call_target_name"));
    // A target may also stand elsewhere, as in VHLO's text: whatever bears a name of the table
    // counts as one.
    if (is_target || classify_custom_call(*name) != CustomCallClass::plain) {
      custom_calls_.add(*name);
    }
  }

  static std::optional<std::string> name_in(const Token& token);

  Result<void> check_aliases() const {
    for (const BytesView alias : location_aliases_) {
      if (!used_aliases_.contains(alias)) continue;
      return Error(ErrorCode::unsupported,
                   fmt::format("the location '{}' is used as a value", alias));
    }
    return {};
  }

  Error error(const char* problem) const {
    return {ErrorCode::corrupt, fmt::format("{} at byte {} of the text", problem, lexer_.offset())};
  }

  TextLexer lexer_;
  CanonicalStream out_;
  std::string open_;
  Token previous_;
  Token before_previous_;
  // Ordered, not hashed: names are hostile.
  std::set<BytesView> location_aliases_;
  std::set<BytesView> used_aliases_;
  CustomCallScan custom_calls_;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "\5F" is a byte by its number; of other escapes the backslash alone goes.
std::string unescape(BytesView text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result.push_back(text[i]);
      continue;
    }
    const int high = hex_digit(text[i + 1]);
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      result.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      result.push_back(text[++i]);
    }
  }
  return result;
}

// What a string or a symbol names; nothing for other tokens, and for text too long to be a name.
std::optional<std::string> TextDigester::name_in(const Token& token) {
  BytesView text = token.text;
  if (text.size() > limits::kMaxBytecodeNameBytes) return std::nullopt;
  if (token.kind == TokenKind::symbol)
    text.remove_prefix(1);
  else if (token.kind != TokenKind::string)
    return std::nullopt;
  if (!text.starts_with('"')) return std::string(text);
  return unescape(text.substr(1, text.size() - 2));
}

}  // namespace

Result<StructuralDigest> digest_text(BytesView text) { return TextDigester(text).run(); }

}  // namespace precast::program
