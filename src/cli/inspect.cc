// precast inspect: everything in an artifact in readable form, without a plugin.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/files.h"
#include "cli/record_view.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/limits.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string file;
  bool items = false;
};

// What is in the artifact, decoded.
struct Contents {
  VerifiedArtifact artifact;
  KeyRecord record;
  CompileOptions options;
};

Result<Contents> read_contents(const std::string& file, Output& out) {
  const std::string where = "while reading '" + file + "'";
  PRECAST_ASSIGN(Bytes bytes, read_input(file, limits::kMaxArtifactBytes));
  if (!bytes.empty() && !looks_like_artifact(bytes)) {
    out.advise("'precast compile PROGRAM -o FILE' makes an artifact");
  }
  auto artifact = VerifiedArtifact::decode(std::move(bytes));
  if (!artifact) return std::move(artifact).error().with(where);
  auto record = KeyRecord::decode(artifact->key_record());
  if (!record) return std::move(record).error().with("in the key record").with(where);
  auto options = CompileOptions::from_serialized(Bytes(artifact->compile_options()));
  if (!options) {
    // The file says that these are compile options, so the file is wrong and not the user.
    return Error(ErrorCode::corrupt, "compile options: " + options.error().message()).with(where);
  }
  return Contents{*std::move(artifact), *std::move(record), *std::move(options)};
}

std::string time_text(std::int64_t unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  if (::gmtime_r(&seconds, &utc) == nullptr) return fmt::format("{} s", unix_s);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", utc);
}

std::string hex_text(BytesView bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

template <std::size_t N>
BytesView view_of(const std::array<std::uint8_t, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void heading(const std::string& text, Output& out) {
  out.print("\n" + out.styled(Style::bold, text) + "\n");
}

void print_facts(const std::string& file, const Contents& contents, Output& out) {
  const VerifiedArtifact& artifact = contents.artifact;
  const Provenance& from = artifact.provenance();
  Table facts({{""}, {"", false, true}});
  facts.add({"artifact", printable(file)});
  facts.add({"format", fmt::format("{}", artifact.format_version())});
  facts.add({"bytes", bytes_text(artifact.file_bytes())});
  facts.add({"root", artifact.root().hex()});
  facts.add({"key", contents.record.digest().hex()});
  facts.add({"program", printable(from.program_name)});
  if (!from.label.empty()) facts.add({"label", printable(from.label)});
  facts.add({"created", time_text(from.created_unix_s)});
  facts.add({"host", printable(from.host)});
  facts.add({"precast", printable(from.precast_version)});
  facts.add({"plugin", printable(from.plugin_path)});
  facts.add({"platform",
             fmt::format("{}, {}", printable(from.platform), printable(from.platform_version))});
  facts.add({"PJRT API", printable(from.api_version)});
  facts.add({"compile", ms_text(from.compile_ms) + " ms"});
  if (const auto program = artifact.program()) {
    facts.add({"kept program", fmt::format("{}, {}", to_string(artifact.program_format()),
                                           bytes_text(program->size()))});
  }
  out.print(facts);
}

void print_sections(const VerifiedArtifact& artifact, Output& out) {
  heading("sections", out);
  Table table({{"kind"},
               {"codec"},
               {"offset", true},
               {"stored", true},
               {"true", true},
               {"sha256 as stored", false, true}});
  for (const SectionInfo& section : artifact.sections()) {
    table.add({to_string(section.kind), to_string(section.codec), fmt::format("{}", section.offset),
               fmt::format("{}", section.stored_bytes), fmt::format("{}", section.true_bytes),
               section.digest.hex()});
  }
  out.print(table, 2);
  heading("signatures", out);
  if (artifact.signatures().empty()) out.print("  none\n");
  for (const ArtifactSignature& signature : artifact.signatures()) {
    out.print(fmt::format("  Ed25519 by {}\n", hex_text(view_of(signature.key))));
  }
}

void print_options(const CompileOptions& options, Output& out) {
  heading("compile options", out);
  Table facts({{""}, {""}});
  facts.add({"replicas", fmt::format("{}", options.replicas())});
  facts.add({"partitions", fmt::format("{}", options.partitions())});
  facts.add({"SPMD", options.use_spmd() ? "yes" : "no"});
  if (const auto assignment = options.assignment()) {
    facts.add({"devices", joined(assignment->device_ids)});
  }
  facts.add({"bytes", bytes_text(options.serialized().size())});
  out.print(facts, 2);
}

void print_tensors(const std::string& name, const std::vector<TensorSpec>& specs, bool parameters,
                   Table& table) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::vector<std::string> notes;
    if (parameters && specs[i].donation != Donation::none) {
      notes.emplace_back(to_string(specs[i].donation));
    }
    if (!specs[i].memory_kind.empty()) notes.push_back(printable(specs[i].memory_kind));
    if (!specs[i].sharding.empty()) notes.emplace_back("sharded");
    table.add({fmt::format("{} {}", name, i), specs[i].to_string(), joined(notes)});
  }
}

