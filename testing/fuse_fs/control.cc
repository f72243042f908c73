#include "testing/fuse_fs/control.h"

#define FUSE_USE_VERSION 35
#include <fuse.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

namespace precast::fuse_fs {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 10> kErrors = {{{"EIO", EIO},
                                                                       {"ENOSPC", ENOSPC},
                                                                       {"EDQUOT", EDQUOT},
                                                                       {"EROFS", EROFS},
                                                                       {"ESTALE", ESTALE},
                                                                       {"EACCES", EACCES},
                                                                       {"ENOENT", ENOENT},
                                                                       {"ENOLCK", ENOLCK},
                                                                       {"ENOSYS", ENOSYS},
                                                                       {"ETIMEDOUT", ETIMEDOUT}}};

int error_of(std::string_view name) {
  for (const auto& [known, error] : kErrors) {
    if (known == name) return error;
  }
  return 0;
}

struct Rule {
  std::string operation;
  std::string action;
  long every = 1;
  bool from = false;  // the Nth and all that follow
};

// A rule that cannot be read ends the process: a test that mistypes one must not pass.
Rule parse(const std::string& word) {
  Rule rule;
  const std::size_t first = word.find(':');
  const std::size_t second = word.find(':', first + 1);
  if (first != std::string::npos) {
    rule.operation = word.substr(0, first);
    rule.action = word.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  }
  if (second != std::string::npos) {
    rule.from = word.back() == '+';
    rule.every = std::strtol(word.c_str() + second + 1, nullptr, 10);
  }
  const bool known = rule.action == "hang" || rule.action == "freeze" || error_of(rule.action) != 0;
  if (!known || rule.every < 1) {
    std::fprintf(stderr, "fuse_fs: '%s' is no rule: OPERATION:ACTION[:N[+]]\n", word.c_str());
    std::abort();
  }
  return rule;
}

}  // namespace

Control::Verdict Control::ask(const std::string& operation, bool count) {
  std::ifstream file(path_);
  std::string word;
  Verdict verdict;
  const std::lock_guard lock(mutex_);
  while (file >> word) {
    const Rule rule = parse(word);
    if (rule.operation != "all" && rule.operation != operation) continue;
    long& seen = seen_[word];
    if (count) ++seen;
    if (rule.from ? seen < rule.every : seen % rule.every != 0) continue;
    if (rule.action == "hang") verdict.hang = true;
    if (rule.action == "freeze") verdict.freeze = true;
    if (verdict.error == 0) verdict.error = error_of(rule.action);
  }
  return verdict;
}

int Control::fault(const std::string& operation) {
  constexpr auto kLookAgain = std::chrono::milliseconds(20);
  Verdict verdict = ask(operation, true);
  while (verdict.hang || verdict.freeze) {
    if (!verdict.freeze && ::fuse_interrupted() != 0) return EINTR;
    std::this_thread::sleep_for(kLookAgain);
    verdict = ask(operation, false);
  }
  return verdict.error;
}

}  // namespace precast::fuse_fs
