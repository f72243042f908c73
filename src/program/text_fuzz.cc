// Fuzzer: any text gives a digest or an error, and white space or a comment at its end changes
// nothing. It gives an outline or an error, which a comment does not change either.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "precast/outline.h"
#include "program/outline_builder.h"
#include "program/text_digest.h"
#include "program/text_outline.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_outline(const precast::Bytes& text) {
  constexpr std::size_t kMaxBytes = 4096;
  auto builder = precast::program::outline_text(text);
  auto longer = precast::program::outline_text(text + "\n// comment");
  require(builder.has_value() == longer.has_value());
  if (!builder) return;
  const precast::Outline outline = builder->finish(kMaxBytes);
  require(outline.encode().size() <= kMaxBytes);
  require(outline == longer->finish(kMaxBytes));
  require(*precast::Outline::decode(outline.encode()) == outline);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using precast::Bytes;
  using precast::program::digest_text;
  const Bytes text(reinterpret_cast<const char*>(data), size);
  check_outline(text);
  const auto digest = digest_text(text);
  const auto longer = digest_text(text + "\n \t// comment");
  require(digest.has_value() == longer.has_value());
  if (!digest) {
    require(!digest.error().message().empty());
    return 0;
  }
  require(digest->sha256 == longer->sha256);
  require(digest->custom_calls == longer->custom_calls);
  const auto located = digest_text("x " + text + "\n; () loc(\"a\")");
  const auto bare = digest_text("x " + text + "\n; ()");
  require(located.has_value() == bare.has_value());
  require(!bare || located->sha256 == bare->sha256);
  return 0;
}
