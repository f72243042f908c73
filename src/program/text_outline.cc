#include "program/text_outline.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/little_endian.h"
#include "program/bytecode/symbols.h"
#include "program/text_content.h"

namespace precast::program {
namespace {

std::uint32_t head_of(BytesView bytes) {
  return base::read_little_endian<std::uint32_t>(base::sha256(bytes).view(), 0);
}

class TextOutliner {
 public:
  explicit TextOutliner(BytesView text) : text_(text), content_(text) {}

  Result<OutlineBuilder> run() {
    for (;;) {
      PRECAST_ASSIGN(const Token token, content_.next());
      if (token.kind == TokenKind::end) break;
      if (!words_.empty() && on_new_line(token)) end_line();
      take(token);
    }
    if (!words_.empty()) end_line();
    return std::move(builder_);
  }

 private:
  bool on_new_line(const Token& token) const {
    const auto begin = static_cast<std::size_t>(token.text.data() - text_.data());
    return text_.substr(end_, begin - end_).find_first_of("\r\n") != BytesView::npos;
  }

  void take(const Token& token) {
    end_ = static_cast<std::size_t>(token.text.data() + token.text.size() - text_.data());
    const bool names_function = token.kind == TokenKind::symbol &&
                                (in_function_head_ || content_.previous().text.ends_with("call"));
    if (names_function && in_function_head_) {
      // A function's own name is what it is found by; in its place stands nothing.
      builder_.name_function(function_,
                             std::string(bytecode::without_numeric_suffix(token.text.substr(1))));
      in_function_head_ = false;
    } else if (token.kind == TokenKind::sigil && token.text.front() == '%') {
      const auto at = values_.try_emplace(token.text, values_.size()).first;
      base::append_little_endian(operands_, std::uint64_t{values_.size() - at->second});
      words_ += '%';
    } else {
      words_.append(names_function ? bytecode::without_numeric_suffix(token.text) : token.text);
    }
    words_ += '\n';
    if (token.kind == TokenKind::word) take_word(token.text);
  }

  void take_word(BytesView word) {
    if (name_.empty() && word.find('.') != BytesView::npos && word.front() > '9') name_ = word;
    if (!word.ends_with("func.func") && !word.starts_with("vhlo.func")) return;
    function_ = builder_.add_function();
    in_function_head_ = true;
    values_.clear();
  }

  void end_line() {
    const std::size_t number = builder_.add_op(function_, name_.empty() ? "line" : name_);
    OutlineOp& op = builder_.op(function_, number);
    op.attributes = head_of(words_);
    op.operands = static_cast<std::uint16_t>(head_of(operands_));
    words_.clear();
    operands_.clear();
    name_ = {};
  }

  BytesView text_;
  TextContent content_;
  OutlineBuilder builder_;
  std::size_t function_ = 0;
  bool in_function_head_ = false;
  std::map<BytesView, std::uint64_t> values_;  // ordered, not hashed: names are hostile
  std::size_t end_ = 0;                        // of the last token, in the text
  Bytes words_;
  Bytes operands_;
  BytesView name_;
};

}  // namespace

Result<OutlineBuilder> outline_text(BytesView text) { return TextOutliner(text).run(); }

}  // namespace precast::program
