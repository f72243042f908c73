// The folder of the counters, and the files in it.
//
//   <state>/stats/process-<place>-<pid>-<start>-<random>.v1   of one process
//   <state>/stats/month-2026-11.v1                            of all processes that ended
//
// The version in a name is that of the content, so that another Precast with another layout shares
// the folder and neither reads nor removes these files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::stats {

enum class IfMissing : std::uint8_t { make, nothing };

// Not thread-safe: the lock is that of one object.
class Folder {
 public:
  // Nothing when it is missing and not to be made. Errors: invalid_argument without a state folder;
  // permission_denied for a folder that is not this user's own, or that others may write to; the
  // failures of the file system.
  static Result<std::optional<Folder>> open(const std::string& state, IfMissing if_missing);
  Folder(Folder&&) noexcept = default;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  const std::string& path() const { return path_; }
  Result<std::vector<std::string>> names() const;
  bool has(const std::string& name) const;
  // corrupt for what is no file of this user's own, or larger than kMaxFileBytes.
  Result<Bytes> read(const std::string& name) const;
  // Seconds since the file was written; nothing when there is none.
  std::optional<std::int64_t> age_s(const std::string& name) const;
  // Replaces the file as a whole. With a flush it has reached the disk when this returns, as have
  // the names of the folder.
  Result<void> write(const std::string& name, BytesView bytes, base::Flush flush) const;
  bool rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;

  // Readers share the folder; who moves counts from file to file has it alone. Who writes its own
  // file needs no lock. False when it cannot be had within `patience_ms`; never an error. Ends with
  // the object.
  enum class With : std::uint8_t { others, nobody };
  bool lock(With with, int patience_ms);

 private:
  Folder(std::string path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  base::Fd fd_;
  bool locked_ = false;
};

// <state>/stats, or what the environment says when `state` is empty.
Result<std::string> folder_path(const std::string& state);

bool is_process_file(std::string_view name);
bool is_month_file(std::string_view name);
// Of a version that this Precast does not know.
bool is_newer_file(std::string_view name);
// Half a file, of a writer that was killed, or is at work.
bool is_unfinished(std::string_view name);

// The name of a month's file, for a moment in it; UTC.
std::string month_file(std::int64_t unix_s);

// This start of this machine, and the namespace that its pids count in; empty when the system does
// not say.
std::string this_place();
// A name that no process has used yet, for a file of this one.
std::string new_process_file();
// Whether the process of the file was one of this place, and is no more. False whenever that cannot
// be seen from here.
bool has_ended(std::string_view process_file, std::string_view this_place);

}  // namespace precast::stats
