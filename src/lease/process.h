// Which process this is, and whether another one has certainly ended.
#pragma once

#include <string>

#include "lease/record.h"

namespace precast::lease {

// This process, as the owner of a lease from now on. What the system does not tell is left empty.
Owner this_process(const std::string& label);

// Whether the owner is a process of this start of this machine and of this PID namespace, and there
// is none such any more, it is a zombie, or its pid belongs to another one now. False whenever that
// cannot be seen from here: it then may be alive.
bool is_certainly_dead(const Owner& owner);

}  // namespace precast::lease
