// Reports for C.
#pragma once

#include <memory>

#include "c_api/handles.h"
#include "precast/precast.h"

namespace precast::c_api {

// `has_outcome` is false when only a key was asked for.
std::unique_ptr<precast_report> make_report(Report report, bool has_outcome);

}  // namespace precast::c_api
