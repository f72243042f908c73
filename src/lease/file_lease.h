// One lease file: making it, looking at it, keeping it alive, taking it over, ending it.
//
// The file is written under another name and gets its own by link(2), so it is whole when it is
// visible and only one of many makers gets it. Its holder touches it again and again. The lock of
// flock(2) is taken only for the moment in which somebody removes or replaces the file; where locks
// do not work it goes without, at the price of two compiles.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/periodic.h"
#include "lease/held_slot.h"
#include "lease/record.h"
#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::lease {

// The folder of lease files, below the layout's.
inline constexpr const char* kFolder = "leases";

// How long things take. Tests take less.
struct Timing {
  std::chrono::milliseconds beat{1000};       // between two touches by the holder
  std::chrono::milliseconds silence{10'000};  // without a touch, after which it counts as gone
  std::chrono::milliseconds poll_min{5};      // between two looks of a waiter, at first
  std::chrono::milliseconds poll_max{200};    // and later
  // Holders that a wait follows after the first one; then everybody compiles. Where compiles die,
  // each of many waiters would else wait for all that died before it.
  int follow = 2;
};

// A lease file as it was at one look. The descriptor stays with this very file, whatever becomes of
// its name.
struct Seen {
  base::Fd fd;
  struct stat status{};
  bool readable = false;  // and may be locked; else nothing but its age is known
  Record record;

  bool is_same_file(dev_t device, ino_t inode) const {
    return status.st_dev == device && status.st_ino == inode;
  }
  bool is_same_file(const Seen& other) const {
    return is_same_file(other.status.st_dev, other.status.st_ino);
  }
};

// Opens the file by its name, so that a network file system asks the server; nothing when there is
// none. `before` saves reading what did not change. permission_denied for what is no regular file.
Result<std::optional<Seen>> look(store::FileOps& ops, const store::Folder& folder,
                                 const std::string& name, const Seen* before = nullptr);
// What the file says now, by its descriptor; nothing known when that fails.
Record read_again(store::FileOps& ops, const Seen& seen);

bool is_same_time(const struct timespec& a, const struct timespec& b);

// unavailable for what may pass or needs the folder to be opened again (ENOENT, ESTALE, ENOLCK),
// else as store::fault() says.
Error lease_fault(int error_number, const std::string& what);

// Whether `name` still leads to that file; nothing when that cannot be told.
std::optional<bool> leads_to(store::FileOps& ops, int folder, const char* name, dev_t device,
                             ino_t inode);

// This process's own lease file: first under a temporary name, then held, then ended. What is not
// held leaves nothing behind at its end; what is held is given back without a verdict. In a forked
// child it does nothing. Not thread-safe but for lost().
class FileLease {
 public:
  // Writes a file under a temporary name. `ops` must outlive it.
  static Result<std::unique_ptr<FileLease>> prepare(store::FileOps& ops,
                                                    const store::Folder& folder,
                                                    const std::string& name, const Owner& owner);
  FileLease(const FileLease&) = delete;
  FileLease& operator=(const FileLease&) = delete;
  ~FileLease();

  // Gives the file its name; false when the name is taken, maybe by this very file (a network may
  // lose the answer).
  Result<bool> link();
  bool is(const Seen& seen) const;
  // After a look that showed that it has its name.
  void note_linked();
  // Now, by the clock of the file system.
  Result<struct timespec> file_system_time();

  enum class Taken {
    yes,
    changed,  // it is not what it was: look again
    busy,     // somebody else has the lock
  };
  // Puts this file in the place of a dead one. `with_lock` false: without waiting for the lock.
  Result<Taken> take_over(const Seen& dead, bool with_lock);

  // From link() or take_over() on: the file is touched every `period`, on a thread that its store
  // shares with no other.
  Result<void> hold(std::chrono::milliseconds period);
  // Whether the name leads elsewhere by now; seen within a beat.
  bool lost() const { return lost_; }
  // Ends it: with a verdict for those who wait, or without.
  void end(const std::optional<Ending>& ending);
  // For a file system that hangs: touches nothing any more, waits for nothing, and stays in memory,
  // as `ops` must.
  static void abandon(std::unique_ptr<FileLease> lease);

  // What this process does with a lease beside its owner: its beat, and what a signal does. cut()
  // ends that without waiting, also while another thread is ending the lease, or has ended it.
  struct Ties {
    base::Periodic::Id beat;
    HeldSlot::Id slot;

    void cut() const;
  };
  // Of what is held.
  Ties ties() const { return {beat_.id(), slot_.id()}; }

 private:
  FileLease(store::FileOps& ops, std::string path, HeldSlot slot);

  Result<void> write_record(int fd, const Bytes& record) const;
  Result<bool> link_by_rename();
  Result<bool> link_by_creating();
  void remove_temporary();
  void beat();
  void write_ending(const Ending& ending);
  void remove_name();

  store::FileOps& ops_;
  std::string path_;  // for messages
  HeldSlot slot_;
  Bytes record_;
  mode_t mode_ = 0;
  bool held_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> abandoned_ = false;
  base::Periodic beat_;
  FileLease* before_ = nullptr;  // of those that were abandoned
};

}  // namespace precast::lease
