#include "cache/plan.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

namespace precast::cache {
namespace {

constexpr std::array kStages = {Stage::key,       Stage::lookup, Stage::verify, Stage::load,
                                Stage::serialize, Stage::prove,  Stage::publish};
constexpr std::array kCodes = {
    ErrorCode::invalid_argument,  ErrorCode::unsupported,       ErrorCode::incompatible,
    ErrorCode::corrupt,           ErrorCode::untrusted,         ErrorCode::unavailable,
    ErrorCode::deadline_exceeded, ErrorCode::permission_denied, ErrorCode::resource_exhausted,
    ErrorCode::io_error,          ErrorCode::plugin_error,      ErrorCode::internal,
};

bool before_compile(Stage stage) {
  return stage == Stage::key || stage == Stage::lookup || stage == Stage::verify ||
         stage == Stage::load;
}

// The second law, for every pair: only a wrong input of the caller is ever returned.
TEST(Plan, NoCacheFaultFailsACompile) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step step = on_error(stage, code, /*strict=*/false);
      const bool callers_fault = stage == Stage::key && code == ErrorCode::invalid_argument;
      EXPECT_EQ(step.action == Action::return_error, callers_fault)
          << static_cast<int>(stage) << " " << to_string(code);
    }
  }
}

TEST(Plan, EveryStepHasAReasonAndAFittingAction) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step step = on_error(stage, code, false);
      if (step.action == Action::return_error) continue;
      EXPECT_NE(step.reason, Reason::none);
      EXPECT_NE(step.outcome, Outcome::hit);
      // After the compile there is nothing left to compile; before it there is nothing to finish
      // with.
      EXPECT_EQ(step.action != Action::finish, before_compile(stage));
      EXPECT_EQ(step.outcome == Outcome::miss, step.action == Action::compile_and_store);
    }
  }
}

TEST(Plan, RowsOfTheErrorTable) {
  const Step corrupt = on_error(Stage::verify, ErrorCode::corrupt, false);
  EXPECT_EQ(corrupt, (Step{Action::compile_and_store, Outcome::miss, Reason::entry_corrupt, true}));
  // Sound entries are never replaced: of another format or machine, unsigned, or refused by PJRT on
  // this host.
  for (const ErrorCode code :
       {ErrorCode::incompatible, ErrorCode::untrusted, ErrorCode::plugin_error}) {
    for (const Stage stage : {Stage::verify, Stage::load}) {
      EXPECT_EQ(on_error(stage, code, false).action, Action::compile_only) << to_string(code);
    }
  }
  EXPECT_EQ(on_error(Stage::load, ErrorCode::plugin_error, false).reason, Reason::load_failed);
  EXPECT_EQ(on_error(Stage::verify, ErrorCode::untrusted, false).reason, Reason::entry_untrusted);
  EXPECT_EQ(on_error(Stage::lookup, ErrorCode::unavailable, false).action, Action::compile_only);
  EXPECT_EQ(on_error(Stage::lookup, ErrorCode::permission_denied, false).action,
            Action::compile_and_store);
  EXPECT_EQ(on_error(Stage::serialize, ErrorCode::plugin_error, false).reason,
            Reason::not_serializable);
  EXPECT_EQ(on_error(Stage::serialize, ErrorCode::unsupported, false).reason,
            Reason::cannot_serialize);
  EXPECT_EQ(on_error(Stage::prove, ErrorCode::internal, false).reason, Reason::proof_failed);
  EXPECT_EQ(on_error(Stage::publish, ErrorCode::resource_exhausted, false).reason,
            Reason::store_failed);
  EXPECT_EQ(on_error(Stage::key, ErrorCode::plugin_error, false).reason, Reason::key_failed);
}

TEST(Plan, StrictReturnsFaultsAndNothingElse) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step lenient = on_error(stage, code, false);
      const Step strict = on_error(stage, code, true);
      if (lenient.warn) {
        EXPECT_EQ(strict.action, Action::return_error);
      } else {
        EXPECT_EQ(strict, lenient);
      }
    }
  }
  // A program that cannot be serialized and an entry for another machine are no faults.
  EXPECT_NE(on_error(Stage::serialize, ErrorCode::plugin_error, true).action, Action::return_error);
  EXPECT_NE(on_error(Stage::load, ErrorCode::incompatible, true).action, Action::return_error);
}

}  // namespace
}  // namespace precast::cache
