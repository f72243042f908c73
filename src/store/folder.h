// Opening folders step by step, each one below the descriptor of the one before and checked as
// trust.h says. A path is never given to the kernel as a whole, so nothing can be put in the way
// between a check and the use of what was checked.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "precast/result.h"
#include "store/file_ops.h"

namespace precast::store {

// A folder that was found safe. The descriptor is O_PATH: a place to open from, not to read.
struct Folder {
  base::Fd fd;
  std::string path;  // absolute, without symbolic links; for messages and people
  struct stat status{};
};

// Opens the folder at `path`, which is absolute. Creates it, and those above it, with mode 0700
// when they are missing. Symbolic links on the way are followed if this user or root owns them; the
// folder itself and each folder above it must be trusted. invalid_argument when a file is in the
// way or links go round in a circle.
Result<Folder> open_root(FileOps& ops, const std::string& path);

// The same, but creates nothing: nothing when the folder, or one above it, is missing.
Result<std::optional<Folder>> find_root(FileOps& ops, const std::string& path);

// Opens a folder below `parent`; nothing when it is missing. A symbolic link is permission_denied.
Result<std::optional<Folder>> open_folder(FileOps& ops, const Folder& parent,
                                          const std::string& name);

// The same, but creates it when it is missing. Others may read it if they may read `parent`.
// unavailable when `parent` itself was removed.
Result<Folder> ensure_folder(FileOps& ops, const Folder& parent, const std::string& name);

}  // namespace precast::store
