// The names of outcomes and reasons, as they print everywhere.
#include "precast/cache.h"

namespace precast {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::hit: return "hit";
    case Outcome::miss: return "miss";
    case Outcome::skip: return "skip";
    case Outcome::bypass: return "bypass";
    case Outcome::error: return "error";
  }
  return "unknown";
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none: return "none";
    case Reason::not_found: return "not_found";
    case Reason::entry_corrupt: return "entry_corrupt";
    case Reason::entry_incompatible: return "entry_incompatible";
    case Reason::entry_untrusted: return "entry_untrusted";
    case Reason::entry_unreadable: return "entry_unreadable";
    case Reason::load_failed: return "load_failed";
    case Reason::not_serializable: return "not_serializable";
    case Reason::cannot_serialize: return "cannot_serialize";
    case Reason::store_failed: return "store_failed";
    case Reason::proof_failed: return "proof_failed";
    case Reason::disabled: return "disabled";
    case Reason::store_unavailable: return "store_unavailable";
    case Reason::plugin_bytes_unknown: return "plugin_bytes_unknown";
    case Reason::option_names_file: return "option_names_file";
    case Reason::cpu_unknown: return "cpu_unknown";
    case Reason::cannot_load: return "cannot_load";
    case Reason::multi_process: return "multi_process";
    case Reason::key_failed: return "key_failed";
    case Reason::platform_unknown: return "platform_unknown";
    case Reason::index_bound_call: return "index_bound_call";
    case Reason::process_bound_call: return "process_bound_call";
    case Reason::flags_unknown: return "flags_unknown";
    case Reason::beyond_baseline: return "beyond_baseline";
    case Reason::libraries_unknown: return "libraries_unknown";
    case Reason::read_only: return "read_only";
    case Reason::refreshed: return "refreshed";
    case Reason::below_min_compile_time: return "below_min_compile_time";
    case Reason::too_large: return "too_large";
    case Reason::refused_here: return "refused_here";
    case Reason::trial_load_failed: return "trial_load_failed";
    case Reason::waited: return "waited";
    case Reason::taken_over: return "taken_over";
    case Reason::wait_limit: return "wait_limit";
    case Reason::lease_unavailable: return "lease_unavailable";
    case Reason::store_hung: return "store_hung";
    case Reason::store_full: return "store_full";
    case Reason::offline: return "offline";
    case Reason::not_pinned: return "not_pinned";
    case Reason::compile_failed: return "compile_failed";
    case Reason::invalid_request: return "invalid_request";
    case Reason::strict_fault: return "strict_fault";
    case Reason::ahead_of_time: return "ahead_of_time";
    case Reason::dumps_wanted: return "dumps_wanted";
    case Reason::unknown_arguments: return "unknown_arguments";
    case Reason::unknown_partitioning: return "unknown_partitioning";
    case Reason::cancelled: return "cancelled";
  }
  return "unknown";
}

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::read_write: return "read-write";
    case Policy::read_only: return "read-only";
    case Policy::refresh: return "refresh";
    case Policy::offline: return "offline";
  }
  return "unknown";
}

std::string counted_as(Outcome outcome, Reason reason) {
  const auto named = [reason](std::string_view kind) {
    return std::string(kind).append(":").append(to_string(reason));
  };
  if (outcome == Outcome::error) return named("error");
  switch (reason) {
    case Reason::entry_corrupt:
    case Reason::entry_incompatible:
    case Reason::entry_untrusted:
    case Reason::entry_unreadable:
    case Reason::load_failed:
    case Reason::refused_here:
    case Reason::trial_load_failed: return named("bad");
    case Reason::waited:
    case Reason::taken_over:
    case Reason::wait_limit:
    case Reason::lease_unavailable: return named("lease");
    default: break;
  }
  // A miss that has no more to it than that there was nothing, and a hit.
  if (reason == Reason::none || reason == Reason::not_found) {
    return std::string(to_string(outcome));
  }
  return named(to_string(outcome));
}

}  // namespace precast
