/* Sizes and offsets, which never change: a struct grows at its end only, and then a line is added.
 */
#include <stdio.h>

#include "check.h"

struct pin {
  const char* name;
  size_t is;
  size_t was;
};

#define SIZE(type, bytes) {"sizeof " #type, sizeof(type), bytes}
#define AT(type, member, bytes) {#type "." #member, offsetof(type, member), bytes}

static const struct pin kPins[] = {
    SIZE(precast_plugin_facts, 24),
    AT(precast_plugin_facts, path, 8),
    AT(precast_plugin_facts, api_major, 16),
    AT(precast_plugin_facts, api_minor, 20),
    SIZE(precast_client_facts, 40),
    AT(precast_client_facts, platform_name, 8),
    AT(precast_client_facts, platform_version, 16),
    AT(precast_client_facts, device_count, 24),
    AT(precast_client_facts, process_index, 32),
    AT(precast_client_facts, cpu_count, 36),
    SIZE(precast_device, 48),
    AT(precast_device, id, 8),
    AT(precast_device, local_hardware_id, 16),
    AT(precast_device, kind, 24),
    AT(precast_device, text, 32),
    AT(precast_device, process_index, 40),
    AT(precast_device, addressable, 44),
    SIZE(precast_cache_config, 80),
    AT(precast_cache_config, directory, 8),
    AT(precast_cache_config, trusted_keys, 16),
    AT(precast_cache_config, trusted_key_count, 24),
    AT(precast_cache_config, log, 32),
    AT(precast_cache_config, log_user, 40),
    AT(precast_cache_config, disabled, 48),
    AT(precast_cache_config, strict, 52),
    AT(precast_cache_config, require_signature, 56),
    AT(precast_cache_config, no_proof, 60),
    AT(precast_cache_config, state_directory, 64),
    AT(precast_cache_config, no_misses, 72),
    AT(precast_cache_config, reserved, 76),
    SIZE(precast_request, 168),
    AT(precast_request, program, 8),
    AT(precast_request, program_size, 16),
    AT(precast_request, program_name, 24),
    AT(precast_request, compile_options, 32),
    AT(precast_request, compile_options_size, 40),
    AT(precast_request, xla_options, 48),
    AT(precast_request, xla_option_count, 56),
    AT(precast_request, device_ids, 64),
    AT(precast_request, device_id_count, 72),
    AT(precast_request, label, 80),
    AT(precast_request, salt, 88),
    AT(precast_request, replicas, 96),
    AT(precast_request, partitions, 100),
    AT(precast_request, use_spmd, 104),
    AT(precast_request, keep_program, 108),
    AT(precast_request, cpu_baseline, 112),
    AT(precast_request, annotations, 120),
    AT(precast_request, annotations_size, 128),
    AT(precast_request, profile, 136),
    AT(precast_request, profile_size, 144),
    AT(precast_request, extras, 152),
    AT(precast_request, extra_count, 160),
    SIZE(precast_load_request, 72),
    AT(precast_load_request, path, 8),
    AT(precast_load_request, data, 16),
    AT(precast_load_request, data_size, 24),
    AT(precast_load_request, device_ids, 32),
    AT(precast_load_request, device_id_count, 40),
    AT(precast_load_request, trusted_keys, 48),
    AT(precast_load_request, trusted_key_count, 56),
    AT(precast_load_request, require_signature, 64),
    SIZE(precast_report_facts, 96),
    AT(precast_report_facts, outcome_name, 8),
    AT(precast_report_facts, reason_name, 16),
    AT(precast_report_facts, detail, 24),
    AT(precast_report_facts, key, 32),
    AT(precast_report_facts, artifact_path, 40),
    AT(precast_report_facts, program_bytes, 48),
    AT(precast_report_facts, executable_bytes, 56),
    AT(precast_report_facts, artifact_bytes, 64),
    AT(precast_report_facts, phase_count, 72),
    AT(precast_report_facts, warning_count, 80),
    AT(precast_report_facts, outcome, 88),
    AT(precast_report_facts, reason, 92),
    SIZE(precast_phase, 24),
    AT(precast_phase, name, 8),
    AT(precast_phase, ms, 16),
    SIZE(precast_executable_facts, 72),
    AT(precast_executable_facts, name, 8),
    AT(precast_executable_facts, key, 16),
    AT(precast_executable_facts, device_ids, 24),
    AT(precast_executable_facts, device_count, 32),
    AT(precast_executable_facts, parameter_count, 40),
    AT(precast_executable_facts, result_count, 48),
    AT(precast_executable_facts, replicas, 56),
    AT(precast_executable_facts, partitions, 60),
    AT(precast_executable_facts, has_signature, 64),
    SIZE(precast_tensor_spec, 72),
    AT(precast_tensor_spec, text, 8),
    AT(precast_tensor_spec, dimensions, 16),
    AT(precast_tensor_spec, dimension_count, 24),
    AT(precast_tensor_spec, minor_to_major, 32),
    AT(precast_tensor_spec, minor_to_major_count, 40),
    AT(precast_tensor_spec, memory_kind, 48),
    AT(precast_tensor_spec, host_bytes, 56),
    AT(precast_tensor_spec, element_type, 64),
    AT(precast_tensor_spec, donation, 68),
    SIZE(precast_tensor, 48),
    AT(precast_tensor, dimensions, 8),
    AT(precast_tensor, dimension_count, 16),
    AT(precast_tensor, data, 24),
    AT(precast_tensor, data_size, 32),
    AT(precast_tensor, element_type, 40),
    SIZE(precast_run_options, 16),
    AT(precast_run_options, inputs_per_device, 8),
    SIZE(precast_outputs_facts, 48),
    AT(precast_outputs_facts, device_count, 8),
    AT(precast_outputs_facts, result_count, 16),
    AT(precast_outputs_facts, transfer_ms, 24),
    AT(precast_outputs_facts, run_ms, 32),
    AT(precast_outputs_facts, fetch_ms, 40),
};

void check_layout(void) {
  for (size_t i = 0; i < sizeof(kPins) / sizeof(kPins[0]); ++i) {
    const struct pin* pin = &kPins[i];
    if (pin->is != pin->was) {
      fprintf(stderr, "%s is %zu, but was %zu\n", pin->name, pin->is, pin->was);
    }
    CHECK(pin->is == pin->was);
  }
}
