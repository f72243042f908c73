// Taking the value without asking whether there is one must be written out.
#include "precast/program.h"

precast::Program program_of(precast::Result<precast::Program> result) {
#ifdef PRECAST_BAD
  return result;
#else
  return std::move(result).value();
#endif
}
