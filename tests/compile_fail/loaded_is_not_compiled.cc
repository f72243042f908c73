// A compiled executable is a loaded one, but not the other way round.
#include "precast/executable.h"

#ifdef PRECAST_BAD
precast::CompiledExecutable convert(const precast::LoadedExecutable& executable) {
#else
precast::LoadedExecutable convert(const precast::CompiledExecutable& executable) {
#endif
  return executable;
}
