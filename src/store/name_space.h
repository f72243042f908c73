// Namespaces: stores of their own below one root, <root>/namespaces/<name>, each with its own
// layout, pins and limits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

inline constexpr const char* kNameSpaces = "namespaces";

// invalid_argument unless the name is 1 to 64 of the characters A-Z a-z 0-9 . _ - and begins with
// neither '.' nor '-'.
Result<void> check_name_space(std::string_view name);

// The folder of a namespace below `root`; an empty name is the root itself. It is made when it is
// missing, readable by those who may read the root.
Result<Folder> ensure_name_space(FileOps& ops, Folder root, const std::string& name);
// The same, but makes nothing: nothing when it is missing.
Result<std::optional<Folder>> find_name_space(FileOps& ops, Folder root, const std::string& name);

// The names of the namespaces below `root`, sorted. What cannot be one is left out.
Result<std::vector<std::string>> list_name_spaces(FileOps& ops, const Folder& root);

}  // namespace precast::store
