// Progress: a line on standard error while something takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/output.h"

namespace precast::cli {

// Shows "<what>... 3 s" from the first second on until the end of its life, and then removes the
// line. Only on a terminal, and not with --quiet. One at a time.
class Progress {
 public:
  // Replaces what the one that lives shows; nothing when there is none. Thread-safe.
  static void show_instead(std::string what);

  Progress(std::string what, const Output& out);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();

  std::mutex mutex_;
  std::string what_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace precast::cli
