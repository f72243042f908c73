#include "interpose/summary.h"

#include <gtest/gtest.h>

namespace precast::interpose {
namespace {

TEST(Summary, SaysWhatBecameOfEachCompile) {
  Summary summary;
  EXPECT_EQ(summary.text(),
            "summary: hits=0 misses=0 skips=0 bypasses=0 errors=0 spent_ms=0 saved_ms=0");
  summary.count(Outcome::hit, Reason::none, 10, 1010);
  summary.count(Outcome::hit, Reason::waited, 10, 5);  // slower than the compile: saves nothing
  summary.count(Outcome::miss, Reason::not_found, 100, 0);
  summary.count(Outcome::bypass, Reason::multi_process, 1, 0);
  summary.count(Outcome::bypass, Reason::index_bound_call, 1, 0);
  summary.count(Outcome::bypass, Reason::index_bound_call, 1, 0);
  summary.count(Outcome::skip, Reason::not_serializable, 1, 0);
  summary.count(Outcome::error, Reason::compile_failed, 1, 0);
  EXPECT_EQ(summary.text(),
            "summary: hits=2 misses=1 skips=1 (not_serializable 1) bypasses=3 (index_bound_call 2, "
            "multi_process 1) errors=1 spent_ms=125 saved_ms=1000");
}

}  // namespace
}  // namespace precast::interpose
