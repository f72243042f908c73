#include "program/text_digest.h"

#include <optional>
#include <string>
#include <utility>

#include "precast/limits.h"
#include "program/canonical_stream.h"
#include "program/text_content.h"
#include "program/text_lexer.h"

namespace precast::program {
namespace {

class TextDigester {
 public:
  explicit TextDigester(BytesView text)
      : content_(text),
        out_("precast: tokens of MLIR text", limits::program_expansion_bytes(text.size())) {
    out_.number(kTextRulesVersion);
  }

  Result<StructuralDigest> run() {
    for (;;) {
      PRECAST_ASSIGN(const Token token, content_.next());
      if (token.kind == TokenKind::end) break;
      note_custom_call(token);
      out_.bytes(token.text);
    }
    PRECAST_TRY(content_.check_aliases());
    return StructuralDigest{.sha256 = out_.finish(), .custom_calls = std::move(custom_calls_)};
  }

 private:
  void note_custom_call(const Token& token) {
    const std::optional<std::string> name = name_in(token);
    if (!name) return;
    const bool is_target =
        (token.kind == TokenKind::symbol && content_.previous().text.ends_with("custom_call")) ||
        (content_.previous().is('=') && content_.before_previous().is_word("call_target_name"));
    // A target may also stand elsewhere, as in VHLO's text: whatever bears a name of the table
    // counts as one.
    if (is_target || classify_custom_call(*name) != CustomCallClass::plain) {
      custom_calls_.add(*name);
    }
  }

  static std::optional<std::string> name_in(const Token& token);

  TextContent content_;
  CanonicalStream out_;
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
