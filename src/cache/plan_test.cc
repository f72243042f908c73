#include "cache/plan.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace precast::cache {
namespace {

constexpr std::array kStages = {Stage::key,   Stage::lookup,    Stage::verify, Stage::load,
                                Stage::lease, Stage::serialize, Stage::prove,  Stage::publish};
constexpr std::array kCodes = {
    ErrorCode::invalid_argument,  ErrorCode::unsupported,       ErrorCode::incompatible,
    ErrorCode::corrupt,           ErrorCode::untrusted,         ErrorCode::unavailable,
    ErrorCode::deadline_exceeded, ErrorCode::permission_denied, ErrorCode::resource_exhausted,
    ErrorCode::io_error,          ErrorCode::plugin_error,      ErrorCode::internal,
};
constexpr std::array kFound = {
    Found::nothing,
    Found::another_artifact,
    Found::refused_before,
    Found::trial_crashed,
    Found::trial_impossible,
    Found::published_elsewhere,
    Found::not_stored_elsewhere,
    Found::wait_limit,
    Found::dead_holder,
    Found::compiled_fast,
    Found::too_large,
    Found::store_full,
};

bool before_compile(Stage stage) {
  return stage == Stage::key || stage == Stage::lookup || stage == Stage::verify ||
         stage == Stage::load || stage == Stage::lease;
}
bool compiles(const Step& step) {
  return step.action == Action::compile_and_store || step.action == Action::compile_only;
}

// Every step that faults and findings can lead to under these rules.
std::vector<Step> all_steps(const Rules& rules) {
  std::vector<Step> steps = {at_start(rules)};
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) steps.push_back(on_error(stage, code, rules));
  }
  for (const Found found : kFound) steps.push_back(on_found(found, rules));
  for (const Reason reason : {Reason::store_unavailable, Reason::multi_process}) {
    steps.push_back(on_bypass(reason, rules));
  }
  return steps;
}

// The second law, for every pair: only a wrong input of the caller is ever returned.
TEST(Plan, NoCacheFaultFailsACompile) {
  for (const Policy policy : {Policy::read_write, Policy::read_only, Policy::refresh}) {
    for (const Stage stage : kStages) {
      for (const ErrorCode code : kCodes) {
        const Step step = on_error(stage, code, {.policy = policy});
        const bool callers_fault = stage == Stage::key && code == ErrorCode::invalid_argument;
        EXPECT_EQ(step.action == Action::return_error, callers_fault)
            << to_string(policy) << " " << static_cast<int>(stage) << " " << to_string(code);
      }
    }
    for (const Found found : kFound) {
      const Step step = on_found(found, {.policy = policy});
      EXPECT_EQ(step.action == Action::return_error, found == Found::another_artifact)
          << to_string(policy) << " " << static_cast<int>(found);
    }
  }
}

TEST(Plan, EveryStepHasAReasonAndAFittingAction) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step step = on_error(stage, code, {});
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

TEST(Plan, OfflineAndPinnedNeverCompile) {
  for (const Rules rules : {Rules{.policy = Policy::offline}, Rules{.pinned = true},
                            Rules{.policy = Policy::offline, .strict = true},
                            Rules{.policy = Policy::read_only, .pinned = true}}) {
    for (const Step& step : all_steps(rules)) {
      EXPECT_FALSE(compiles(step)) << to_string(step.reason);
      if (step.action == Action::return_error) {
        EXPECT_EQ(step.outcome, Outcome::error);
        EXPECT_NE(step.reason, Reason::none);
      }
    }
  }
  EXPECT_EQ(on_found(Found::nothing, {.policy = Policy::offline}).reason, Reason::offline);
  EXPECT_EQ(on_found(Found::nothing, {.pinned = true}).reason, Reason::not_pinned);
  EXPECT_EQ(on_found(Found::another_artifact, {.pinned = true}).reason, Reason::not_pinned);
  // Who turned the cache off wants the compile.
  EXPECT_EQ(on_bypass(Reason::disabled, {.policy = Policy::offline}).action, Action::compile_only);
}

