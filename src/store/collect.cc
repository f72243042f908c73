#include "store/collect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/file.h"
#include "store/entry_file.h"
#include "store/layout.h"
#include "store/listing.h"
#include "store/pins.h"
#include "store/quarantine.h"
#include "store/trust.h"

namespace precast::store {
namespace {

constexpr mode_t kPrivateFile = 0600;

// The right to collect. Where the file system has no locks, everybody has it: two that collect at
// once remove the same things.
struct Lock {
  base::Fd fd;
  bool held = false;
  std::int64_t last_unix_s = 0;  // when the last collection ended
};

Result<Lock> take_lock(FileOps& ops, const Folder& layout) {
  const auto open_with = [&](int flags) {
    return uninterrupted([&] {
      return ops.openat(layout.fd.get(), kCollectLock,
                        O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags,
                        kPrivateFile);
    });
  };
  Lock lock;
  bool made = false;
  lock.fd.reset(open_with(0));
  if (!lock.fd && errno == ENOENT) {
    made = true;
    lock.fd.reset(open_with(O_CREAT));
  }
  const std::string path = layout.path + "/" + kCollectLock;
  if (!lock.fd) return fault(errno, fmt::format("cannot open '{}'", path));
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(lock.fd.get(), &status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path));
  }
  PRECAST_TRY(check_trust(path, status, Role::entry));
  if (!made) lock.last_unix_s = status.st_mtime;
  lock.held = uninterrupted([&] { return ops.flock(lock.fd.get(), LOCK_EX | LOCK_NB); }) == 0 ||
              errno != EWOULDBLOCK;
  return lock;
}

class Collection {
 public:
  enum class Purpose : std::uint8_t { collect, count };

  Collection(FileOps& ops, const Folder& layout, const CollectOrder& order, std::int64_t now,
             Purpose purpose = Purpose::collect)
      : ops_(ops), layout_(layout), order_(order), now_(now), purpose_(purpose) {}

  Result<Collected> run() {
    done_.ran = true;
    PRECAST_TRY(scan());
    PRECAST_TRY(remove_planned());
    if (order_.dry_run) return std::move(done_);
    sweep_quarantine();
    // What could not be looked at is not in it. Kept all the same: a number that nobody corrects
    // grows with each publish until nothing is stored any more.
    note(write_usage(ops_, layout_, {done_.left_bytes, done_.left_entries}));
    return std::move(done_);
  }

  Result<Usage> count() {
    PRECAST_TRY(scan());
    if (done_.first_error) return *done_.first_error;
    return Usage{done_.left_bytes, done_.left_entries};
  }

 private:
  template <typename T>
  bool note(const Result<T>& result) {
    if (result) return true;
    ++done_.failed;
    if (!done_.first_error) done_.first_error = result.error();
    return false;
  }

  Result<void> scan() {
    PRECAST_ASSIGN(const std::vector<std::string> pinned, pinned_names(ops_, layout_));
    PRECAST_ASSIGN(const std::vector<std::string> names, names_in(ops_, layout_));
    for (const std::string& name : names) {
      if (is_fan_out(name)) scan_folder(name, pinned);
    }
    return {};
  }

  void scan_folder(const std::string& digits, const std::vector<std::string>& pinned) {
    const auto folder = open_folder(ops_, layout_, digits);
    if (!note(folder) || !*folder) return;
    const auto names = names_in(ops_, **folder);
    if (!note(names)) return;
    for (const std::string& file : *names) {
      const std::optional<std::string> name = entry_name(digits, file);
      if (!name && !file.starts_with(kTemporaryPrefix)) continue;
      const auto status = look_at(ops_, **folder, file);
      if (!note(status) || !*status || !S_ISREG((*status)->st_mode)) continue;
      if (name) {
        add(*name, **status, std::binary_search(pinned.begin(), pinned.end(), *name));
      } else if (purpose_ == Purpose::collect) {
        sweep(**folder, file, **status);
      }
    }
  }

  void add(const std::string& name, const struct stat& status, bool pinned) {
    const Candidate one{.digest = Candidate::digest_of(name),
                        .bytes = identity_of(status).bytes,
                        .published_unix_s = status.st_mtime,
                        .used_unix_s = std::max(status.st_atime, status.st_mtime),
                        .pinned = pinned};
    ++done_.left_entries;
    done_.left_bytes += one.bytes;
    done_.pinned_entries += pinned ? 1 : 0;
    if (purpose_ == Purpose::collect) candidates_.push_back(one);
  }

  // Temporary files of writers that are gone.
  void sweep(const Folder& folder, const std::string& file, const struct stat& status) {
    if (now_ - status.st_mtime < kAbandonedSeconds) return;
    if (!order_.dry_run) {
      const auto removed = remove_file(ops_, folder, file);
      if (!note(removed) || !*removed) return;
    }
    ++done_.unfinished;
    done_.unfinished_bytes += identity_of(status).bytes;
  }

