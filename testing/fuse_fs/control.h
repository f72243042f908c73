// Control: what a test wants the file system to do wrong, read from a file at every operation.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace precast::fuse_fs {

class Control {
 public:
  // A missing or empty file means no faults.
  explicit Control(std::string path) : path_(std::move(path)) {}

  // The errno with which this operation has to fail; 0: it goes through. A rule that hangs keeps
  // the caller here for as long as it stands in the file or, unless it freezes, until the kernel
  // says that nobody waits for the answer any more.
  int fault(const std::string& operation);

 private:
  struct Verdict {
    int error = 0;
    bool hang = false;
    bool freeze = false;
  };
  Verdict ask(const std::string& operation, bool count);

  const std::string path_;
  std::mutex mutex_;
  std::map<std::string, long> seen_;  // by rule: how many operations it was asked about
};

}  // namespace precast::fuse_fs
