// The files that the command itself reads and writes.
#pragma once

#include <cstdint>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::cli {

// Reads a whole regular file or pipe; "-" is standard input. invalid_argument when there is no such
// file, it is a folder or it is larger than `max_bytes`; other failures by their cause.
Result<Bytes> read_input(const std::string& path, std::uint64_t max_bytes);

// Writes `head` and then `body` to a temporary file beside `path` and renames it: on any error an
// old file at `path` is as it was. A `path` that is not a regular file (a pipe, /dev/stdout) is
// written directly.
Result<void> write_output(const std::string& path, BytesView head, BytesView body = {});

// The file that was probably meant by a path where there is none: one beside it whose name is near,
// or the same name with another ending. Empty when there is no such file.
std::string nearest_file(const std::string& path);

// Makes the folder and those above it; one that is there is fine.
Result<void> make_folders(const std::string& path);

// A private folder below TMPDIR (else /tmp), removed with everything in it at the end.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace precast::cli
