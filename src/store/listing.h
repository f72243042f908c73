// What lies in a folder of the store: names, and what fstat() says about one of them.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

// The names in a folder, sorted.
Result<std::vector<std::string>> names_in(FileOps& ops, const Folder& folder);

// What fstat() says about a name, links not followed; nothing when it is gone.
Result<std::optional<struct stat>> look_at(FileOps& ops, const Folder& folder,
                                           const std::string& name);

// Removes a file. False when there is none.
Result<bool> remove_file(FileOps& ops, const Folder& folder, const std::string& name);

}  // namespace precast::store
