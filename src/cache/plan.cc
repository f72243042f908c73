#include "cache/plan.h"

namespace precast::cache {
namespace {

constexpr Step kReturn{Action::return_error, Outcome::bypass, Reason::none, false};

Step on_key_error(ErrorCode code) {
  // The caller's input is wrong with or without a cache: the compile would say so too, but less
  // clearly.
  if (code == ErrorCode::invalid_argument) return kReturn;
  return {Action::compile_only, Outcome::bypass, Reason::key_failed, true};
}

Step on_lookup_error(ErrorCode code) {
  switch (code) {
    // A store that is down or slow is not asked again for the same request.
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
      return {Action::compile_only, Outcome::skip, Reason::entry_unreadable, true};
    // An entry that may not be trusted or read is replaced, if the folder allows it; if not,
    // publishing says so.
    default: return {Action::compile_and_store, Outcome::miss, Reason::entry_unreadable, true};
  }
}

Step on_entry_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::corrupt:
      return {Action::compile_and_store, Outcome::miss, Reason::entry_corrupt, true};
    // Sound entries for others stay where they are.
    case ErrorCode::incompatible:
    case ErrorCode::unsupported:
      return {Action::compile_only, Outcome::skip, Reason::entry_incompatible, false};
    case ErrorCode::untrusted:
      return {Action::compile_only, Outcome::skip, Reason::entry_untrusted, true};
    // The entry passed every check: what PJRT says about it may be this host's fault, so it stays.
    case ErrorCode::plugin_error:
      return {Action::compile_only, Outcome::skip, Reason::load_failed, true};
    default: return {Action::compile_only, Outcome::skip, Reason::entry_unreadable, true};
  }
}

Step on_serialize_error(ErrorCode code) {
  if (code == ErrorCode::unsupported) {
    return {Action::finish, Outcome::skip, Reason::cannot_serialize, false};
  }
  return {Action::finish, Outcome::skip, Reason::not_serializable, false};
}

Step decide(Stage stage, ErrorCode code) {
  switch (stage) {
    case Stage::key: return on_key_error(code);
    case Stage::lookup: return on_lookup_error(code);
    case Stage::verify:
    case Stage::load: return on_entry_error(code);
    case Stage::serialize: return on_serialize_error(code);
    case Stage::prove: return {Action::finish, Outcome::skip, Reason::proof_failed, true};
    case Stage::publish: return {Action::finish, Outcome::skip, Reason::store_failed, true};
  }
  return kReturn;
}

}  // namespace

Step on_error(Stage stage, ErrorCode code, bool strict) {
  const Step step = decide(stage, code);
  if (strict && step.warn) return kReturn;
  return step;
}

}  // namespace precast::cache
