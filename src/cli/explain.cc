// precast explain: why a compile is no hit, or was none: the nearest entries and what differs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/differences.h"
#include "cli/entries.h"
#include "cli/request.h"
#include "cli/saved.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/cache_folder.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string what;
  int most = 1;
  RequestArguments request;
};

// What is explained, and what became or would become of it.
struct Question {
  std::optional<SavedRecord> saved;  // nothing when there is no key
  Outcome outcome = Outcome::miss;
  Reason reason = Reason::none;
  std::string detail;
};

// A program is asked for as `compile` would; nothing is compiled.
Result<Question> ask(const Program& program, const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const CompileOptions options, arguments.request.compile_options());
  PRECAST_ASSIGN(const Session session, open_session(arguments.request.plugin, out));
  const Cache cache = Cache::open(arguments.request.cache_config(out));
  PRECAST_ASSIGN(const RequestOptions request, arguments.request.request_options());
  PRECAST_ASSIGN(Lookup lookup, cache.would_hit(session.client, program, options, request));
  Question question{std::nullopt, lookup.outcome, lookup.reason, std::move(lookup.detail)};
  if (!lookup.record) return question;
  question.saved = SavedRecord::from_program(program);
  question.saved->record = *std::move(lookup.record);
  return question;
}

Question question_of(SavedRecord saved) {
  Question question{std::nullopt, saved.outcome, saved.reason, saved.detail};
  question.saved = std::move(saved);
  return question;
}

// A file of one of three kinds, or the beginning of a key that is in the cache or was asked for on
// this machine.
Result<Question> question(const Arguments& arguments, Output& out) {
  std::error_code ignored;
  if (is_key_prefix(arguments.what) && arguments.what.size() >= kLeastKeyDigits &&
      !std::filesystem::exists(arguments.what, ignored)) {
    PRECAST_ASSIGN(SavedRecord saved,
                   find_saved_record(arguments.what, {arguments.request.cache, ""}));
    return question_of(std::move(saved));
  }
  PRECAST_ASSIGN(Comparable read, read_comparable(arguments.what));
  if (!read.program) return question_of(std::move(read.saved));
  return ask(*read.program, arguments, out);
}

Json json_of(const NearEntry& near) {
  return {{"key", near.key.hex()},
          {"path", near.path},
          {"stored", near.stored},
          {"shared_fields", near.shared_fields},
          {"program_name", near.entry.provenance.program_name},
          {"label", near.entry.provenance.label},
          {"created_unix_s", near.entry.provenance.created_unix_s}};
}

void add_near(Json& object, const std::vector<NearEntry>& entries) {
  object["nearest"] = entries.empty() ? Json() : json_of(entries[0]);
  object["fields"] = Json::array();
  object["program"] = Json::array();
  object["program_note"] = "";
  object["others"] = Json::array();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Json target = i == 0 ? Json::object() : json_of(entries[i]);
    target["fields"] = json_of_items(entries[i].differences.items);
    target["program"] = json_of_program(entries[i].differences.program);
    target["program_note"] = entries[i].differences.program_note;
    if (i == 0) {
      object.update(target);
    } else {
      object["others"].push_back(std::move(target));
    }
  }
}

std::string sentence_of(const NearEntry& near, const KeyRecord& asked) {
  const Provenance& from = near.entry.provenance;
  std::string text = fmt::format("{} {}", near.stored ? "entry" : "record of an earlier compile",
                                 near.key.hex().substr(0, kShortKeyDigits));
  if (!from.program_name.empty()) text += fmt::format(" of '{}'", printable(from.program_name));
  if (!from.label.empty()) text += fmt::format(", label '{}'", printable(from.label));
  text += fmt::format(": {} of {} fields are equal", near.shared_fields, asked.fields().size());
  return text;
}

Result<ExitCode> explain(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const Question asked, question(arguments, out));
  Json object = {{"schema", "precast.explain/1"},
                 {"outcome", to_string(asked.outcome)},
                 {"reason", to_string(asked.reason)},
                 {"detail", asked.detail},
                 {"key", asked.saved ? Json(asked.saved->record.digest().hex()) : Json()}};
  const bool hit = asked.outcome == Outcome::hit;
  out.answer(fmt::format("{}{}{}\n", to_string(asked.outcome),
                         hit ? std::string() : fmt::format(": {}", to_string(asked.reason)),
                         asked.detail.empty() ? "" : ": " + printable(asked.detail)));
  Nearest near;
  if (asked.saved) {
    out.print(fmt::format("  key {}\n", asked.saved->record.digest().hex()));
    near = nearest(*asked.saved, {arguments.request.cache, ""},
                   static_cast<std::size_t>(arguments.most));
    if (!near.problem.empty()) out.warning(printable(near.problem));
  }
  add_near(object, near.entries);
  object["looked_at"] = near.looked_at;
  object["unreadable"] = near.unreadable;
  object["left_out"] = near.left_out;
  object["problem"] = near.problem;
  out.object(object);
  if (asked.saved && near.entries.empty()) {
    out.print(fmt::format("  nothing to compare with: {} in the cache and among the records\n",
                          counted(near.looked_at, "other entry")));
  }
  for (const NearEntry& entry : near.entries) {
    out.print("\nnearest " + sentence_of(entry, asked.saved->record) + "\n");
    print_differences(entry.differences, {"expected", "found"}, out);
  }
  return hit ? ExitCode::done : ExitCode::negative;
}

}  // namespace

Verb add_explain(CLI::App& root) {
  VerbOptions options(root, "explain", "say why a compile is no hit, and what differs",
                      "precast explain ranker.mlirbc\nprecast explain 4be2c09a11d7");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->what,
              {.names = "WHAT",
               .help = "a program, an artifact, a record that key --save or a miss left, or the "
                       "beginning of a key",
               .required = true});
  options.add(arguments->most, 1, 100,
              {.names = "--most",
               .help = "how many entries to compare with",
               .value = "N",
               .group = "Output"});
  arguments->request.add_to(options, "--device-ids");
  return {options.app(), [arguments](Output& out) { return explain(*arguments, out); }};
}

}  // namespace precast::cli
