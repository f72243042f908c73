#include "proto/lean.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/edit.h"

namespace precast::proto {
namespace {

Bytes text(std::uint32_t number, const std::string& value) { return bytes_field(number, value); }

// An instruction with a name, an opcode, perhaps metadata and an original value, and a field that
// nobody knows.
Bytes instruction(bool full) {
  return text(1, "add.1") + text(2, "add") + (full ? text(7, "metadata") : "") +
         varint_field(35, 17) + (full ? text(88, "original") : "") + text(1000, "unknown");
}

Bytes computation(bool full) {
  return text(1, "main") + text(2, instruction(full)) + text(2, instruction(full)) +
         varint_field(5, 3);
}

Bytes executable(bool full, bool names_cpu = true) {
  const Bytes module = text(1, "jit_step") + text(3, computation(full)) + text(4, "shape") +
                       (full ? text(17, "frames") : "") + text(3, computation(full));
  const Bytes target = text(1, "x86_64-unknown-linux-gnu") + text(2, "haswell");
  const Bytes result = text(1, text(1, module) + text(2, "config")) + text(2, "buffers") +
                       (names_cpu ? text(9, target) : "") + text(8, "object code");
  return text(1, result) + text(2, "options");
}

TEST(Lean, LeavesOutMetadataAndNothingElse) {
  const auto lean = lean_cpu_executable(executable(true));
  ASSERT_TRUE(lean);
  EXPECT_EQ(*lean, executable(false));
}

TEST(Lean, SaysNothingWhereThereIsNothingToLeaveOut) {
  EXPECT_FALSE(lean_cpu_executable(executable(false)));
}

TEST(Lean, TouchesNoOtherMessage) {
  EXPECT_FALSE(lean_cpu_executable(executable(true, false)));
  EXPECT_FALSE(lean_cpu_executable(""));
  EXPECT_FALSE(lean_cpu_executable("no message"));
}

TEST(Lean, NeverMakesSomethingOfDamagedBytes) {
  const Bytes whole = executable(true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto lean = lean_cpu_executable(whole.substr(0, size));
    // Only the cut at the end of a field parses.
    if (lean) {
      EXPECT_TRUE(executable(false).starts_with(*lean)) << size;
    }
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {1, 8, 128}) {
      Bytes damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const auto lean = lean_cpu_executable(damaged);
      if (lean) {
        EXPECT_LT(lean->size(), damaged.size());
      }
    }
  }
}

}  // namespace
}  // namespace precast::proto
