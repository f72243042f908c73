#include "stats/test_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace {

bool is_child = false;

}  // namespace

// A child loses what its parent's other threads had on their stacks, and what it leaves alone of
// its parent: no leaks of ours.
extern "C" int __lsan_is_turned_off() {  // NOLINT(*-reserved-identifier)
  return is_child ? 1 : 0;
}

namespace precast::stats {

TestEvent::TestEvent(std::string name_of, std::string label_of, int seed)
    : name(std::move(name_of)), label(std::move(label_of)) {
  phases = {{"key", 0.1 * seed}, {"load", 3.0 * seed}};
  event = {.name = name,
           .label = label,
           .phases = phases,
           .total_ms = 4.0 * seed,
           .saved_ms = 100.0 * seed - 150,
           .bytes_read = static_cast<std::uint64_t>(seed) * 1000,
           .bytes_written = static_cast<std::uint64_t>(seed)};
}

Totals some_totals(int seed, std::int64_t now_unix_s) {
  Totals totals;
  for (int i = 0; i < 5; ++i) {
    const TestEvent hit("hit", i % 2 == 0 ? "train" : "", seed + i);
    const TestEvent miss("miss", "serve", seed + i);
    totals.count(hit.event, now_unix_s + i * kHour);
    totals.count(miss.event, now_unix_s);
  }
  return totals;
}

bool in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    is_child = true;
    body();
    std::exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::uint64_t count_of(const Stats& stats, const std::string& name) {
  const auto found = stats.results.find(name);
  return found == stats.results.end() ? 0 : found->second.count;
}

}  // namespace precast::stats
