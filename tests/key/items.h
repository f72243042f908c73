// Keys of a small program on the real CPU plugin.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "precast/precast.h"

namespace precast::tests {

inline Result<KeyResult> key_on(const Client& client, const CompileOptions& options = {}) {
  CacheConfig config;
  config.disabled = true;  // a key needs no folder
  PRECAST_ASSIGN(const Program program, Program::from_bytes(R"(module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
)",
                                                            "m.mlir"));
  return Cache::open(std::move(config)).key(client, program, options);
}

// The value of an item; "none" when it is not there.
inline std::string item_of(const KeyRecord& record, std::string_view field, std::string_view item) {
  const KeyField* found = record.find(field);
  const Bytes* value = found == nullptr ? nullptr : found->find(item);
  return value == nullptr ? "none" : *value;
}

}  // namespace precast::tests
