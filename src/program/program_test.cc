#include "precast/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/file.h"
#include "base/wire.h"
#include "precast/limits.h"
#include "program/program_digest.h"
#include "program/text_digest.h"

namespace precast {
namespace {

std::string data_path(const std::string& name) {
  return std::string(PRECAST_TESTDATA) + "/programs/" + name;
}

Bytes data(const std::string& name) {
  auto bytes = base::read_file(data_path(name), limits::kMaxProgramBytes);
  EXPECT_TRUE(bytes) << name;
  return bytes ? *bytes : Bytes();
}

// The message of the error; "accepted" when there is none.
std::string refusal(Bytes bytes) {
  const auto program = Program::from_bytes(std::move(bytes), "x");
  if (program) return "accepted";
  EXPECT_EQ(program.error().code(), ErrorCode::invalid_argument);
  return program.error().message();
}

TEST(ProgramFormat, PersistedNumbersAndNames) {
  EXPECT_EQ(static_cast<int>(ProgramFormat::mlir_text), 1);
  EXPECT_EQ(static_cast<int>(ProgramFormat::mlir_bytecode), 2);
  EXPECT_EQ(static_cast<int>(ProgramFormat::hlo_proto), 3);
  EXPECT_EQ(to_string(ProgramFormat::mlir_text), "mlir_text");
  EXPECT_EQ(to_string(ProgramFormat::mlir_bytecode), "mlir_bytecode");
  EXPECT_EQ(to_string(ProgramFormat::hlo_proto), "hlo_proto");
}

TEST(Program, KnowsRealFilesOfEveryFormat) {
  const auto text = Program::from_file(data_path("add.mlir"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->format(), ProgramFormat::mlir_text);
  EXPECT_EQ(text->name(), data_path("add.mlir"));
  EXPECT_EQ(text->bytes(), data("add.mlir"));
  EXPECT_EQ(text->stablehlo_version(), std::nullopt);

  const auto raw = Program::from_file(data_path("add.raw.mlirbc"));
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->format(), ProgramFormat::mlir_bytecode);
  EXPECT_EQ(raw->stablehlo_version(), std::nullopt);

  const auto portable = Program::from_file(data_path("add.vhlo.mlirbc"));
  ASSERT_TRUE(portable);
  EXPECT_EQ(portable->format(), ProgramFormat::mlir_bytecode);
  EXPECT_EQ(portable->stablehlo_version(), (StablehloVersion{1, 9, 0}));
  EXPECT_EQ(portable->stablehlo_version()->to_string(), "1.9.0");

  const auto hlo = Program::from_file(data_path("add.hlo.binpb"));
  ASSERT_TRUE(hlo);
  EXPECT_EQ(hlo->format(), ProgramFormat::hlo_proto);
}

TEST(Program, RefusesAFileThatIsMissingOrAFolder) {
  EXPECT_EQ(Program::from_file(data_path("none")).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(Program::from_file(PRECAST_TESTDATA).error().code(), ErrorCode::invalid_argument);
}

TEST(Program, CopiesShareTheBytes) {
  const Program a = Program::from_bytes(data("add.mlir"), "a").value();
  const Program b = a;
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
}

TEST(ProgramText, AcceptsWhatModulesBeginWith) {
  for (const char* text : {
           "module {}",
           "module{}",
           "module @jit_f attributes {a = 1 : i32} {}",
           "module attributes {} {}",
           "\n\t // a comment\n// another\r\n  module @m {\n}",
           "func.func @main() { return }",
           "func @main() { return }",
           "func private @f()",
           "#loc = loc(unknown)\nmodule {}",
           "#loc1=loc(unknown)\nmodule {}",
           "!t = tensor<2xf32>\nmodule {}",
           "\"builtin.module\"() ({}) : () -> ()",
           "builtin.module {}",
           "sdy.mesh @mesh = <[\"x\"=2]>\nmodule {}",
           "\"stablehlo.add\"() : () -> ()",
           "module @caf\xC3\xA9 {}",
       }) {
    const auto program = Program::from_bytes(text, "x");
    ASSERT_TRUE(program) << text;
    EXPECT_EQ(program->format(), ProgramFormat::mlir_text) << text;
  }
}

TEST(ProgramText, RefusesOtherTextAndShowsHowItBegins) {
  for (const char* text :
       {"hello", "modules are nice", "module.exports = {}", "modulex {}", "#include <x>",
        "# heading", "#!/bin/sh\n", "#a", "{}", "def f(): pass", "function f() {}", "funcs",
        "import os", "!", "\"quoted\"", "func main()"}) {
    EXPECT_NE(refusal(text).find("is text, but begins with '"), std::string::npos) << text;
  }
  EXPECT_EQ(refusal("  // only a comment"), "'x' holds only white space and comments");
  EXPECT_EQ(refusal("\n\n"), "'x' holds only white space and comments");
  EXPECT_NE(refusal("hello\nworld").find("begins with 'hello' and"), std::string::npos);
}

// A plugin takes them in comments and strings, and a NUL at the end; whether it does is its answer.
TEST(ProgramText, MayHoldBytesThatAreNoText) {
  for (const std::string& bytes :
       {std::string("module {}\n\0", 11), std::string("module {} // \x01"),
        std::string("module {} // caf\xe9"), std::string("module {x = \"caf\xe9\"} {}"),
        std::string("module // which\r@m {}"), std::string("{-# #-}\nmodule {}")}) {
    const auto program = Program::from_bytes(bytes, "x");
    ASSERT_TRUE(program) << bytes << program.error().to_string();
    EXPECT_EQ(program->format(), ProgramFormat::mlir_text) << bytes;
  }
  // What the text's rules do not read counts as it is.
  const program::ProgramDigest digest =
      program::digest_program(Program::from_bytes(std::string("module {}\n\0", 11), "x").value());
  EXPECT_EQ(digest.mode, program::DigestMode::raw);
}

TEST(ProgramText, OtherBytesAreNone) {
  for (const std::string& bytes :
       {std::string("modul\0e {}", 10), std::string("x\xff"), std::string("\xed\xa0\x80")}) {
    EXPECT_NE(refusal(bytes).find("none of the formats"), std::string::npos) << bytes;
  }
}

TEST(ProgramText, HloTextIsNamed) {
  EXPECT_NE(refusal(data("add.hlo.txt")).find("is HLO text"), std::string::npos);
  EXPECT_NE(refusal("// comment\nHloModule x").find("is HLO text"), std::string::npos);
}

TEST(ProgramBytecode, ReadsTheProducersVersion) {
  const auto version = [](const std::string& producer) {
    return Program::from_bytes("ML\xEFR\x0D" + producer + std::string("\0rest", 5), "x")
        .value()
        .stablehlo_version();
  };
  EXPECT_EQ(version("StableHLO_v1.13.0"), (StablehloVersion{1, 13, 0}));
  EXPECT_EQ(version("StableHLO_v0.9.12"), (StablehloVersion{0, 9, 12}));
  for (const char* other :
       {"MLIR20.0.0git", "", "StableHLO_v1.13", "StableHLO_v1.13.0x", "StableHLO_v1.-1.0",
        "StableHLO_v", "StableHLO_v1..0", "StableHLO_v99999999999.1.0", "stablehlo_v1.2.3"}) {
    EXPECT_EQ(version(other), std::nullopt) << other;
  }
}

TEST(ProgramBytecode, ReadsAVersionOfAnyWidth) {
  const std::string producer("P\0", 2);
  for (int extra = 0; extra <= 7; ++extra) {
    std::string varint(1, static_cast<char>(1 << extra));
    varint += std::string(static_cast<std::size_t>(extra), '\x05');
    EXPECT_EQ(refusal("ML\xEFR" + varint + producer), "accepted") << extra;
  }
  EXPECT_EQ(refusal("ML\xEFR" + std::string(9, '\0') + producer), "accepted");
}

TEST(ProgramBytecode, RefusesADamagedHead) {
  const std::string damaged = "is MLIR bytecode that is damaged or cut short";
  const Bytes whole = data("add.vhlo.mlirbc");
  const std::size_t head = whole.find('\0') + 1;
  for (std::size_t cut = 4; cut < head; ++cut) {
    EXPECT_NE(refusal(whole.substr(0, cut)).find(damaged), std::string::npos) << cut;
  }
  EXPECT_EQ(refusal(whole.substr(0, head)), "accepted");
  EXPECT_NE(refusal("ML\xEFR\x0D" + std::string(5000, 'p')).find(damaged), std::string::npos);
  EXPECT_NE(refusal("ML\xEFR\x0D" + std::string("\x01p\0", 3)).find(damaged), std::string::npos);
  EXPECT_NE(refusal(std::string("ML\xEFR\0\1\2", 7)).find(damaged), std::string::npos);
}

TEST(ProgramHlo, NoTruncationIsTakenForAProgram) {
  const Bytes whole = data("add.hlo.binpb");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto program = Program::from_bytes(whole.substr(0, size), "x");
    // A cut between fields behind the entry computation leaves a message that is whole again.
    if (program) {
      EXPECT_GT(size, whole.size() / 2) << size;
    }
  }
}

TEST(ProgramHlo, NeedsAnEntryComputationWithInstructions) {
  const std::string computation(
      "\x0a\x01"
      "e"
      "\x12\x02\x0a\x00"
      "\x28\x07",
      9);
  const std::string in_module = std::string("\x1a\x09") + computation;
  const std::string name("\x0a\x01m", 3);
  EXPECT_EQ(refusal(name + in_module + "\x30\x07"), "accepted");  // by id
  EXPECT_EQ(refusal(name +
                    "\x12\x01"
                    "e" +
                    in_module),
            "accepted");  // by name
  const std::string none = "is none of the formats";
  EXPECT_NE(refusal(name + in_module + "\x30\x08").find(none), std::string::npos);
  EXPECT_NE(refusal(name +
                    "\x12\x01"
                    "f" +
                    in_module)
                .find(none),
            std::string::npos);
  EXPECT_NE(refusal(in_module + "\x30\x07").find(none), std::string::npos);  // no name
  // A known number of another wire type, and damage behind the module.
  EXPECT_NE(refusal(name + in_module + std::string("\x30\x07\x22", 3)).find(none),
            std::string::npos);
  EXPECT_NE(refusal(name + in_module + std::string("\x30\x07\x20\x01", 4)).find(none),
            std::string::npos);
  // A number that is not known may be anything.
  EXPECT_EQ(refusal(name + in_module + std::string("\x30\x07\xf8\x0f\x01", 5)), "accepted");
}

TEST(Program, SaysWhatOtherFilesAre) {
  const std::pair<std::string, const char*> kCases[] = {
      {std::string("\x9EPCA\r\n\x1A\n....", 12), "is a Precast artifact"},
      {std::string("\x1f\x8b\x08\x00", 4), "compressed with gzip"},
      {std::string("\x28\xb5\x2f\xfd\x04", 5), "compressed with zstd"},
      {std::string("\xfd"
                   "7zXZ\x00",
                   6),
       "compressed with xz"},
      {std::string("PK\x03\x04....", 8), "zip archive"},
      {std::string("\x93NUMPY\x01\x00", 8), "NumPy array"},
      {std::string("\x7f"
                   "ELF\x02\x01",
                   6),
       "ELF file"},
      {std::string("\x83\xaf\x70\xd1\x0d", 5), "Riegeli"},
      {std::string("\x80\x04\x95\x10", 4), "Python pickle"},
      {data("add.jax_export"), "looks like a jax.export file"},
      {"\x0a" + std::string("\x8d\x03", 2) + data("add.hlo.binpb"), "xla.HloProto"},
  };
  for (const auto& [bytes, what] : kCases) {
    EXPECT_NE(refusal(bytes).find(what), std::string::npos) << what << ": " << refusal(bytes);
  }
  const auto executable =
      base::read_file(std::string(PRECAST_TESTDATA) + "/cpu/executable.binpb", 1 << 20);
  ASSERT_TRUE(executable);
  EXPECT_NE(refusal(*executable).find("an executable that a plugin serialized"), std::string::npos);
}

TEST(Program, AnEmptyFileAndUnknownBytesAreNamed) {
  EXPECT_EQ(refusal(""), "'x' is empty");
  EXPECT_EQ(refusal(std::string("\x01\x02\x03", 3)),
            "'x' is none of the formats Precast knows (StableHLO text, MLIR bytecode, HLO proto); "
            "it begins with the bytes 010203");
  EXPECT_NE(refusal(std::string(100, '\x02'))
                .find("bytes 0202020202020202020202020202020"
                      "2"),
            std::string::npos);
}

TEST(Program, HostileBytesAreRefusedOrTakenAndNeverCrash) {
  std::mt19937 random(7);
  for (const char* name :
       {"add.mlir", "add.raw.mlirbc", "add.vhlo.mlirbc", "add.hlo.binpb", "add.jax_export"}) {
    const Bytes whole = data(name);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      (void)Program::from_bytes(whole.substr(0, size), "cut");
    }
    for (int round = 0; round < 2000; ++round) {
      Bytes changed = whole;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      const auto program = Program::from_bytes(changed, "changed");
      if (program) {
        EXPECT_EQ(program->bytes(), changed);
      }
    }
  }
}

TEST(ProgramDigest, TextByItsWords) {
  const auto digest = [](std::string_view text) {
    return program::digest_program(Program::from_bytes(Bytes(text), "a.mlir").value());
  };
  const program::ProgramDigest plain = digest("module {}");
  EXPECT_EQ(plain.mode, program::DigestMode::text);
  EXPECT_EQ(program::to_string(plain.mode), "text");
  EXPECT_EQ(plain.format, ProgramFormat::mlir_text);
  EXPECT_EQ(plain.rules, program::kTextRulesVersion);
  EXPECT_EQ(digest("module  {} // the same"), plain);
  EXPECT_NE(digest("module @a {}").sha256, plain.sha256);
}

TEST(ProgramDigest, BytecodeByItsStructure) {
  for (const char* name : {"add.raw.mlirbc", "add.vhlo.mlirbc"}) {
    const Program program = Program::from_bytes(data(name), name).value();
    const program::ProgramDigest digest = program::digest_program(program);
    EXPECT_EQ(digest.mode, program::DigestMode::structural) << digest.raw_reason;
    EXPECT_EQ(program::to_string(digest.mode), "structural");
    EXPECT_EQ(digest.bytes, 0u);
  }
}

// What cannot be decoded counts whole, and says why.
TEST(ProgramDigest, TheRestRaw) {
  const Program hlo = Program::from_bytes(data("add.hlo.binpb"), "a").value();
  const program::ProgramDigest digest = program::digest_program(hlo);
  EXPECT_EQ(digest.mode, program::DigestMode::raw);
  EXPECT_EQ(program::to_string(digest.mode), "raw");
  EXPECT_EQ(digest.sha256, Digest::of(hlo.bytes()));
  EXPECT_EQ(digest.bytes, hlo.bytes().size());
  EXPECT_FALSE(digest.raw_reason.empty());

  Bytes cut = data("add.vhlo.mlirbc");
  cut.resize(cut.size() / 2);
  const Program damaged = Program::from_bytes(cut, "cut").value();
  const program::ProgramDigest raw = program::digest_program(damaged);
  EXPECT_EQ(raw.mode, program::DigestMode::raw);
  EXPECT_EQ(raw.sha256, Digest::of(cut));
  EXPECT_TRUE(raw.custom_calls.plain_truncated);
  EXPECT_NE(raw.raw_reason, digest.raw_reason);
}

// An HLO module of one computation with these instructions, and what is called in it.
program::CustomCallScan calls_of_hlo(const Bytes& instructions) {
  Bytes computation;
  base::append_bytes(computation, 1, "main");
  computation += instructions;
  base::append_varint(computation, 5, 1);
  Bytes module;
  base::append_bytes(module, 1, "m");
  base::append_bytes(module, 3, computation);
  base::append_varint(module, 6, 1);
  const auto program = Program::from_bytes(module, "hlo");
  EXPECT_TRUE(program) << program.error().to_string();
  return program::digest_program(*program).custom_calls;
}

TEST(ProgramDigest, TellsTheCustomCallsOfHlo) {
  const auto instruction = [](const std::string& target) {
    Bytes fields;
    base::append_bytes(fields, 1, "call");
    base::append_bytes(fields, 28, target);
    Bytes whole;
    base::append_bytes(whole, 2, fields);
    return whole;
  };
  const auto calls = calls_of_hlo(instruction("mine") + instruction("CustomSPMDPartitioning"));
  EXPECT_EQ(calls.plain.count("mine"), 1U);
  EXPECT_EQ(calls.process_bound.count("CustomSPMDPartitioning"), 1U);
  EXPECT_FALSE(calls.plain_truncated);
  Bytes damaged;
  base::append_bytes(damaged, 2, "\xff");
  EXPECT_TRUE(calls_of_hlo(instruction("mine") + damaged).plain_truncated);
}

TEST(ProgramDigest, TellsCustomCalls) {
  const Program program =
      Program::from_bytes("module { stablehlo.custom_call @CustomSPMDPartitioning() }", "a")
          .value();
  EXPECT_EQ(
      program::digest_program(program).custom_calls.process_bound.count("CustomSPMDPartitioning"),
      1u);
}

}  // namespace
}  // namespace precast
