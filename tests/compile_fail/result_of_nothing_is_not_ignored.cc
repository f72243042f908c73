// Where there is no value to miss, an error is missed most easily.
#include "precast/result.h"

precast::Result<void> remove_it();

precast::Result<void> twice() {
#ifdef PRECAST_BAD
  remove_it();
#else
  PRECAST_TRY(remove_it());
#endif
  return remove_it();
}
