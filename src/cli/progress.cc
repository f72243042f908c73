#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/chatter.h"

namespace precast::cli {

namespace {

std::mutex living_mutex;
Progress* living = nullptr;  // guarded by living_mutex

}  // namespace

void Progress::show_instead(std::string what) {
  const std::lock_guard living_lock(living_mutex);
  if (living == nullptr) return;
  const std::lock_guard lock(living->mutex_);
  living->what_ = std::move(what);
}

Progress::Progress(std::string what, const Output& out) : what_(std::move(what)) {
  const char* term = std::getenv("TERM");
  // A terminal that cannot erase a line would show every second of it.
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  if (out.quiet() || dumb || isatty(::fileno(own_stderr())) != 1) return;
  {
    const std::lock_guard lock(living_mutex);
    living = this;
  }
  thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard living_lock(living_mutex);
    living = nullptr;
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::show() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    const std::string line = fmt::format("\r{}\u2026 {} s\033[K", what_, ++seconds);
    (void)std::fwrite(line.data(), 1, line.size(), own_stderr());
  }
  if (seconds > 0) (void)std::fputs("\r\033[K", own_stderr());
}

}  // namespace precast::cli