TEST(Plan, ReadOnlyStoresAndMovesNothing) {
  for (const Policy policy : {Policy::read_only, Policy::offline}) {
    for (const Step& step : all_steps({.policy = policy})) {
      EXPECT_NE(step.action, Action::compile_and_store) << to_string(step.reason);
      EXPECT_NE(step.entry, Disposal::set_aside) << to_string(step.reason);
    }
  }
  EXPECT_EQ(on_found(Found::nothing, {.policy = Policy::read_only}),
            (Step{Action::compile_only, Outcome::skip, Reason::read_only}));
  // The reason stays the one that says what is wrong with the entry.
  EXPECT_EQ(on_error(Stage::verify, ErrorCode::corrupt, {.policy = Policy::read_only}).reason,
            Reason::entry_corrupt);
}

TEST(Plan, RefreshDoesNotLook) {
  EXPECT_EQ(at_start({.policy = Policy::refresh}),
            (Step{Action::compile_and_store, Outcome::miss, Reason::refreshed}));
  for (const Policy policy : {Policy::read_write, Policy::read_only, Policy::offline}) {
    EXPECT_EQ(at_start({.policy = policy}).action, Action::look_up);
  }
}

TEST(Plan, OnlyWhatIsCorruptIsSetAside) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step step = on_error(stage, code, {});
      const bool entry_is_known =
          stage == Stage::lookup || stage == Stage::verify || stage == Stage::load;
      EXPECT_EQ(step.entry == Disposal::set_aside, entry_is_known && code == ErrorCode::corrupt)
          << static_cast<int>(stage) << " " << to_string(code);
      EXPECT_EQ(step.entry == Disposal::remember,
                (stage == Stage::verify || stage == Stage::load) && code == ErrorCode::plugin_error)
          << static_cast<int>(stage) << " " << to_string(code);
    }
  }
  for (const Found found : kFound) {
    EXPECT_NE(on_found(found, {}).entry, Disposal::set_aside);
    EXPECT_EQ(on_found(found, {}).entry == Disposal::remember, found == Found::trial_crashed);
  }
}

TEST(Plan, RowsOfTheErrorTable) {
  const auto step = [](Stage stage, ErrorCode code) { return on_error(stage, code, {}); };
  EXPECT_EQ(step(Stage::verify, ErrorCode::corrupt),
            (Step{Action::compile_and_store, Outcome::miss, Reason::entry_corrupt, true,
                  Disposal::set_aside}));
  // Sound entries are never replaced: of another format or machine, unsigned, or refused by PJRT on
  // this host.
  for (const ErrorCode code :
       {ErrorCode::incompatible, ErrorCode::untrusted, ErrorCode::plugin_error}) {
    for (const Stage stage : {Stage::verify, Stage::load}) {
      EXPECT_EQ(step(stage, code).action, Action::compile_only) << to_string(code);
    }
  }
  EXPECT_EQ(step(Stage::load, ErrorCode::plugin_error).reason, Reason::load_failed);
  EXPECT_EQ(step(Stage::verify, ErrorCode::untrusted).reason, Reason::entry_untrusted);
  EXPECT_EQ(step(Stage::lookup, ErrorCode::unavailable).action, Action::compile_only);
  EXPECT_EQ(step(Stage::lookup, ErrorCode::permission_denied).action, Action::compile_and_store);
  EXPECT_EQ(step(Stage::lookup, ErrorCode::deadline_exceeded),
            (Step{Action::compile_only, Outcome::bypass, Reason::store_hung, true}));
  EXPECT_EQ(step(Stage::lease, ErrorCode::io_error),
            (Step{Action::compile_and_store, Outcome::miss, Reason::lease_unavailable, true}));
  EXPECT_FALSE(step(Stage::lease, ErrorCode::permission_denied).warn);
  EXPECT_EQ(step(Stage::serialize, ErrorCode::plugin_error).reason, Reason::not_serializable);
  EXPECT_EQ(step(Stage::serialize, ErrorCode::unsupported).reason, Reason::cannot_serialize);
  EXPECT_EQ(step(Stage::prove, ErrorCode::internal).reason, Reason::proof_failed);
  EXPECT_EQ(step(Stage::publish, ErrorCode::resource_exhausted).reason, Reason::store_failed);
  EXPECT_EQ(step(Stage::publish, ErrorCode::deadline_exceeded).reason, Reason::store_hung);
  EXPECT_EQ(step(Stage::key, ErrorCode::plugin_error).reason, Reason::key_failed);
}

