#include "cache/plan.h"

namespace precast::cache {
namespace {

// absl's status codes, as PJRT numbers them.
constexpr int kCancelled = 1;
constexpr int kInvalidArgument = 3;
constexpr int kDeadlineExceeded = 4;
constexpr int kNotFound = 5;
constexpr int kResourceExhausted = 8;
constexpr int kAborted = 10;
constexpr int kUnimplemented = 12;
constexpr int kUnavailable = 14;

constexpr Step failed(Reason reason) {
  return {Action::return_error, Outcome::error, reason, false, Disposal::leave};
}

constexpr Step compile(Reason reason, bool warn = false, Disposal entry = Disposal::leave) {
  return {Action::compile_and_store, Outcome::miss, reason, warn, entry};
}

constexpr Step compile_past(Reason reason, bool warn = false, Disposal entry = Disposal::leave) {
  return {Action::compile_only, Outcome::skip, reason, warn, entry};
}

constexpr Step bypass(Reason reason, bool warn = false) {
  return {Action::compile_only, Outcome::bypass, reason, warn, Disposal::leave};
}

constexpr Step finish(Reason reason, bool warn = false) {
  return {Action::finish, Outcome::skip, reason, warn, Disposal::leave};
}

Step on_key_error(ErrorCode code) {
  // The caller's input is wrong with or without a cache: the compile would say so too, but less
  // clearly.
  if (code == ErrorCode::invalid_argument) return failed(Reason::invalid_request);
  return bypass(Reason::key_failed, true);
}

Step on_lookup_error(ErrorCode code) {
  switch (code) {
    // What is in the entry's place is no entry: it would be in the way for ever.
    case ErrorCode::corrupt: return compile(Reason::entry_corrupt, true, Disposal::set_aside);
    // It will not answer the next request either.
    case ErrorCode::deadline_exceeded: return bypass(Reason::store_hung, true);
    // A store that is down is not asked again for the same request.
    case ErrorCode::unavailable:
    case ErrorCode::resource_exhausted: return compile_past(Reason::entry_unreadable, true);
    // An entry that may not be trusted or read is replaced, if the folder allows it; if not,
    // publishing says so.
    default: return compile(Reason::entry_unreadable, true);
  }
}

Step on_entry_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::corrupt: return compile(Reason::entry_corrupt, true, Disposal::set_aside);
    // Sound entries for others stay where they are.
    case ErrorCode::incompatible:
    case ErrorCode::unsupported: return compile_past(Reason::entry_incompatible);
    case ErrorCode::untrusted: return compile_past(Reason::entry_untrusted, true);
    // The entry passed every check: what PJRT says about it may be this host's fault, so it stays.
    case ErrorCode::plugin_error:
      return compile_past(Reason::load_failed, true, Disposal::remember);
    default: return compile_past(Reason::entry_unreadable, true);
  }
}

Step on_serialize_error(ErrorCode code) {
  return finish(code == ErrorCode::unsupported ? Reason::cannot_serialize
                                               : Reason::not_serializable);
}

Step decide(Stage stage, ErrorCode code) {
  switch (stage) {
    case Stage::key: return on_key_error(code);
    case Stage::lookup: return on_lookup_error(code);
    case Stage::verify:
    case Stage::load: return on_entry_error(code);
    // Where nothing can be written, publishing says so.
    case Stage::lease:
      return compile(Reason::lease_unavailable, code != ErrorCode::permission_denied);
    case Stage::serialize: return on_serialize_error(code);
    case Stage::prove: return finish(Reason::proof_failed, true);
    case Stage::publish:
      return finish(
          code == ErrorCode::deadline_exceeded ? Reason::store_hung : Reason::store_failed, true);
  }
  return failed(Reason::strict_fault);
}

Step decide(Found found, const Rules& rules) {
  switch (found) {
    case Found::nothing: return compile(Reason::not_found);
    case Found::another_artifact: return failed(Reason::not_pinned);
    case Found::refused_before: return compile_past(Reason::refused_here, true);
    case Found::trial_crashed:
      return compile_past(Reason::trial_load_failed, true, Disposal::remember);
    case Found::trial_impossible: return compile_past(Reason::trial_load_failed, true);
    case Found::published_elsewhere:
      return {Action::look_up, Outcome::hit, Reason::waited, false, Disposal::leave};
    // Why, the holder knows best for itself: each waiter finds out for its own compile.
    case Found::not_stored_elsewhere: return compile(Reason::not_found);
    case Found::wait_limit:
      return rules.after_wait == AfterWait::fail ? failed(Reason::wait_limit)
                                                 : compile(Reason::wait_limit);
    case Found::dead_holder: return compile(Reason::taken_over);
    case Found::compiled_fast: return finish(Reason::below_min_compile_time);
    case Found::too_large: return finish(Reason::too_large);
    case Found::store_full: return finish(Reason::store_full, true);
  }
  return failed(Reason::strict_fault);
}

bool compiles(Action action) {
  return action == Action::compile_and_store || action == Action::compile_only;
}

// What the policy leaves of a step.
Step under(const Rules& rules, Step step) {
  if (rules.strict && step.warn) {
    // What is wrong with the entry stays wrong: the next request must not find it again.
    const Disposal entry = step.entry;
    step = failed(Reason::strict_fault);
    step.entry = entry;
  } else if (compiles(step.action) && rules.pinned) {
    step.action = Action::return_error;
    step.outcome = Outcome::error;
    step.reason = Reason::not_pinned;
  } else if (compiles(step.action) && rules.policy == Policy::offline) {
    step.action = Action::return_error;
    step.outcome = Outcome::error;
    step.reason = Reason::offline;
  } else if (step.action == Action::compile_and_store && rules.policy == Policy::read_only) {
    step.action = Action::compile_only;
    step.outcome = Outcome::skip;
    if (step.reason == Reason::not_found) step.reason = Reason::read_only;
  }
  // These two leave the store as it is.
  if (step.entry == Disposal::set_aside &&
      (rules.policy == Policy::offline || rules.policy == Policy::read_only)) {
    step.entry = Disposal::leave;
  }
  return step;
}

}  // namespace

Step at_start(const Rules& rules) {
  if (rules.policy == Policy::refresh) return under(rules, compile(Reason::refreshed));
  return {Action::look_up, Outcome::miss, Reason::not_found, false, Disposal::leave};
}

Step on_bypass(Reason reason, const Rules& rules) {
  if (reason == Reason::disabled) return bypass(reason);
  return under(rules, bypass(reason));
}

Step on_found(Found found, const Rules& rules) { return under(rules, decide(found, rules)); }

Step on_error(Stage stage, ErrorCode code, const Rules& rules) {
  return under(rules, decide(stage, code));
}

bool is_deterministic(const Error& compile_error) {
  if (compile_error.code() != ErrorCode::plugin_error) return false;
  return compile_error.plugin_code() == kInvalidArgument ||
         compile_error.plugin_code() == kUnimplemented;
}

bool is_about_artifact(const Error& load_error) {
  if (load_error.code() != ErrorCode::plugin_error) return false;
  switch (load_error.plugin_code()) {
    case kCancelled:
    case kDeadlineExceeded:
    case kNotFound:
    case kResourceExhausted:
    case kAborted:
    case kUnimplemented:
    case kUnavailable: return false;
    default: return true;
  }
}

}  // namespace precast::cache
