// What the directory store trusts: pure decisions about what fstat() reports.
//
// Loading an executable is running code. So whatever the store reads must be out of reach of
// everybody but this process's user and root.
#pragma once

#include <sys/stat.h>

#include <string>

#include "precast/result.h"

namespace precast::store {

enum class Role {
  ancestor,  // leads to the root; others may write to it if it is sticky, like /tmp
  folder,    // the root or below it; nobody else may write to it
  entry,
};

// permission_denied unless it is a folder (an entry: a regular file), this user or root owns it,
// and nobody else may write to it. The message names path, owner and mode, and how to mend it.
// Access control lists are covered: one that lets others write shows in the group's bits of the
// mode.
Result<void> check_trust(const std::string& path, const struct stat& status, Role role);

// The owner of a symbolic link decides where it leads; its mode means nothing.
Result<void> check_owner(const std::string& path, const struct stat& status);

// `text` as one word of a shell.
std::string shell_quoted(const std::string& text);

// base::errno_error with what the user can do about it. ENAMETOOLONG is invalid_argument.
Error fault(int error_number, const std::string& what);

}  // namespace precast::store
