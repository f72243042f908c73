// Which lease files this process holds, in a table that the handler of a signal may walk and that a
// forked child can empty. The table owns the descriptors.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "precast/result.h"
#include "store/store.h"

namespace precast::lease {

// Leases that one process may hold at once; further compiles go without one.
inline constexpr int kMaxHeldLeases = 256;

struct HeldFile {
  int fd = -1;      // the lease file
  int folder = -1;  // where it lies
  dev_t device = 0;
  ino_t inode = 0;
  std::array<char, store::kNameDigits + 1> name{};
  std::array<char, 64> temporary{};  // its name before it has the other one; else empty
};

// One place in the table. Not thread-safe.
class HeldSlot {
 public:
  // resource_exhausted when the table is full. Names are cut to what fits.
  static Result<HeldSlot> take(base::Fd fd, base::Fd folder, const std::string& name,
                               const std::string& temporary);
  HeldSlot(HeldSlot&& other) noexcept;
  HeldSlot& operator=(HeldSlot&&) = delete;
  // Closes the descriptors, unless this is a child of the process that took the place.
  ~HeldSlot();

  bool is_of_this_process() const;
  // Whether a handler gave the lease back.
  bool was_released() const;

  // Only in the process that took the place.
  const HeldFile& file() const;
  void set_file(dev_t device, ino_t inode);
  void replace_fd(base::Fd fd, dev_t device, ino_t inode);
  void forget_temporary();

  // One taking of a place. pass_by(): handlers leave it alone from now on, and forked children keep
  // their copies of the descriptors, as both may hang. Any thread may call it, whatever has become
  // of the HeldSlot, and then it does nothing. Makes no system call.
  struct Id {
    int index = -1;
    std::uint64_t process = 0;
    std::uint64_t taking = 0;

    void pass_by() const;
  };
  Id id() const { return {index_, process_, taking_}; }

 private:
  HeldSlot(int index, std::uint64_t process, std::uint64_t taking)
      : index_(index), process_(process), taking_(taking) {}

  int index_ = -1;
  std::uint64_t process_ = 0;
  std::uint64_t taking_ = 0;
};

}  // namespace precast::lease