void print_signature(const VerifiedArtifact& artifact, Output& out) {
  heading("signature", out);
  if (!artifact.signature()) {
    out.print("  not recorded: the plugin did not say what the program takes\n");
    return;
  }
  const ProgramSignature& signature = *artifact.signature();
  Table table({{""}, {""}, {"", false, true}});
  if (!signature.name.empty()) table.add({"name", printable(signature.name)});
  print_tensors("parameter", signature.parameters, true, table);
  print_tensors("result", signature.results, false, table);
  out.print(table, 2);
}

void print_costs(const VerifiedArtifact& artifact, Output& out) {
  if (const auto& stats = artifact.memory_stats()) {
    heading("memory per device", out);
    Table table({{""}, {"", true}});
    const std::pair<const char*, std::int64_t> rows[] = {
        {"generated code", stats->generated_code},
        {"arguments", stats->arguments},
        {"outputs", stats->outputs},
        {"aliased", stats->aliased},
        {"temporaries", stats->temporaries},
        {"peak", stats->peak},
    };
    for (const auto& [name, bytes] : rows) table.add({name, fmt::format("{} B", bytes)});
    out.print(table, 2);
  }
  if (artifact.cost_analysis().empty()) return;
  heading("cost analysis", out);
  Table table({{""}, {"", true}});
  for (const CostItem& item : artifact.cost_analysis()) {
    table.add({printable(item.name), fmt::format("{:.6g}", item.value)});
  }
  out.print(table, 2);
}

Json json_of_sections(const VerifiedArtifact& artifact) {
  Json sections = Json::array();
  for (const SectionInfo& section : artifact.sections()) {
    sections.push_back({{"kind", to_string(section.kind)},
                        {"codec", to_string(section.codec)},
                        {"offset", section.offset},
                        {"stored_bytes", section.stored_bytes},
                        {"true_bytes", section.true_bytes},
                        {"sha256", section.digest.hex()}});
  }
  return sections;
}

Json json_of(const Provenance& from) {
  return {{"created_unix_s", from.created_unix_s},
          {"host", from.host},
          {"precast_version", from.precast_version},
          {"plugin_path", from.plugin_path},
          {"platform", from.platform},
          {"platform_version", from.platform_version},
          {"api_version", from.api_version},
          {"compile_ms", rounded_ms(from.compile_ms)},
          {"label", from.label},
          {"program_name", from.program_name}};
}

Json json_of_options(const CompileOptions& options) {
  Json object = {{"replicas", options.replicas()},
                 {"partitions", options.partitions()},
                 {"spmd", options.use_spmd()},
                 {"devices", Json()},
                 {"bytes", options.serialized().size()}};
  if (const auto assignment = options.assignment()) object["devices"] = assignment->device_ids;
  return object;
}

Json json_of(const std::string& file, const Contents& contents) {
  const VerifiedArtifact& artifact = contents.artifact;
  Json object = {{"schema", "precast.inspect/1"},
                 {"file", file},
                 {"format_version", artifact.format_version()},
                 {"bytes", artifact.file_bytes()},
                 {"root", artifact.root().hex()},
                 {"key", contents.record.digest().hex()},
                 {"provenance", json_of(artifact.provenance())},
                 {"sections", json_of_sections(artifact)},
                 {"signatures", Json::array()},
                 {"compile_options", json_of_options(contents.options)},
                 {"signature", Json()},
                 {"memory_stats", Json()},
                 {"cost_analysis", Json::object()},
                 {"program", Json()},
                 {"front_end_bytes", artifact.front_end().size()},
                 {"outline_bytes", artifact.outline().size()},
                 {"key_record", json_of_fields(contents.record, true)}};
  for (const ArtifactSignature& signature : artifact.signatures()) {
    object["signatures"].push_back({{"ed25519_key", hex_text(view_of(signature.key))}});
  }
  if (artifact.signature()) object["signature"] = cli::json_of(*artifact.signature());
  if (artifact.memory_stats()) object["memory_stats"] = cli::json_of(*artifact.memory_stats());
  for (const CostItem& item : artifact.cost_analysis()) {
    object["cost_analysis"][item.name] = item.value;
  }
  if (const auto program = artifact.program()) {
    object["program"] = {{"format", to_string(artifact.program_format())},
                         {"bytes", program->size()}};
  }
  return object;
}

Result<ExitCode> inspect(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const Contents contents, read_contents(arguments.file, out));
  print_facts(arguments.file, contents, out);
  print_sections(contents.artifact, out);
  print_options(contents.options, out);
  print_signature(contents.artifact, out);
  print_costs(contents.artifact, out);
  heading("key record", out);
  out.print(table_of_fields(contents.record), 2);
  if (arguments.items) out.print("\n" + text_of_items(contents.record));
  if (out.json()) out.object(json_of(arguments.file, contents));
  return ExitCode::done;
}

}  // namespace

Verb add_inspect(CLI::App& root) {
  VerbOptions options(root, "inspect", "show what is in an artifact; needs no plugin",
                      "precast inspect ranker.precast");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->file, {.names = "FILE", .help = "an artifact", .required = true});
  options.add(arguments->items,
              {.names = "--items", .help = "show every item of the key record", .group = "Output"});
  return {options.app(), [arguments](Output& out) { return inspect(*arguments, out); }};
}

}  // namespace precast::cli
