// Plan: what follows from what a request found, as pure tables.
//
// request.cc executes; every decision about policies and faults is made here, so that a test can
// walk all of them. The tables are those of docs/architecture.md.
#pragma once

#include "precast/cache.h"
#include "precast/error.h"

namespace precast::cache {

// What governs a request.
struct Rules {
  Policy policy = Policy::read_write;
  bool strict = false;
  bool pinned = false;  // only one artifact may load
  AfterWait after_wait = AfterWait::compile;
};

// Where in the life of a request an error came up.
enum class Stage : std::uint8_t {
  key,        // naming the compilation
  lookup,     // reading the entry from the store
  verify,     // decoding it, comparing its record
  load,       // handing it to PJRT
  lease,      // getting the right to compile
  serialize,  // asking the plugin for the compiled executable's bytes
  prove,      // encoding, decoding again, trial load
  publish,    // writing the entry
};

// What a request found that is no error.
enum class Found : std::uint8_t {
  nothing,               // there is no entry
  another_artifact,      // there is one, and another one is pinned
  refused_before,        // this host's plugin refused the artifact before, or it ended a child
  trial_crashed,         // loading it has just ended a child, or took a child too long
  trial_impossible,      // it must be tried first, and no child could be had
  published_elsewhere,   // whoever held the lease has stored it
  not_stored_elsewhere,  // whoever held the lease has compiled it and stored nothing
  wait_limit,            // the lease is held for longer than this request waits
  dead_holder,           // the lease was taken over
  compiled_fast,         // in less than the minimum compile time
  too_large,             // for what can be loaded again
  store_full,            // the hard limit
};

enum class Action : std::uint8_t {
  look_up,            // ask the store
  return_error,       // there will be no executable
  compile_and_store,  // go on with a compile, then replace or create the entry
  compile_only,       // go on with a compile and store nothing
  finish,             // the compile is done; answer without storing
};

// What becomes of the entry that was found.
enum class Disposal : std::uint8_t {
  leave,
  set_aside,  // into the store's quarantine
  remember,   // it stays, and this host does not try it again
};

struct Step {
  Action action;
  Outcome outcome;  // what the report says when all that follows succeeds
  Reason reason;
  bool warn = false;  // the fault is worth one warning to the user
  Disposal entry = Disposal::leave;

  bool operator==(const Step&) const = default;
};

// The first step of a request that has a key.
Step at_start(const Rules& rules);

// What follows from having no key, or no usable store, for `reason`. A cache that was turned off
// compiles under every policy.
Step on_bypass(Reason reason, const Rules& rules);

Step on_found(Found found, const Rules& rules);

// What follows from an error of `code` at `stage`. With strict, a fault of the cache is returned;
// what is no fault (a program that cannot be serialized, an entry made for another machine) is not.
Step on_error(Stage stage, ErrorCode code, const Rules& rules);

// Whether a compile's error would come again wherever the program is compiled, so that those who
// wait for it may have it too. By PJRT's code: INVALID_ARGUMENT and UNIMPLEMENTED. Never what
// memory, cancellation or a signal decided.
bool is_deterministic(const Error& compile_error);

// Whether a refusal to load is about the artifact: not the memory, a cancellation, or a handler
// that this process lacks and the next one may have.
bool is_about_artifact(const Error& load_error);

}  // namespace precast::cache
