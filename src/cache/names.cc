// The names of outcomes and reasons, as they print everywhere.
#include "precast/cache.h"

namespace precast {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::hit: return "hit";
    case Outcome::miss: return "miss";
    case Outcome::skip: return "skip";
    case Outcome::bypass: return "bypass";
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
  }
  return "unknown";
}

}  // namespace precast
