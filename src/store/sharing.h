// Whether others use a store too, decided from the outside: then a hit must not write.
//
// Stamping the last use of an entry is a write. On a folder of this user alone it costs nothing; on
// one that many machines read it would be traffic at every start of every rank, and clocks and
// rights differ. A store is shared when any of these holds:
//   - the root belongs to another user,
//   - its group or others may read the root,
//   - its file system is none of those known to be this machine's own, or is mounted read-only.
#pragma once

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

// What cannot be found out counts as shared.
bool is_shared(FileOps& ops, const Folder& root);

}  // namespace precast::store
