#include "testing/fake_plugin/call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace precast::fake {
namespace {

struct State {
  std::mutex mutex;
  std::shared_ptr<const Config> config;
  std::optional<BehaviourText> text;
  std::shared_ptr<const Behaviour> behaviour;
  std::map<std::string, std::uint64_t, std::less<>> calls;  // of the functions that have a fault
};

State& state() {
  static State instance;
  return instance;
}

// A child that is forked while another thread calls the plugin can call it too.
const bool forks_unlocked =
    ::pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                     [] { state().mutex.unlock(); }) == 0;

// As the environment says now. The n-th call of a fault is counted from the moment that it changed.
std::shared_ptr<const Behaviour> behaviour() {
  const std::lock_guard lock(state().mutex);
  const BehaviourText text = read_behaviour_text();
  if (state().text != text) {
    if (!state().text || state().text->faults != text.faults) state().calls.clear();
    state().behaviour = std::make_shared<const Behaviour>(parse_behaviour(text));
    state().text = text;
  }
  return state().behaviour;
}

void append(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    fmt::print(stderr, "fake plugin: cannot write to {}\n", path);
    std::abort();  // A count that is lost would make a test pass or fail for no reason.
  }
  ::close(file);
}

}  // namespace

std::shared_ptr<const Config> active_config() {
  static_cast<void>(forks_unlocked);
  const std::lock_guard lock(state().mutex);
  return state().config;
}

std::shared_ptr<const Config> reload_config() {
  auto config = std::make_shared<const Config>(read_config());
  const std::lock_guard lock(state().mutex);
  state().config = config;
  return config;
}

void log_call(std::string_view function) {
  const std::string path = behaviour()->log_path;
  if (!path.empty()) append(path, std::string(function) + "\n");
}

void count(Counted what) {
  const std::string path = behaviour()->counter_path;
  const char letter = static_cast<char>(what);
  if (!path.empty()) append(path, std::string_view(&letter, 1));
}

void inject(std::string_view function) {
  const auto now = behaviour();
  if (const auto found = now->latency_ms.find(std::string(function));
      found != now->latency_ms.end()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(found->second));
  }
  if (const auto found = now->chatter_lines.find(std::string(function));
      found != now->chatter_lines.end()) {
    for (int i = 1; i <= found->second; ++i) {
      fmt::print(stderr, "fake plugin: {} says line {}\n", function, i);
    }
  }
  std::uint64_t call = 0;
  for (const Fault& fault : now->faults) {
    if (fault.function != function) continue;
    if (call == 0) {
      const std::lock_guard lock(state().mutex);
      call = ++state().calls[std::string(function)];
    }
    if (call != fault.first && !(fault.sticky && call > fault.first)) continue;
    if (fault.abort) {
      fmt::print(stderr, "fake plugin: {}\n", fault.message);
      std::abort();
    }
    throw Failure{fault.code, fault.message};
  }
}

void check_size(std::string_view struct_name, std::size_t known, std::size_t given) {
  if (given >= known) return;
  const auto config = active_config();
  fail(PJRT_Error_Code_INVALID_ARGUMENT,
       "Unexpected {} size: expected {}, got {}. The plugin is likely built with a later version "
       "than the framework. This plugin is built with PJRT API version {}.{}.",
       struct_name, known, given, config->major, config->minor);
}

}  // namespace precast::fake
