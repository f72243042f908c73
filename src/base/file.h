// Whole files: bounded reading, atomic writing. (The store does its own, stricter opening below a
// root descriptor.)
#pragma once

#include <cstdint>
#include <string>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::base {

// An Error from errno: permission_denied for EACCES, EPERM and EROFS; resource_exhausted for
// ENOSPC, EDQUOT, EMFILE, ENFILE and ENOMEM; deadline_exceeded for ETIMEDOUT; unavailable for
// ESTALE and ENOLCK; io_error for the rest. The message is "<what>: <strerror>".
Error errno_error(int error_number, const std::string& what);

// Reads a whole regular file or pipe ("-" is standard input), never more than `max_bytes`: a larger
// one is invalid_argument that names the limit. A missing file is invalid_argument, a folder too;
// other failures as errno_error says.
Result<Bytes> read_file(const std::string& path, std::uint64_t max_bytes);

// How the name of a file begins that is being written.
inline constexpr const char* kTemporaryPrefix = ".precast-tmp-";

// Whether a write waits until the disk has it. What is not flushed may be lost or cut short when
// the machine fails.
enum class Flush : std::uint8_t { yes, no };

// Writes a temporary file in the same folder, flushes it to disk and renames it over `path`. On any
// error nothing is left behind and an old file at `path` is as it was.
Result<void> write_file_atomic(const std::string& path, BytesView bytes, Flush flush = Flush::yes);

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(-1); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  // Closes the descriptor held now and holds `fd`.
  void reset(int fd);

 private:
  int fd_ = -1;
};

// Reads `fd` from where it stands to its end; more than `max_bytes` is resource_exhausted. `name`
// is for messages.
Result<Bytes> read_all(int fd, std::uint64_t max_bytes, const std::string& name);
// Writes all of `bytes`, across short writes and interrupts.
Result<void> write_all(int fd, BytesView bytes, const std::string& name);

}  // namespace precast::base
