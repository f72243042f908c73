// precast diff: how two programs, artifacts or saved records differ.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/differences.h"
#include "cli/saved.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string left;
  std::string right;
};

// A program has no options, flags or plugin: beside one, only programs are compared.
void keep_program_only(SavedRecord& saved) {
  const KeyField* program = saved.record.find("program");
  saved.record = program == nullptr ? KeyRecord() : KeyRecord({*program});
}

Json json_of_side(const Comparable& side, const std::string& path) {
  Json json = {{"file", path}, {"kind", side.kind}};
  json["key"] = side.kind == "program" ? Json() : Json(side.saved.record.digest().hex());
  return json;
}

Result<ExitCode> diff(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(Comparable left, read_comparable(arguments.left));
  PRECAST_ASSIGN(Comparable right, read_comparable(arguments.right));
  Json object = {{"schema", "precast.diff/1"},
                 {"left", json_of_side(left, arguments.left)},
                 {"right", json_of_side(right, arguments.right)}};
  if (left.kind == "program" || right.kind == "program") {
    keep_program_only(left.saved);
    keep_program_only(right.saved);
  }
  const RecordDifferences differences = compare(left.saved, right.saved);
  object["equal"] = differences.items.empty();
  object["fields"] = json_of_items(differences.items);
  object["program"] = json_of_program(differences.program);
  object["program_note"] = differences.program_note;
  out.object(object);
  if (differences.items.empty()) {
    out.answer(left.kind == "program" || right.kind == "program" ? "the programs are equal\n"
                                                                 : "the keys are equal\n");
    return ExitCode::done;
  }
  out.answer(fmt::format("{} in the key\n", counted(differences.items.size(), "difference")));
  print_differences(differences, {printable(arguments.left), printable(arguments.right)}, out);
  return ExitCode::negative;
}

}  // namespace

Verb add_diff(CLI::App& root) {
  VerbOptions options(root, "diff", "show how two programs, artifacts or saved records differ",
                      "precast diff old.mlirbc new.mlirbc");
  auto arguments = std::make_shared<Arguments>();
  const char* kHelp = "a program, an artifact, or a record that key --save or a miss left";
  options.add(arguments->left, {.names = "LEFT", .help = kHelp, .required = true});
  options.add(arguments->right, {.names = "RIGHT", .help = "the same", .required = true});
  return {options.app(), [arguments](Output& out) { return diff(*arguments, out); }};
}

}  // namespace precast::cli
