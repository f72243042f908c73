// What digesting a program by its structure yields.
#pragma once

#include "precast/digest.h"
#include "program/custom_calls.h"

namespace precast::program {

struct StructuralDigest {
  // Equal for two programs of one format exactly when they differ in nothing that counts.
  Digest sha256;
  CustomCallScan custom_calls;
};

}  // namespace precast::program
