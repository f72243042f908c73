// Waiting for a lease file: from the first try to having it, or to how its holder ended.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lease/file_lease.h"
#include "lease/record.h"
#include "precast/cache.h"
#include "precast/result.h"
#include "store/directory_store.h"

namespace precast::lease {

// What stands behind Leases::acquire() in the thread that waits for other processes.
class FileWait {
 public:
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::string key;
    std::string label;
    Clock::time_point start;
    std::optional<Clock::time_point> deadline;
    std::function<void(const Waiting&)> on_waiting;
    std::function<bool()> cancelled;
  };
  struct End {
    enum class How { held, ended, limit, cancelled } how = How::limit;
    std::unique_ptr<FileLease> lease;
    bool taken_over = false;
    std::optional<Ending> ending;
    bool waited = false;  // or it was had at once
    Waiting holder;       // who had it, when there was a wait
  };

  FileWait(store::DirectoryStore& store, const Timing& timing, Request request);
  // Once.
  Result<End> run();

 private:
  enum class Step { done, again, wait };

  Result<void> open_folder();
  bool may_retry(const Error& error);
  Result<Step> step();
  Result<Step> try_to_make();
  Result<Step> only_watch(Error why);
  Result<Step> look_again();
  Result<Step> take_over(std::unique_ptr<FileLease> own, bool from_the_gone);
  Result<Step> hold(std::unique_ptr<FileLease> own, bool taken_over);
  Result<std::unique_ptr<FileLease>> prepare();
  void adopt(Seen seen);
  // Whether the file that was watched until now ended with a verdict.
  bool has_ended(const Record& record);
  bool is_gone() const;
  Waiting holder() const;
  void tell();
  std::optional<End> over();
  void pause();

  store::DirectoryStore& store_;
  const Timing timing_;
  const Request request_;
  std::optional<store::Folder> folder_;
  std::optional<Seen> seen_;             // the file that is watched
  bool left_behind_ = false;             // its holder had ended before this wait began
  std::chrono::milliseconds silent_{0};  // how long this process has watched it without a touch
  Clock::time_point last_look_;
  Clock::time_point last_told_;
  std::optional<Clock::time_point> busy_since_;
  std::chrono::milliseconds pause_;
  int failures_ = 0;
  int followed_ = 0;  // holders that came after the first one that was waited for
  int reopened_ = 0;
  int again_ = 0;
  bool waited_ = false;
  End end_;
};

}  // namespace precast::lease