TEST(Plan, RowsOfWhatIsFound) {
  const auto step = [](Found found) { return on_found(found, {}); };
  EXPECT_EQ(step(Found::nothing),
            (Step{Action::compile_and_store, Outcome::miss, Reason::not_found}));
  EXPECT_EQ(step(Found::published_elsewhere),
            (Step{Action::look_up, Outcome::hit, Reason::waited}));
  EXPECT_EQ(step(Found::not_stored_elsewhere).action, Action::compile_and_store);
  EXPECT_EQ(step(Found::dead_holder).reason, Reason::taken_over);
  EXPECT_EQ(step(Found::refused_before),
            (Step{Action::compile_only, Outcome::skip, Reason::refused_here, true}));
  EXPECT_EQ(step(Found::trial_crashed).entry, Disposal::remember);
  EXPECT_EQ(step(Found::trial_impossible).action, Action::compile_only);
  EXPECT_EQ(step(Found::trial_impossible).entry, Disposal::leave);
  EXPECT_EQ(step(Found::wait_limit).action, Action::compile_and_store);
  EXPECT_EQ(on_found(Found::wait_limit, {.after_wait = AfterWait::fail}),
            (Step{Action::return_error, Outcome::error, Reason::wait_limit}));
  for (const Found found : {Found::compiled_fast, Found::too_large, Found::store_full}) {
    EXPECT_EQ(step(found).action, Action::finish);
    EXPECT_EQ(step(found).outcome, Outcome::skip);
  }
}

TEST(Plan, StrictReturnsFaultsAndNothingElse) {
  for (const Stage stage : kStages) {
    for (const ErrorCode code : kCodes) {
      const Step lenient = on_error(stage, code, {});
      const Step strict = on_error(stage, code, {.strict = true});
      if (lenient.warn) {
        EXPECT_EQ(strict.action, Action::return_error);
        EXPECT_EQ(strict.reason, Reason::strict_fault);
      } else {
        EXPECT_EQ(strict, lenient);
      }
    }
  }
  // A program that cannot be serialized and an entry for another machine are no faults.
  EXPECT_NE(on_error(Stage::serialize, ErrorCode::plugin_error, {.strict = true}).action,
            Action::return_error);
  EXPECT_NE(on_error(Stage::load, ErrorCode::incompatible, {.strict = true}).action,
            Action::return_error);
}

TEST(Plan, WhichFailuresAreShared) {
  for (int code = 1; code <= 16; ++code) {
    // INVALID_ARGUMENT and UNIMPLEMENTED.
    EXPECT_EQ(is_deterministic(Error::from_plugin(code, "x")), code == 3 || code == 12) << code;
  }
  EXPECT_FALSE(is_deterministic(Error(ErrorCode::invalid_argument, "ours")));
}

TEST(Plan, WhichRefusalsAreRemembered) {
  // CANCELLED, DEADLINE_EXCEEDED, NOT_FOUND, RESOURCE_EXHAUSTED, ABORTED, UNIMPLEMENTED,
  // UNAVAILABLE are about this moment or this process.
  for (const int code : {1, 4, 5, 8, 10, 12, 14}) {
    EXPECT_FALSE(is_about_artifact(Error::from_plugin(code, "x"))) << code;
  }
  for (const int code : {3, 13}) {
    EXPECT_TRUE(is_about_artifact(Error::from_plugin(code, "x"))) << code;
  }
  EXPECT_FALSE(is_about_artifact(Error(ErrorCode::incompatible, "x")));
}

TEST(Plan, CountedNamesAreOneForEachReason) {
  EXPECT_EQ(counted_as(Outcome::hit, Reason::none), "hit");
  EXPECT_EQ(counted_as(Outcome::hit, Reason::waited), "lease:waited");
  EXPECT_EQ(counted_as(Outcome::miss, Reason::not_found), "miss");
  EXPECT_EQ(counted_as(Outcome::miss, Reason::refreshed), "miss:refreshed");
  EXPECT_EQ(counted_as(Outcome::miss, Reason::entry_corrupt), "bad:entry_corrupt");
  EXPECT_EQ(counted_as(Outcome::skip, Reason::read_only), "skip:read_only");
  EXPECT_EQ(counted_as(Outcome::bypass, Reason::multi_process), "bypass:multi_process");
  EXPECT_EQ(counted_as(Outcome::error, Reason::offline), "error:offline");
  // Whether somebody compiled in the end or nobody could: a wait that ended in an error is one.
  EXPECT_EQ(counted_as(Outcome::error, Reason::wait_limit), "error:wait_limit");
}

}  // namespace
}  // namespace precast::cache
