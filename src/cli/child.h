// Work in a child process: opening a plugin runs foreign code, which may abort or hang.
#pragma once

#include <functional>
#include <string>

#include "precast/result.h"

namespace precast::cli {

// What a child left.
struct ChildEnd {
  bool finished = false;   // it returned from its work
  std::string answer;      // what it wrote
  std::string complaints;  // the last of what it printed on standard error
  std::string how;  // when it did not finish: "the process was ended by signal 6 (Aborted)", "no
                    // answer in 60 s"
};

// Runs `work` in a child of this process, which must have no other threads yet, and waits at most
// `timeout_s`. `work` writes its answer through the function that it is given; what it prints on
// standard output or standard error goes nowhere else. Errors: resource_exhausted when there can be
// no child.
using Write = std::function<void(const std::string&)>;
Result<ChildEnd> run_in_child(const std::function<void(const Write&)>& work, int timeout_s);

}  // namespace precast::cli
