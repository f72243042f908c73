#include "cache/trial_load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <variant>

#include "cache/child.h"

namespace precast::cache {
namespace {

// What the child's lines begin with, and what follows; src/cli/trial_load.cc writes them.
constexpr std::string_view kOurs = "precast: trial load: ";
constexpr std::string_view kBegins = "begins";
constexpr std::string_view kLoads = "loads";
constexpr std::string_view kRefused = "refused: ";
constexpr std::string_view kNotRun = "not run: ";

// The command's exit code for what its machine lacks (src/cli/exit_code.h): memory, while loading.
constexpr std::string_view kOutOfMemory = "exit code 9";

constexpr std::size_t kMaxWords = 400;

// An option as `precast --client-option` takes it, with its type, so that text which looks like a
// number stays text.
std::string word_of(const NamedValue& option) {
  constexpr std::array<std::string_view, 5> kTypes = {"string", "int", "ints", "float", "bool"};
  static_assert(std::variant_size_v<NamedValue::Value> == kTypes.size());
  return fmt::format("{}:{}={}", option.name, kTypes[option.value.index()], option.value_text());
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kMaxWords));
  std::ranges::replace_if(
      line, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return line;
}

// The last lines that a process printed, without those of ours.
std::string last_words(std::string_view tail) {
  if (const std::size_t ours = tail.rfind(kOurs); ours != std::string_view::npos) {
    tail.remove_prefix(std::min(tail.find('\n', ours), tail.size() - 1) + 1);
  }
  while (!tail.empty() && tail.back() == '\n') tail.remove_suffix(1);
  if (tail.size() > kMaxWords) tail.remove_prefix(tail.size() - kMaxWords);
  const std::string words = one_line(tail);
  return words.empty() ? std::string() : ": " + words;
}

// The last thing that the child said. The plugin writes into the same pipe, before and behind it.
std::string_view last_said(std::string_view tail) {
  const std::size_t end = tail.rfind('\n');
  const std::size_t found = tail.substr(0, end).rfind(kOurs);
  if (end == std::string_view::npos || found == std::string_view::npos) return {};
  // Of a line that quotes ours, all of it.
  std::string_view line = tail.substr(tail.rfind('\n', found) + 1);
  line = line.substr(0, line.find('\n'));
  return line.substr(line.find(kOurs) + kOurs.size());
}

TrialEnd judge(const ChildEnd& child, const Trial& trial) {
  using Kind = TrialEnd::Kind;
  if (!child.started) return {Kind::could_not_run, child.how};
  // What it said counts, however it ended afterwards.
  const std::string_view said = last_said(child.tail);
  if (said == kLoads) return {Kind::loads, {}};
  if (said.starts_with(kRefused)) return {Kind::refused, one_line(said.substr(kRefused.size()))};
  if (said.starts_with(kNotRun))
    return {Kind::could_not_run, one_line(said.substr(kNotRun.size()))};
  if (said != kBegins) {
    const std::string end = child.in_time ? child.how : fmt::format("{} s", trial.timeout_s);
    return {Kind::could_not_run, fmt::format("'{}' came to {} before it began to load{}",
                                             trial.command, end, last_words(child.tail))};
  }
  if (!child.in_time) {
    return {Kind::timed_out,
            fmt::format("loading took longer than {} s in a process of its own", trial.timeout_s)};
  }
  // Out of memory, somebody's wish, or a host that collects its children itself.
  if (child.stopped || child.unseen || child.how == kOutOfMemory) {
    return {Kind::could_not_run, "the process came to " + child.how + last_words(child.tail)};
  }
  return {Kind::crashed, fmt::format("loading ended a process of its own by {}{}", child.how,
                                     last_words(child.tail))};
}

}  // namespace

std::string_view to_string(TrialEnd::Kind kind) {
  switch (kind) {
    case TrialEnd::Kind::loads: return "loads";
    case TrialEnd::Kind::refused: return "refused";
    case TrialEnd::Kind::crashed: return "crashed";
    case TrialEnd::Kind::timed_out: return "timed_out";
    case TrialEnd::Kind::could_not_run: return "could_not_run";
  }
  return "unknown";
}

Result<base::Fd> in_memory(BytesView artifact) {
  const base::Fd made(::memfd_create("precast-trial", MFD_CLOEXEC));
  // Above those that the child gets others for.
  base::Fd memory(made ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, kInheritedFd + 1) : -1);
  if (!memory) return base::errno_error(errno, "cannot make a file in memory");
  PRECAST_TRY(base::write_all(memory.get(), artifact, "a file in memory"));
  return memory;
}

TrialEnd trial_load(const Trial& trial) {
  const std::string artifact = fmt::format("/proc/self/fd/{}", kInheritedFd);
  std::vector<std::string> words = {"trial-load", "--plugin", trial.plugin,    "--artifact",
                                    artifact,     "--root",   trial.root.hex()};
  for (const NamedValue& option : trial.options) {
    words.emplace_back("--client-option");
    words.push_back(word_of(option));
  }
  if (!trial.device_ids.empty()) {
    words.emplace_back("--devices");
    words.push_back(fmt::format("{}", fmt::join(trial.device_ids, ",")));
  }
  return judge(run_child(trial.command, words, trial.timeout_s, trial.artifact), trial);
}

}  // namespace precast::cache
