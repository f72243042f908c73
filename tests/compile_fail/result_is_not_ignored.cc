// An error that nobody looks at is a bug.
#include "precast/program.h"

bool is_program(const std::string& path) {
#ifdef PRECAST_BAD
  precast::Program::from_file(path);
  return true;
#else
  return precast::Program::from_file(path).has_value();
#endif
}