  // Folder by folder: their order within the plan has done its work.
  Result<void> remove_planned() {
    std::vector<Removal> plan = plan_collection(candidates_, order_.rules, now_);
    std::stable_sort(plan.begin(), plan.end(), [this](const Removal& a, const Removal& b) {
      return candidates_[a.index].digest[0] < candidates_[b.index].digest[0];
    });
    std::optional<Folder> folder;
    int folder_digit = -1;
    for (const Removal& removal : plan) {
      const Candidate& one = candidates_[removal.index];
      if (!order_.dry_run) {
        if (folder_digit != one.digest[0]) {
          folder_digit = one.digest[0];
          auto opened = open_folder(ops_, layout_, fan_out(one.name()));
          folder = note(opened) ? *std::move(opened) : std::nullopt;
        }
        if (!folder || !remove_one(*folder, one)) continue;
      }
      ++done_.removed_entries;
      done_.removed_bytes += one.bytes;
      --done_.left_entries;
      done_.left_bytes -= one.bytes;
      if (order_.list) done_.removed.push_back({one, removal.why});
    }
    return {};
  }

  // Unless it was pinned, used or replaced since it was looked at.
  bool remove_one(const Folder& folder, const Candidate& one) {
    const std::string name = one.name();
    const auto pinned = is_pinned(ops_, layout_, name);
    if (!note(pinned) || *pinned) return false;
    const std::string file = file_name(name);
    const auto status = look_at(ops_, folder, file);
    if (!note(status) || !*status) return false;
    const std::int64_t used = std::max((*status)->st_atime, (*status)->st_mtime);
    if (!S_ISREG((*status)->st_mode) || used != one.used_unix_s ||
        identity_of(**status).bytes != one.bytes) {
      return false;
    }
    const auto removed = remove_file(ops_, folder, file);
    return note(removed) && *removed;
  }

  void sweep_quarantine() {
    const auto trimmed = trim_quarantine(ops_, layout_, now_ - kQuarantineSeconds);
    if (!note(trimmed)) return;
    done_.quarantined = trimmed->files;
    done_.quarantined_bytes = trimmed->bytes;
  }

  FileOps& ops_;
  const Folder& layout_;
  const CollectOrder& order_;
  const std::int64_t now_;
  const Purpose purpose_;
  std::vector<Candidate> candidates_;
  Collected done_;
};

}  // namespace

Result<Limits> effective_limits(FileOps& ops, const Folder& root, const Limits& wanted) {
  Limits limits = wanted;
  if (limits.soft_bytes == 0) {
    struct statfs status{};
    if (uninterrupted([&] { return ops.fstatfs(root.fd.get(), &status); }) != 0) {
      return fault(errno,
                   fmt::format("cannot ask how large the file system of '{}' is", root.path));
    }
    // The unit of f_blocks; f_bsize is what transfers like, and may be much more.
    const long unit = status.f_frsize != 0 ? status.f_frsize : status.f_bsize;
    const std::uint64_t part = static_cast<std::uint64_t>(status.f_blocks) / kDefaultSoftDivisor *
                               static_cast<std::uint64_t>(unit);
    limits.soft_bytes = kDefaultSoftBytes;
    // Some network file systems do not say how large they are.
    if (part != 0) limits.soft_bytes = std::min(limits.soft_bytes, part);
    if (limits.hard_bytes != 0) limits.soft_bytes = std::min(limits.soft_bytes, limits.hard_bytes);
  }
  if (limits.hard_bytes == 0) limits.hard_bytes = default_hard_bytes(limits.soft_bytes);
  return limits;
}

Result<Collected> collect(FileOps& ops, const Folder& layout, const CollectOrder& order,
                          std::int64_t now_unix_s) {
  if (order.dry_run) return Collection(ops, layout, order, now_unix_s).run();
  PRECAST_ASSIGN(const Lock lock, take_lock(ops, layout));
  if (!lock.held) return Collected();
  // A time in the future is that of another clock.
  const std::int64_t since = now_unix_s - lock.last_unix_s;
  if (order.automatic && since >= 0 && since < kCollectIntervalSeconds) return Collected();
  auto collected = Collection(ops, layout, order, now_unix_s).run();
  // When it ended; without it the next one may come too soon.
  const std::array<struct timespec, 2> times = {{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
  uninterrupted([&] { return ops.futimens(lock.fd.get(), times.data()); });
  return collected;
}

Result<Usage> count_entries(FileOps& ops, const Folder& layout) {
  const CollectOrder none;
  return Collection(ops, layout, none, 0, Collection::Purpose::count).count();
}

}  // namespace precast::store
