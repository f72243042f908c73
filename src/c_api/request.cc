#include "c_api/request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "c_api/boundary.h"
#include "c_api/structs.h"
#include "precast/limits.h"

namespace precast::c_api {
static_assert(static_cast<int>(Policy::read_write) == PRECAST_READ_WRITE);
static_assert(static_cast<int>(Policy::read_only) == PRECAST_READ_ONLY);
static_assert(static_cast<int>(Policy::refresh) == PRECAST_REFRESH);
static_assert(static_cast<int>(Policy::offline) == PRECAST_OFFLINE);

Result<Policy> cache_policy_of(std::int32_t number, const char* where) {
  if (number >= PRECAST_READ_WRITE && number <= PRECAST_OFFLINE) {
    return static_cast<Policy>(number);
  }
  return Error(ErrorCode::invalid_argument,
               std::string(where) + ".policy is " + std::to_string(number) +
                   "; it must be 0 or one of PRECAST_READ_WRITE to PRECAST_OFFLINE");
}

namespace {

Result<void> check_count(std::int32_t count, const char* name) {
  if (count >= 0 && static_cast<std::uint64_t>(count) <= limits::kMaxDevices) return {};
  return Error(ErrorCode::invalid_argument, std::string("precast_request.") + name + " is " +
                                                std::to_string(count) + "; it must be 1 to " +
                                                std::to_string(limits::kMaxDevices) +
                                                ", or 0 for what compile_options say");
}

Result<CompileOptions> serialized_options(const precast_request& request) {
  if (request.compile_options == nullptr && request.compile_options_size == 0) {
    return CompileOptions();
  }
  PRECAST_TRY(
      check_array(request.compile_options, request.compile_options_size, "compile_options"));
  return CompileOptions::from_serialized(
      Bytes(static_cast<const char*>(request.compile_options), request.compile_options_size));
}

Result<CompileOptions> options_of(const precast_request& request) {
  PRECAST_ASSIGN(CompileOptions options, serialized_options(request));
  PRECAST_TRY(check_count(request.replicas, "replicas"));
  PRECAST_TRY(check_count(request.partitions, "partitions"));
  if (request.replicas != 0) options.set_replicas(request.replicas);
  if (request.partitions != 0) options.set_partitions(request.partitions);
  if (request.use_spmd != 0) options.set_use_spmd(true);
  PRECAST_TRY(check_array(request.profile, request.profile_size, "profile"));
  if (request.profile_size != 0) {
    options.set_profile({static_cast<const char*>(request.profile), request.profile_size});
  }
  PRECAST_TRY(check_array(static_cast<const void*>(request.xla_options), request.xla_option_count,
                          "xla_options"));
  for (std::size_t i = 0; i < request.xla_option_count; ++i) {
    const char* const name = request.xla_options[2 * i];
    const char* const value = request.xla_options[2 * i + 1];
    PRECAST_TRY(check_given(name, "xla_options[i] (a name)"));
    PRECAST_TRY(check_given(value, "xla_options[i] (a value)"));
    PRECAST_TRY(options.set_option(name, value));
  }
  PRECAST_ASSIGN(std::vector<std::int64_t> ids,
                 device_ids_of(request.device_ids, request.device_id_count));
  if (ids.empty()) return options;
  const auto replicas = static_cast<std::uint64_t>(options.replicas());
  const auto partitions = static_cast<std::uint64_t>(options.partitions());
  if (ids.size() != replicas * partitions) {
    return Error(ErrorCode::invalid_argument,
                 "precast_request.device_ids has " + std::to_string(ids.size()) + " devices, but " +
                     std::to_string(replicas) + " replicas of " + std::to_string(partitions) +
                     " partitions need " + std::to_string(replicas * partitions));
  }
  options.set_assignment(
      DeviceAssignment{options.replicas(), options.partitions(), std::move(ids)});
  return options;
}

Result<RequestOptions> wishes_of(const precast_request& request) {
  RequestOptions more;
  more.label = text_of(request.label);
  more.salt = text_of(request.salt);
  more.keep_program = request.keep_program != 0;
  more.cpu_baseline = text_of(request.cpu_baseline);
  if (request.policy != 0) {
    PRECAST_ASSIGN(more.policy, cache_policy_of(request.policy, "precast_request"));
  }
  PRECAST_TRY(check_reserved(request.reserved, "precast_request"));
  if (const std::string pin = text_of(request.pin); !pin.empty()) {
    more.pin = Digest::from_hex(pin);
    if (!more.pin) {
      return Error(ErrorCode::invalid_argument,
                   "precast_request.pin is '" + pin +
                       "'; a root is 64 lower-case hexadecimal digits (precast inspect shows it)");
    }
  }
  PRECAST_TRY(check_array(request.annotations, request.annotations_size, "annotations"));
  if (request.annotations_size != 0) {
    more.annotations.assign(static_cast<const char*>(request.annotations),
                            request.annotations_size);
  }
  PRECAST_TRY(check_array(static_cast<const void*>(request.extras), request.extra_count, "extras"));
  for (std::size_t i = 0; i < request.extra_count; ++i) {
    const char* const name = request.extras[2 * i];
    const char* const value = request.extras[2 * i + 1];
    PRECAST_TRY(check_given(name, "extras[i] (a name)"));
    PRECAST_TRY(check_given(value, "extras[i] (a value)"));
    if (!more.extras.emplace(name, value).second) {
      return Error(ErrorCode::invalid_argument,
                   std::string("precast_request.extras has '") + name + "' twice");
    }
  }
  return more;
}

}  // namespace

Result<Asked> asked_by(const precast_request* given) {
  PRECAST_ASSIGN(const precast_request request, read_struct(given));
  PRECAST_TRY(check_array(request.program, request.program_size, "program"));
  Bytes bytes;
  if (request.program != nullptr) {
    bytes.assign(static_cast<const char*>(request.program), request.program_size);
  }
  PRECAST_ASSIGN(Program program,
                 Program::from_bytes(std::move(bytes), request.program_name == nullptr
                                                           ? std::string("program")
                                                           : std::string(request.program_name)));
  PRECAST_ASSIGN(CompileOptions options, options_of(request));
  PRECAST_ASSIGN(RequestOptions more, wishes_of(request));
  return Asked{std::move(program), std::move(options), std::move(more)};
}

Result<SignaturePolicy> policy_of(const std::uint8_t* keys, std::size_t count, bool required) {
  PRECAST_TRY(check_array(keys, count, "trusted_keys"));
  SignaturePolicy policy;
  policy.required = required;
  policy.trusted.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    VerifyKey& key = policy.trusted[i];
    std::copy_n(keys + i * key.size(), key.size(), key.begin());
  }
  return policy;
}

Result<std::vector<std::int64_t>> device_ids_of(const std::int64_t* ids, std::size_t count) {
  PRECAST_TRY(check_array(ids, count, "device_ids"));
  if (count > limits::kMaxDevices) {
    return Error(ErrorCode::invalid_argument, "device_ids has " + std::to_string(count) +
                                                  " devices, more than limits::kMaxDevices (" +
                                                  std::to_string(limits::kMaxDevices) + ")");
  }
  return std::vector<std::int64_t>(ids, ids + count);
}

}  // namespace precast::c_api
