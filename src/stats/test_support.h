// For the tests of this module: events and cells that differ by a number, and children.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "precast/stats.h"
#include "stats/totals.h"

namespace precast::stats {

// 2026-11-14 22:13:20 UTC.
inline constexpr std::int64_t kSomeTime = 1'794'694'400;

// Phases and bytes that depend on `seed`.
struct TestEvent {
  std::string name;
  std::string label;
  std::vector<Phase> phases;
  Event event;

  TestEvent(std::string name, std::string label, int seed);
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
};

// Some of everything.
Totals some_totals(int seed, std::int64_t now_unix_s = kSomeTime);

// Runs `body` in a child that ends with exit(), as programs do; true when that went well. Tests
// have no other threads when they call it.
bool in_child(const std::function<void()>& body);

std::uint64_t count_of(const Stats& stats, const std::string& name);

}  // namespace precast::stats
