#include "c_api/report.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "c_api/structs.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

namespace precast::c_api {
namespace {

static_assert(static_cast<int>(Outcome::hit) == PRECAST_HIT);
static_assert(static_cast<int>(Outcome::miss) == PRECAST_MISS);
static_assert(static_cast<int>(Outcome::skip) == PRECAST_SKIP);
static_assert(static_cast<int>(Outcome::bypass) == PRECAST_BYPASS);
static_assert(static_cast<int>(Outcome::error) == PRECAST_FAILED);

// The names are literals, so they end with NUL.
std::string_view outcome_name(const precast_report& report) {
  return report.has_outcome ? to_string(report.report.outcome) : std::string_view("none");
}

// The fields are those of `precast compile --json`.
std::string json_of(const precast_report& handle) {
  using Json = nlohmann::ordered_json;
  const Report& report = handle.report;
  Json phases = Json::object();
  // A phase may come twice.
  for (const Phase& phase : report.phases) {
    phases[phase.name] = phases.value(phase.name, 0.0) + phase.ms;
  }
  const bool stored = report.artifact_bytes != 0 && !report.artifact_path.empty();
  const Json object = {{"schema", "precast.report/1"},
                       {"outcome", outcome_name(handle)},
                       {"reason", to_string(report.reason)},
                       {"detail", report.detail},
                       {"key", report.key ? Json(handle.key) : Json()},
                       {"artifact", stored ? Json(report.artifact_path) : Json()},
                       {"root", report.root ? Json(handle.root) : Json()},
                       {"bytes",
                        {{"program", report.program_bytes},
                         {"executable", report.executable_bytes},
                         {"artifact", report.artifact_bytes}}},
                       {"warnings", report.warnings},
                       {"phases_ms", std::move(phases)}};
  // Paths and messages may hold any bytes; what is not UTF-8 is replaced.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::unique_ptr<precast_report> make_report(Report report, bool has_outcome) {
  auto handle = std::make_unique<precast_report>();
  handle->report = std::move(report);
  handle->has_outcome = has_outcome;
  if (handle->report.key) handle->key = handle->report.key->hex();
  if (handle->report.root) handle->root = handle->report.root->hex();
  handle->json = json_of(*handle);
  return handle;
}

}  // namespace precast::c_api

namespace {

namespace c_api = precast::c_api;
using precast::Result;

}  // namespace

extern "C" {

int32_t precast_report_get_facts(const precast_report* report, precast_report_facts* facts,
                                 precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(report, "report"));
    const precast::Report& from = report->report;
    precast_report_facts known{};
    known.outcome_name = c_api::outcome_name(*report).data();
    known.reason_name = precast::to_string(from.reason).data();
    known.detail = from.detail.c_str();
    known.key = report->key.c_str();
    known.artifact_path = from.artifact_bytes == 0 ? "" : from.artifact_path.c_str();
    known.program_bytes = from.program_bytes;
    known.executable_bytes = from.executable_bytes;
    known.artifact_bytes = from.artifact_bytes;
    known.phase_count = from.phases.size();
    known.warning_count = from.warnings.size();
    known.outcome =
        report->has_outcome ? static_cast<int32_t>(from.outcome) : int32_t{PRECAST_NO_OUTCOME};
    known.reason = static_cast<int32_t>(from.reason);
    known.root = report->root.c_str();
    return c_api::write_struct(known, facts);
  });
}

int32_t precast_report_get_phase(const precast_report* report, size_t index, precast_phase* phase,
                                 precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(report, "report"));
    PRECAST_TRY(c_api::check_index(index, report->report.phases.size(), "phase"));
    const precast::Phase& from = report->report.phases[index];
    precast_phase known{};
    known.name = from.name.c_str();
    known.ms = from.ms;
    return c_api::write_struct(known, phase);
  });
}

const char* precast_report_warning(const precast_report* report, size_t index) {
  if (report == nullptr || index >= report->report.warnings.size()) return "";
  return report->report.warnings[index].c_str();
}

const char* precast_report_json(const precast_report* report) {
  return report == nullptr ? "" : report->json.c_str();
}

void precast_report_free(precast_report* report) { delete report; }

}  // extern "C"
