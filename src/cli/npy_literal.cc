#include "cli/npy_literal.h"

#include <charconv>
#include <optional>

#include "cli/text.h"
#include "precast/limits.h"

namespace precast::cli {
namespace {

Error wrong(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

// A reader that stands at a place in the literal.
class Reader {
 public:
  explicit Reader(BytesView text) : text_(text) {}

  // Skips spaces, then takes `c` if it is next.
  bool take(char c) {
    skip_spaces();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_word(BytesView word) {
    skip_spaces();
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool next_is(char c) {
    skip_spaces();
    return !text_.empty() && text_[0] == c;
  }
  bool at_end() {
    skip_spaces();
    return text_.empty();
  }
  // A string without escapes.
  std::optional<std::string> string() {
    skip_spaces();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[0], 1);
    if (end == BytesView::npos) return std::nullopt;
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value.find('\\') == std::string::npos ? std::optional(value) : std::nullopt;
  }
  std::optional<std::int64_t> number() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    (void)take('L');  // Python 2 wrote long integers so
    return value;
  }

 private:
  void skip_spaces() {
    const std::size_t start = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(start == BytesView::npos ? text_.size() : start);
  }
  BytesView text_;
};

Result<std::vector<std::int64_t>> parse_shape(Reader& reader) {
  if (!reader.take('(')) return wrong("its header's 'shape' is not a tuple");
  std::vector<std::int64_t> shape;
  while (!reader.take(')')) {
    const std::optional<std::int64_t> dimension = reader.number();
    if (!dimension) return wrong("its header's 'shape' holds something other than sizes");
    shape.push_back(*dimension);
    if (shape.size() > limits::kMaxDimensions) {
      return wrong("it has more than " + std::to_string(limits::kMaxDimensions) + " dimensions");
    }
    if (!reader.take(',') && !reader.next_is(')')) {
      return wrong("its header's 'shape' is not a tuple");
    }
  }
  return shape;
}

}  // namespace

Result<NpyHeader> parse_npy_literal(BytesView literal) {
  Reader reader(literal);
  if (!reader.take('{')) return wrong("its header is not a Python dictionary");
  NpyHeader header;
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  while (!reader.take('}')) {
    const std::optional<std::string> key = reader.string();
    if (!key || !reader.take(':')) return wrong("its header is not a Python dictionary");
    if (*key == "descr" && !has_descr) {
      if (reader.next_is('[')) {
        return wrong("it holds structures; save each field as an array of its own");
      }
      std::optional<std::string> descr = reader.string();
      if (!descr) return wrong("its header's 'descr' is not the name of a type");
      header.descr = std::move(*descr);
      has_descr = true;
    } else if (*key == "fortran_order" && !has_order) {
      header.fortran_order = reader.take_word("True");
      if (!header.fortran_order && !reader.take_word("False")) {
        return wrong("its header's 'fortran_order' is neither True nor False");
      }
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      PRECAST_ASSIGN(header.shape, parse_shape(reader));
      has_shape = true;
    } else {
      return wrong("its header has an unexpected key '" + printable(*key, 40) + "'");
    }
    if (!reader.take(',') && !reader.next_is('}')) {
      return wrong("its header is not a Python dictionary");
    }
  }
  if (!reader.at_end()) return wrong("something follows the dictionary in its header");
  if (!has_descr || !has_order || !has_shape) {
    return wrong("its header lacks 'descr', 'fortran_order' or 'shape'");
  }
  return header;
}

}  // namespace precast::cli
