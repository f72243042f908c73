// The text of XLA_FLAGS, as XLA takes it.
//
//   FlagsText flags = parse_flags_text(text);
//   if (flags.flags_file) flags = parse_flags_file(*flags.flags_file, content_of_the_file);
//
// XLA reads this text with rules of its own, and traps: it stops in silence at the first word that
// begins with no dash, ends the process for a flag that it does not know or a value that it cannot
// read, and takes a text that begins with no dash as the path of a file. What these functions say
// was measured on real plugins, and tests/flags holds them to one.
//
// Pure, and safe on any bytes; linear in the text but for one sort.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/bytes.h"

namespace precast::proto {

// The version of the rules for single flags. In the key: a change of the rules raises it.
inline constexpr int kFlagRulesVersion = 1;

struct Flag {
  std::string name;  // without dashes
  Bytes value;
  bool operator==(const Flag&) const = default;
};

struct FatalFlag {
  std::string word;
  std::string why;  // "is no boolean; XLA takes true, false, 1 and 0"
  bool operator==(const FatalFlag&) const = default;
};

struct FlagsText {
  // What is in force, one text for each effect: two texts of flags with equal lists have one effect
  // on a plugin. Booleans are "true" or "false", integers decimal, floats as float_effect() has
  // them, other values as they stand. A list has an entry for each of its values; of a map, sorted,
  // "key=value". Sorted by the field that a flag writes; flags that write one field stay in the
  // order of the text, because there it counts.
  //
  // A flag that Precast does not know may be any of these, and may write a field that another flag
  // writes. When there is one, all flags stay in the order of the text, each occurrence for itself;
  // the value of an unknown flag is "" when it is bare, else "=" and the text.
  std::vector<Flag> effective;
  // Names of the flags that Precast does not know. A plugin that does not know them either ends
  // the process.
  std::vector<std::string> unknown;
  // The words behind the place where XLA stops.
  std::vector<std::string> ignored_tokens;
  // What ends the process of a plugin that has the flags that Precast knows. There is more that can
  // end it: unknown flags, names of enumeration values, LLVM options in xla_backend_extra_options.
  std::vector<FatalFlag> fatal;
  // Set when the text is a path. XLA ends the process when it cannot open the file.
  std::optional<std::string> flags_file;
  // xla_flags_reset is set: XLA reads XLA_FLAGS again at every compile, on top of what was there
  // before, so no snapshot of the environment says what is in force.
  bool reads_environment_again = false;

  bool operator==(const FlagsText&) const = default;
};

// `text` is the value of the environment variable, up to its first NUL. When it is a path, the
// result says so and nothing else.
FlagsText parse_flags_text(BytesView text);

// The content of a flags file. There, a NUL does what it does in XLA.
FlagsText parse_flags_file(std::string path, BytesView content);

// The path that a value of XLA_FLAGS is; nothing when it holds flags, or is empty.
std::optional<std::string> flags_file_path(BytesView text);

}  // namespace precast::proto
