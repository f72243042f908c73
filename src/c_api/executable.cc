#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c_api/boundary.h"
#include "c_api/handles.h"
#include "c_api/structs.h"
#include "precast/precast.h"
#include "precast/precast_c.h"

precast_executable::precast_executable(precast::Client made_by, precast::LoadedExecutable loaded,
                                       std::string named)
    : client(std::move(made_by)), executable(std::move(loaded)), key(std::move(named)) {
  const auto& signature = executable.signature();
  if (!signature) return;
  for (const auto& spec : signature->parameters) parameter_texts.push_back(spec.to_string());
  for (const auto& spec : signature->results) result_texts.push_back(spec.to_string());
}

namespace precast::c_api {
namespace {

static_assert(static_cast<int>(ElementType::pred) == PRECAST_TYPE_PRED);
static_assert(static_cast<int>(ElementType::u64) == PRECAST_TYPE_U64);
static_assert(static_cast<int>(ElementType::bf16) == PRECAST_TYPE_BF16);
static_assert(static_cast<int>(ElementType::c128) == PRECAST_TYPE_C128);
static_assert(static_cast<int>(ElementType::token) == PRECAST_TYPE_TOKEN);
static_assert(static_cast<int>(ElementType::f6e3m2fn) == PRECAST_TYPE_F6E3M2FN);
static_assert(static_cast<int>(Donation::may_alias) == PRECAST_DONATION_MAY_ALIAS);
static_assert(static_cast<int>(Donation::must_alias) == PRECAST_DONATION_MUST_ALIAS);
static_assert(static_cast<int>(Donation::donor) == PRECAST_DONATION_DONOR);

Result<void> write_spec(const std::vector<TensorSpec>& specs, const std::vector<std::string>& texts,
                        std::size_t index, const char* what, precast_tensor_spec* out) {
  PRECAST_TRY(check_index(index, specs.size(), what));
  const TensorSpec& from = specs[index];
  precast_tensor_spec known{};
  known.text = texts[index].c_str();
  known.dimensions = from.type.dimensions.data();
  known.dimension_count = from.type.dimensions.size();
  known.minor_to_major = from.minor_to_major.data();
  known.minor_to_major_count = from.minor_to_major.size();
  known.memory_kind = from.memory_kind.c_str();
  known.host_bytes = from.type.host_bytes().value_or(0);
  known.element_type = static_cast<int32_t>(from.type.element);
  known.donation = static_cast<int32_t>(from.donation);
  return write_struct(known, out);
}

const std::vector<TensorSpec> kNoSpecs;

const std::vector<TensorSpec>& parameters_of(const precast_executable& executable) {
  const auto& signature = executable.executable.signature();
  return signature ? signature->parameters : kNoSpecs;
}

const std::vector<TensorSpec>& results_of(const precast_executable& executable) {
  const auto& signature = executable.executable.signature();
  return signature ? signature->results : kNoSpecs;
}

}  // namespace
}  // namespace precast::c_api

namespace {

namespace c_api = precast::c_api;
using precast::Result;

}  // namespace

extern "C" {

int32_t precast_executable_get_facts(const precast_executable* executable,
                                     precast_executable_facts* facts, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(executable, "executable"));
    const precast::LoadedExecutable& from = executable->executable;
    precast_executable_facts known{};
    known.name = from.name().c_str();
    known.key = executable->key.c_str();
    known.device_ids = from.device_ids().data();
    known.device_count = from.device_ids().size();
    known.parameter_count = c_api::parameters_of(*executable).size();
    known.result_count = from.result_count();
    known.replicas = from.replicas();
    known.partitions = from.partitions();
    known.has_signature = from.signature() ? 1 : 0;
    return c_api::write_struct(known, facts);
  });
}

int32_t precast_executable_get_parameter(const precast_executable* executable, size_t index,
                                         precast_tensor_spec* spec, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(executable, "executable"));
    return c_api::write_spec(c_api::parameters_of(*executable), executable->parameter_texts, index,
                             "parameter", spec);
  });
}

int32_t precast_executable_get_result(const precast_executable* executable, size_t index,
                                      precast_tensor_spec* spec, precast_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    PRECAST_TRY(c_api::check_given(executable, "executable"));
    return c_api::write_spec(c_api::results_of(*executable), executable->result_texts, index,
                             "result", spec);
  });
}

void precast_executable_free(precast_executable* executable) { delete executable; }

}  // extern "C"
