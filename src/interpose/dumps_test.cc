#include "interpose/dumps.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "proto/edit.h"
#include "testing/temp_dir.h"

namespace precast::interpose {
namespace {

using ::testing::EndsWith;

proto::FlagsText flags(const std::string& text) { return proto::parse_flags_text(text); }

CompileOptions with(const std::string& name, const std::string& value) {
  CompileOptions options;
  EXPECT_TRUE(options.set_option(name, value));
  return options;
}

// Options as JAX sends them: the debug options are there, whole.
CompileOptions with_debug_options(const Bytes& debug_options) {
  const Bytes build =
      proto::bytes_field(3, debug_options) + proto::varint_field(4, 1) + proto::varint_field(5, 1);
  return CompileOptions::from_serialized(proto::bytes_field(3, build)).value();
}

TEST(Dumps, AreAskedForByFlagsAndByOptions) {
  EXPECT_EQ(dumps_of({}, flags("")).folder, "");
  EXPECT_EQ(dumps_of({}, flags("--xla_dump_to=/d")).folder, "/d");
  EXPECT_EQ(dumps_of(with("xla_dump_to", "/o"), flags("--xla_dump_to=/d")).folder, "/o");
  EXPECT_EQ(dumps_of({}, flags("--xla_dump_to=-")).folder, "");
  EXPECT_EQ(dumps_of({}, flags("--xla_dump_to=sponge")).folder, "");
  // Field 109 is xla_dump_to. With debug options XLA does not look at its flags.
  const CompileOptions whole = with_debug_options(proto::bytes_field(109, "/w"));
  EXPECT_EQ(dumps_of(whole, flags("--xla_dump_to=/d")).folder, "/w");
  EXPECT_EQ(dumps_of(with_debug_options(""), flags("--xla_dump_to=/d")).folder, "");
}

TEST(Dumps, ThatOnlyACompileWritesAreKnown) {
  EXPECT_EQ(dumps_of({}, flags("--xla_dump_to=/d")).needs_compile, "");
  EXPECT_EQ(dumps_of({}, flags("--xla_dump_hlo_pass_re=.*")).needs_compile, "xla_dump_hlo_pass_re");
  EXPECT_EQ(dumps_of(with("xla_dump_hlo_snapshots", "true"), flags("")).needs_compile,
            "xla_dump_hlo_snapshots");
  EXPECT_EQ(dumps_of(with("xla_dump_hlo_snapshots", "false"), flags("")).needs_compile, "");
}

class DumpedPrograms : public ::testing::Test {
 protected:
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.file("d"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  testing::TempDir dir_;
  const Digest key_ = base::sha256("k");
  const Bytes optimized_ = proto::bytes_field(1, "module") + proto::bytes_field(2, "config");
};

TEST_F(DumpedPrograms, LieInTheFolderAsHloProto) {
  const Dumps dumps{dir_.file("d"), ""};
  const auto path = write_final_program(dumps, "jit_f", key_, optimized_);
  ASSERT_TRUE(path) << path.error().to_string();
  EXPECT_THAT(*path, EndsWith("/d/jit_f." + key_.hex().substr(0, 12) +
                              ".precast_hit.after_optimizations.hlo.pb"));
  EXPECT_EQ(base::read_file(*path, 1000).value(), proto::bytes_field(1, "module"));
}

TEST_F(DumpedPrograms, StayInTheFolderWhateverTheirName) {
  const Dumps dumps{dir_.file("d"), ""};
  for (const char* name : {"../up", "", ".hidden", "a/b", "x y\n"}) {
    ASSERT_TRUE(write_final_program(dumps, name, key_, optimized_)) << name;
  }
  EXPECT_EQ(files().size(), 5U);
}

TEST_F(DumpedPrograms, ThatCannotBeWrittenAreAnError) {
  const Dumps nowhere{"/proc/none/d", ""};
  EXPECT_FALSE(write_final_program(nowhere, "jit_f", key_, optimized_));
  const Dumps dumps{dir_.file("d"), ""};
  EXPECT_EQ(write_final_program(dumps, "jit_f", key_, "").error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace precast::interpose
