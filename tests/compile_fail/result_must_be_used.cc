// An error that nobody looks at is a bug.
#include <precast/precast.h>

void use(precast::CompileOptions& options) {
#ifdef MUST_NOT_COMPILE
  options.set_option("xla_cpu_enable_fast_math", "true");
#else
  if (!options.set_option("xla_cpu_enable_fast_math", "true")) return;
#endif
}
