#include "testing/fake_plugin/program.h"

#include <charconv>

#include "testing/fake_plugin/failure.h"

namespace precast::fake {
namespace {

constexpr std::string_view kMarker = "// fake:";

std::int64_t parse_number(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: '{}' in '{}' is not a number", text,
         whole);
  }
  return value;
}

// Splits "f32[4],s32[2,2]" at the commas outside the brackets.
std::vector<TensorType> parse_types(std::string_view text) {
  std::vector<TensorType> types;
  while (!text.empty()) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: '{}' is not a list of types", text);
    }
    types.push_back(parse_type(text.substr(0, close + 1)));
    text.remove_prefix(close + 1);
    if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  }
  return types;
}

void apply_directive(std::string_view word, Compiled& compiled) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (name == "params") {
    compiled.parameters = parse_types(value);
  } else if (name == "results") {
    compiled.results = parse_types(value);
  } else if (name == "name") {
    compiled.name = value;
  } else if (name == "not_serializable") {
    compiled.serializable = false;
  } else if (name == "donate") {
    for (const std::string& part : split(value, ',')) {
      compiled.donated.push_back(parse_number(part, word));
    }
  } else {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: unknown word '{}'", word);
  }
}

void apply_comment(std::string_view comment, Compiled& compiled) {
  const std::size_t failure = comment.find("fail=");
  if (failure != std::string_view::npos) {
    const std::string_view wanted = comment.substr(failure + 5);
    const std::size_t colon = wanted.find(':');
    PJRT_Error_Code code = PJRT_Error_Code_OK;
    if (colon == std::string_view::npos || !parse_error_code(wanted.substr(0, colon), &code)) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: '{}' is not fail=CODE:message",
           comment);
    }
    fail(code, "{}", wanted.substr(colon + 1));
  }
  for (const std::string& word : split(comment, ' ')) {
    if (!word.empty()) apply_directive(word, compiled);
  }
}

}  // namespace

TensorType parse_type(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: '{}' is not a type", text);
  }
  TensorType type;
  for (std::uint32_t number = 1; number <= 33; ++number) {
    const auto element = static_cast<ElementType>(number);
    if (to_string(element) == text.substr(0, open)) type.element = element;
  }
  if (type.element == ElementType::invalid) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: '{}' has no known element type", text);
  }
  const std::string_view dimensions = text.substr(open + 1, text.size() - open - 2);
  for (const std::string& part : split(dimensions, ',')) {
    type.dimensions.push_back(parse_number(part, text));
  }
  return type;
}

Compiled parse_program(std::string_view code) {
  Compiled compiled;
  compiled.parameters = {parse_type("f32[4]")};
  compiled.results = {parse_type("f32[4]")};
  compiled.code = code;
  for (std::size_t at = code.find(kMarker); at != std::string_view::npos;
       at = code.find(kMarker, at + 1)) {
    const std::string_view rest = code.substr(at + kMarker.size());
    // A line of text, or a string inside a binary format.
    apply_comment(rest.substr(0, rest.find_first_of(std::string_view("\n\r\0", 3))), compiled);
  }
  for (const std::int64_t parameter : compiled.donated) {
    if (parameter < 0 || parameter >= static_cast<std::int64_t>(compiled.parameters.size())) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "fake program: there is no parameter {} to donate",
           parameter);
    }
  }
  return compiled;
}

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace precast::fake
