// The caller's structs as the types of the C++ API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "precast/precast.h"
#include "precast/precast_c.h"

namespace precast::c_api {

// What one request asks for.
struct Asked {
  Program program;
  CompileOptions options;
  RequestOptions request;
};

// invalid_argument for pointers, sizes, counts and options that are wrong, and for bytes that are
// no program.
Result<Asked> asked_by(const precast_request* request);

// The keys of a policy: `count` times 32 bytes.
Result<SignaturePolicy> policy_of(const std::uint8_t* keys, std::size_t count, bool required);

// null: none.
Result<std::vector<std::int64_t>> device_ids_of(const std::int64_t* ids, std::size_t count);

// The policy of this number; `where` names the struct.
Result<Policy> cache_policy_of(std::int32_t number, const char* where);

}  // namespace precast::c_api
