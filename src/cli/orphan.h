// For the processes that Precast starts for itself: they end with whoever started them.
#pragma once

namespace precast::cli {

// From now on this process is killed when its parent ends, by the kernel where it can tell, and
// when standard input ends if that is a pipe, as src/cache/child.h makes it. Starts a thread.
void end_with_parent();

}  // namespace precast::cli
