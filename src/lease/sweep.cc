#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "lease/leases.h"
#include "lease/process.h"
#include "store/layout.h"
#include "store/store.h"

namespace precast::lease {
namespace {

using store::uninterrupted;

// By this machine's clock: listing writes nothing, and so cannot ask the file system for its own.
double age_of(const struct timespec& touched) {
  const double then =
      static_cast<double>(touched.tv_sec) + static_cast<double>(touched.tv_nsec) / 1e9;
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::max(0.0, now - then);
}

// A file of the folder and what it was at the look, closed: there may be more than descriptors.
struct Found {
  LeaseInfo info;
  std::optional<Seen> seen = {};
};

Found examine(store::FileOps& ops, const store::Folder& folder, const std::string& name,
              const Timing& timing) {
  Found found{.info = {.name = name, .path = folder.path + "/" + name}};
  const bool temporary = std::string_view(name).starts_with(store::kTemporaryPrefix);
  if (!temporary && !store::is_name(name)) return found;
  auto seen = look(ops, folder, name);
  // What is no file, or cannot be looked at, is told and left alone.
  if (!seen || !*seen) return found;
  found.seen = std::move(*seen);
  found.seen->fd = base::Fd();
  LeaseInfo& info = found.info;
  info.owner = found.seen->record.owner;
  info.age_s = age_of(found.seen->status.st_mtim);
  const double silence_s = std::chrono::duration<double>(timing.silence).count();
  if (found.seen->record.ending) {
    info.state = LeaseInfo::State::ended;
  } else if (info.owner && is_certainly_dead(*info.owner)) {
    info.state = LeaseInfo::State::dead;
  } else if (temporary) {
    info.state = LeaseInfo::State::temporary;
  } else {
    info.state = info.age_s < silence_s ? LeaseInfo::State::alive : LeaseInfo::State::silent;
  }
  return found;
}

Result<std::vector<Found>> examine_all(store::DirectoryStore& store, const Timing& timing,
                                       std::optional<store::Folder>& folder) {
  std::vector<Found> all;
  PRECAST_ASSIGN(const std::optional<store::Folder> layout, store.find_layout_folder());
  if (!layout) return all;
  PRECAST_ASSIGN(folder, store::open_folder(store.ops(), *layout, kFolder));
  if (!folder) return all;
  const base::Fd fd(uninterrupted([&] {
    return store.ops().openat(folder->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  }));
  std::vector<std::string> names;
  if (!fd || store.ops().readdir(fd.get(), names) != 0) {
    return lease_fault(errno, "cannot list '" + folder->path + "'");
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    all.push_back(examine(store.ops(), *folder, name, timing));
  }
  return all;
}

bool may_go(const LeaseInfo& info, double silent_s) {
  switch (info.state) {
    case LeaseInfo::State::dead:
    case LeaseInfo::State::ended: return true;
    case LeaseInfo::State::silent:
    case LeaseInfo::State::temporary: return info.age_s >= silent_s;
    case LeaseInfo::State::alive:
    case LeaseInfo::State::foreign: break;
  }
  return false;
}

// Under the lock, and only while it is what was looked at: somebody may take it over just now.
bool remove_if_unchanged(store::FileOps& ops, const store::Folder& folder, const Found& found) {
  const auto look_again = [&]() -> std::optional<Seen> {
    auto now = look(ops, folder, found.info.name);
    const bool unchanged = now && *now && (*now)->is_same_file(*found.seen) &&
                           is_same_time((*now)->status.st_mtim, found.seen->status.st_mtim);
    return unchanged ? *std::move(now) : std::nullopt;
  };
  const std::optional<Seen> locked = look_again();
  if (!locked) return false;
  if (locked->readable &&
      uninterrupted([&] { return ops.flock(locked->fd.get(), LOCK_EX | LOCK_NB); }) != 0 &&
      errno == EWOULDBLOCK) {
    return false;
  }
  if (!look_again()) return false;
  return ops.unlinkat(folder.fd.get(), found.info.name.c_str()) == 0;
}

}  // namespace

std::string_view to_string(LeaseInfo::State state) {
  switch (state) {
    case LeaseInfo::State::alive: return "alive";
    case LeaseInfo::State::silent: return "silent";
    case LeaseInfo::State::dead: return "dead";
    case LeaseInfo::State::ended: return "ended";
    case LeaseInfo::State::temporary: return "temporary";
    case LeaseInfo::State::foreign: return "foreign";
  }
  return "unknown";
}

Result<std::vector<LeaseInfo>> Leases::list() {
  std::optional<store::Folder> folder;
  PRECAST_ASSIGN(std::vector<Found> all, examine_all(store_, timing_, folder));
  std::vector<LeaseInfo> infos;
  for (Found& found : all) infos.push_back(std::move(found.info));
  return infos;
}

Result<std::vector<LeaseInfo>> Leases::sweep(bool dry_run, double silent_s) {
  std::optional<store::Folder> folder;
  PRECAST_ASSIGN(std::vector<Found> all, examine_all(store_, timing_, folder));
  std::vector<LeaseInfo> gone;
  for (Found& found : all) {
    if (!may_go(found.info, silent_s)) continue;
    if (!dry_run) found.info.removed = remove_if_unchanged(store_.ops(), *folder, found);
    if (dry_run || found.info.removed) gone.push_back(std::move(found.info));
  }
  return gone;
}

}  // namespace precast::lease
