// Plan: what follows from a fault, as a pure table.
//
// cache.cc executes; every decision about errors is made here, so that a test can walk all of them.
// The table is the error table of docs/architecture.md.
#pragma once

#include "precast/cache.h"
#include "precast/error.h"

namespace precast::cache {

// Where in the life of a request an error came up.
enum class Stage : std::uint8_t {
  key,        // naming the compilation
  lookup,     // reading the entry from the store
  verify,     // decoding it, comparing its record
  load,       // handing it to PJRT
  serialize,  // asking the plugin for the compiled executable's bytes
  prove,      // encoding, decoding again, trial load
  publish,    // writing the entry
};

enum class Action : std::uint8_t {
  return_error,       // the error is the answer
  compile_and_store,  // go on with a compile, then replace or create the entry
  compile_only,       // go on with a compile and store nothing
  finish,             // the compile is done; answer without storing
};

struct Step {
  Action action;
  Outcome outcome;  // what the report says when all that follows succeeds
  Reason reason;
  bool warn;  // the fault is worth one warning to the user

  bool operator==(const Step&) const = default;
};

// What follows from an error of `code` at `stage`. With `strict`, a fault of the cache is returned;
// what is no fault (a program that cannot be serialized, an entry made for another machine) is not.
Step on_error(Stage stage, ErrorCode code, bool strict);

}  // namespace precast::cache
