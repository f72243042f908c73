// Fuzzer: any bytes as the text of XLA_FLAGS and as a flags file. What is in force, written as
// flags again, is in force as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "proto/file_options.h"
#include "proto/flags_parse.h"

namespace {

using precast::Bytes;
using precast::BytesView;
using precast::proto::Flag;
using precast::proto::FlagsText;

void check(bool holds) {
  if (!holds) std::abort();
}

// In double quotes every byte but the NUL can be written.
std::string written(const Flag& flag) {
  std::string text = "--" + flag.name + "=\"";
  for (const char c : flag.value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\" ";
}

// Whether the entries of `flags` are values as they can be written: all but the entries of lists
// whose elements are cut out of one text, and values that stand for what cannot be written.
bool can_be_written(const FlagsText& flags) {
  if (!flags.unknown.empty() || !flags.fatal.empty()) return false;
  for (const Flag& flag : flags.effective) {
    if (flag.value.starts_with("text:") || flag.value.starts_with("nan:")) return false;
  }
  return true;
}

void check_text(const FlagsText& flags) {
  if (!can_be_written(flags)) return;
  std::string text;
  for (const Flag& flag : flags.effective) text += written(flag);
  const FlagsText again = precast::proto::parse_flags_text(text);
  check(again.effective == flags.effective);
  check(again.reads_environment_again == flags.reads_environment_again);
  check(again.ignored_tokens.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  check_text(precast::proto::parse_flags_text(bytes));
  const FlagsText file = precast::proto::parse_flags_file("flags", bytes);
  check(file.flags_file == "flags");
  check_text(file);
  check(precast::proto::file_references(file, precast::CompileOptions(), "").has_value() ||
        file.effective.size() > 1024);
  return 0;
}
