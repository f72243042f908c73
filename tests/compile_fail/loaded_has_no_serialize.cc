// What a plugin serializes from an executable that it loaded may load again and then fail at the
// run, so only a freshly compiled one can be serialized.
#include "precast/executable.h"

#ifdef PRECAST_BAD
using Executable = precast::LoadedExecutable;
#else
using Executable = precast::CompiledExecutable;
#endif

precast::Result<precast::Bytes> bytes_of(const Executable& executable) {
  return executable.serialize();
}
