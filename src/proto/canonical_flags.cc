#include <algorithm>

#include "precast/limits.h"
#include "proto/canonical_items.h"
#include "proto/canonical_options.h"

namespace precast::proto {
namespace {

// The value with what is in the file for its path. The value of a flag that Precast does not know
// stands behind its sign.
Bytes counted_value(const FlagsText& flags, const Flag& flag, const ContentTexts& contents) {
  if (find_file_option(flag.name) == nullptr) return flag.value;
  const bool known = std::ranges::find(flags.unknown, flag.name) == flags.unknown.end();
  const std::size_t sign = known ? 0 : std::min<std::size_t>(flag.value.size(), 1);
  const Bytes* text = contents.find(flag.name, std::string_view(flag.value).substr(sign));
  return text == nullptr ? flag.value : flag.value.substr(0, sign) + *text;
}

}  // namespace

std::vector<OptionItem> canonical_flags(const FlagsText& flags, BytesView text,
                                        std::string_view platform, const ContentTexts& contents) {
  constexpr std::string_view kDashes = "--";
  std::vector<OptionItem> items;
  bool whole = !flags.fatal.empty();
  for (const Flag& flag : flags.effective) {
    if (CanonicalItems::is_left_out_on(flag.name, platform == "cpu")) continue;
    OptionItem item{std::string(kDashes) + flag.name, counted_value(flags, flag, contents)};
    whole = whole || item.name.size() > limits::kMaxKeyNameBytes;
    items.push_back(std::move(item));
  }
  if (!whole) return items;
  return {{"XLA_FLAGS", Bytes(text)}};
}

}  // namespace precast::proto
