// precast fsck: what is wrong with a cache folder, and mending it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/entries.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  CacheChoice cache;
  CheckOptions options;
};

std::string state_of(const CheckFinding& finding) {
  if (finding.mended) return "mended";
  return finding.fault ? "wrong" : "";
}

Table table_of(const CheckReport& report) {
  Table table({{"what"}, {"state"}, {"path", false, true}, {"why"}});
  for (const CheckFinding& finding : report.findings) {
    table.add({std::string(to_string(finding.kind)), state_of(finding), printable(finding.path),
               printable(finding.detail)});
  }
  return table;
}

std::string summary_of(const CheckReport& report, const std::string& directory) {
  std::uint64_t wrong = 0;
  std::uint64_t mended = 0;
  for (const CheckFinding& finding : report.findings) {
    mended += finding.mended ? 1 : 0;
    wrong += finding.fault && !finding.mended ? 1 : 0;
  }
  std::string text =
      fmt::format("{}: {} sound ({})", printable(directory),
                  report.entries == 1 ? "1 entry" : fmt::format("{} entries", report.entries),
                  bytes_text(report.bytes));
  if (mended != 0) text += fmt::format(", {} mended", counted(mended, "thing"));
  text += wrong == 0 ? ", nothing wrong" : fmt::format(", {} wrong", counted(wrong, "thing"));
  return text + "\n";
}

Json json_of(const CheckReport& report) {
  Json findings = Json::array();
  for (const CheckFinding& finding : report.findings) {
    findings.push_back({{"kind", to_string(finding.kind)},
                        {"key", finding.key.empty() ? Json() : Json(finding.key)},
                        {"path", finding.path},
                        {"detail", finding.detail},
                        {"wrong", finding.fault},
                        {"mended", finding.mended}});
  }
  return findings;
}

Result<ExitCode> fsck(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const OpenedFolder opened, open_folder(arguments.cache));
  CheckReport report;
  if (opened.folder) {
    const Progress progress("checking", out);
    PRECAST_ASSIGN(report, opened.folder->check(arguments.options));
  }
  if (!report.findings.empty()) {
    out.print(table_of(report));
    out.print("\n");
  }
  out.print(summary_of(report, opened.wanted));
  if (!report.sound() && !arguments.options.mend)
    out.print("precast fsck --mend mends what it can\n");
  out.object({{"schema", "precast.fsck/1"},
              {"directory", opened.wanted},
              {"verified", arguments.options.verify},
              {"sound", report.sound()},
              {"entries", report.entries},
              {"bytes", report.bytes},
              {"findings", json_of(report)}});
  return report.sound() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

Verb add_fsck(CLI::App& root) {
  VerbOptions options(root, "fsck", "check a cache folder, and mend it",
                      "precast fsck\n"
                      "precast fsck --verify --mend");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->options.verify,
              {.names = "--verify", .help = "read and check every entry as a whole"});
  options.add(
      arguments->options.mend,
      {.names = "--mend", .help = "set corrupt entries aside, and remove what the dead left"});
  arguments->cache.add_to(options);
  return {options.app(), [arguments](Output& out) { return fsck(*arguments, out); }};
}

}  // namespace precast::cli
