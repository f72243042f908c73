#include "proto/executable_edit.h"

#include <gtest/gtest.h>

#include <string>

#include "precast/compile_options.h"
#include "proto/edit.h"

namespace precast::proto {
namespace {

// An executable as XLA's CPU plugin serializes it, with fields around that nobody knows.
Bytes executable(const Bytes& debug_options, const Bytes& compile_options) {
  const Bytes config = varint_field(3, 1) + bytes_field(14, debug_options) + varint_field(99, 2);
  const Bytes module = bytes_field(1, "module") + bytes_field(2, config);
  const Bytes target = bytes_field(1, "x86_64-unknown-linux-gnu") + bytes_field(2, "haswell");
  const Bytes result = bytes_field(1, module) + bytes_field(2, "buffers") + bytes_field(9, target) +
                       bytes_field(8, "object code");
  return bytes_field(1, result) + bytes_field(2, compile_options) + bytes_field(3, "client");
}

Bytes placed_on(std::int64_t device) {
  CompileOptions options;
  options.set_assignment(DeviceAssignment{1, 1, {device}});
  return Bytes(options.serialized());
}

const Bytes kFlags = varint_field(31, 2) + bytes_field(110, "re");
const Bytes kDumping = varint_field(31, 2) + bytes_field(109, "/tmp/d") + bytes_field(110, "re");

std::optional<DeviceAssignment> on(std::int64_t device) { return DeviceAssignment{1, 1, {device}}; }

TEST(ExecutableEdit, PutsAnotherAssignmentInItsPlaceAndNothingElse) {
  EXPECT_EQ(with_assignment(executable(kFlags, placed_on(0)), on(3), on(3)),
            executable(kFlags, placed_on(3)));
}

// Some plugins store where it runs also when nobody asked for that, and others do not.
TEST(ExecutableEdit, WithoutAWishItDoesAsThePluginDid) {
  const Bytes unplaced(CompileOptions().serialized());
  EXPECT_EQ(with_assignment(executable(kFlags, placed_on(2)), std::nullopt, on(0)),
            executable(kFlags, placed_on(0)));
  EXPECT_EQ(with_assignment(executable(kFlags, unplaced), std::nullopt, on(0)),
            executable(kFlags, unplaced));
  EXPECT_EQ(with_assignment(executable(kFlags, placed_on(2)), std::nullopt, std::nullopt),
            executable(kFlags, unplaced));
}

// What the compiler added to the options stays as well.
TEST(ExecutableEdit, WhereNothingIsToBeDoneNothingIsDone) {
  const Bytes known = executable(kFlags, placed_on(2) + varint_field(5, 7));
  EXPECT_EQ(with_assignment(known, on(2), on(2)), known);
}

TEST(ExecutableEdit, LeavesOtherFormatsAlone) {
  EXPECT_FALSE(with_assignment("", on(0), on(0)));
  EXPECT_FALSE(with_assignment("riegeli/records", on(0), on(0)));
  EXPECT_FALSE(with_assignment(executable(kFlags, "no options"), on(0), on(0)));
  const Bytes more = executable(kDumping, placed_on(0)) + bytes_field(15, "of the whole");
  EXPECT_FALSE(with_assignment(more, on(1), on(1)));
  EXPECT_FALSE(without_dump_folder(more));
  EXPECT_FALSE(without_dump_folder(""));
  EXPECT_FALSE(without_dump_folder("riegeli/records"));
}

TEST(ExecutableEdit, TakesTheDumpFolderAwayAndNothingElse) {
  const auto edited = without_dump_folder(executable(kDumping, placed_on(0)));
  ASSERT_TRUE(edited);
  EXPECT_EQ(*edited, executable(kFlags, placed_on(0)));
  EXPECT_FALSE(without_dump_folder(executable(kFlags, placed_on(0))));
}

}  // namespace
}  // namespace precast::proto
