/* Signatures and runs. */
#include <string.h>

#include "check.h"

static const int64_t kShape[] = {2, 3};

static precast_tensor tensor_of(const float* values) {
  precast_tensor tensor = {.struct_size = sizeof(tensor)};
  tensor.dimensions = kShape;
  tensor.dimension_count = 2;
  tensor.data = values;
  tensor.data_size = 6 * sizeof(float);
  tensor.element_type = PRECAST_TYPE_F32;
  return tensor;
}

/* Result `result` at `position` is f32[2,3], from `first` in steps of one. */
static void check_values(const precast_outputs* outputs, size_t position, size_t result,
                         float first) {
  precast_error* error = NULL;
  precast_tensor tensor = {.struct_size = sizeof(tensor)};
  float values[6];
  CHECK_OK(precast_outputs_get_tensor(outputs, position, result, &tensor, &error));
  CHECK(tensor.element_type == PRECAST_TYPE_F32 && tensor.dimension_count == 2);
  CHECK(memcmp(tensor.dimensions, kShape, sizeof(kShape)) == 0);
  CHECK(tensor.data_size == sizeof(values));
  memcpy(values, tensor.data, sizeof(values));
  for (int i = 0; i < 6; ++i) CHECK(values[i] == first + (float)i);
}

static void check_signature(const precast_executable* executable) {
  precast_error* error = NULL;
  precast_executable_facts facts = {.struct_size = sizeof(facts)};
  precast_tensor_spec spec = {.struct_size = sizeof(spec)};
  CHECK_OK(precast_executable_get_facts(executable, &facts, &error));
  CHECK(facts.has_signature == 1 && facts.parameter_count == 2 && facts.result_count == 2);
  CHECK(facts.replicas == 1 && facts.partitions == 1);
  CHECK_OK(precast_executable_get_parameter(executable, 1, &spec, &error));
  CHECK_SAME(spec.text, "f32[2,3]");
  CHECK(spec.element_type == PRECAST_TYPE_F32 && spec.host_bytes == 24);
  CHECK(spec.dimension_count == 2 && spec.dimensions[1] == 3);
  CHECK(spec.minor_to_major_count == 2 && spec.minor_to_major[0] == 1);
  CHECK(spec.donation == PRECAST_DONATION_NONE);
  CHECK_OK(precast_executable_get_result(executable, 0, &spec, &error));
  CHECK_SAME(spec.text, "f32[2,3]");
  CHECK_FAILS(precast_executable_get_parameter(executable, 2, &spec, &error),
              PRECAST_INVALID_ARGUMENT, "no parameter 2");
  CHECK_FAILS(precast_executable_get_result(executable, 2, &spec, &error), PRECAST_INVALID_ARGUMENT,
              "no result 2");
}

static void check_wrong_inputs(const precast_executable* executable) {
  precast_error* error = NULL;
  precast_outputs* outputs = NULL;
  const float values[6] = {0};
  precast_tensor inputs[2] = {tensor_of(values), tensor_of(values)};

  CHECK_FAILS(precast_run(executable, inputs, 1, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "takes 2 inputs");
  CHECK(outputs == NULL);
  inputs[1].element_type = PRECAST_TYPE_S32;
  CHECK_FAILS(precast_run(executable, inputs, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "parameter 1 takes f32[2,3] but the input is s32[2,3]");
  inputs[1] = tensor_of(values);
  inputs[1].data_size = 20;
  CHECK_FAILS(precast_run(executable, inputs, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "parameter 1");
  inputs[1] = tensor_of(NULL);
  CHECK_FAILS(precast_run(executable, inputs, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "'data'");
  inputs[1] = tensor_of(values);
  inputs[1].dimension_count = 65;
  inputs[1].dimensions = kShape;
  CHECK_FAILS(precast_run(executable, inputs, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "65 dimensions");
  inputs[1] = tensor_of(values);
  inputs[1].struct_size += 8;
  CHECK_FAILS(precast_run(executable, inputs, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "inputs[1].struct_size");
  CHECK_FAILS(precast_run(executable, NULL, 2, NULL, &outputs, &error), PRECAST_INVALID_ARGUMENT,
              "'inputs'");
}

/* Two replicas on devices 3 and 1, each with inputs of its own. */
static void check_two_devices(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_outputs* outputs = NULL;
  precast_request request = request_of(kAddOne);
  precast_executable_facts facts = {.struct_size = sizeof(facts)};
  precast_run_options options = {.struct_size = sizeof(options)};
  const int64_t devices[] = {3, 1};
  const float a[6] = {0, 1, 2, 3, 4, 5};
  const float b[6] = {10, 11, 12, 13, 14, 15};
  precast_tensor inputs[4] = {tensor_of(a), tensor_of(b), tensor_of(b), tensor_of(a)};

  request.replicas = 2;
  request.device_ids = devices;
  request.device_id_count = 2;
  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL,
                                   &error));
  CHECK_OK(precast_executable_get_facts(executable, &facts, &error));
  CHECK(facts.replicas == 2 && facts.device_count == 2);
  CHECK(facts.device_ids[0] == 3 && facts.device_ids[1] == 1);

  CHECK_OK(precast_run(executable, inputs, 2, &options, &outputs, &error));
  check_values(outputs, 1, 0, 1);
  check_values(outputs, 1, 1, 11);
  precast_outputs_free(outputs);

  options.inputs_per_device = 1;
  CHECK_OK(precast_run(executable, inputs, 4, &options, &outputs, &error));
  check_values(outputs, 0, 0, 1);
  check_values(outputs, 0, 1, 11);
  check_values(outputs, 1, 0, 11);
  check_values(outputs, 1, 1, 1);
  precast_outputs_free(outputs);

  CHECK_FAILS(precast_run(executable, inputs, 2, &options, &outputs, &error),
              PRECAST_INVALID_ARGUMENT, "2 inputs were given");
  inputs[3].element_type = PRECAST_TYPE_S32;
  CHECK_FAILS(precast_run(executable, inputs, 4, &options, &outputs, &error),
              PRECAST_INVALID_ARGUMENT, "parameter 1 of position 1 takes f32[2,3]");
  inputs[3] = tensor_of(a);
  inputs[3].data_size = 20;
  CHECK_FAILS(precast_run(executable, inputs, 4, &options, &outputs, &error),
              PRECAST_INVALID_ARGUMENT, "parameter 1 of position 1 (device 1)");
  precast_executable_free(executable);
}

void check_runs(const struct fixture* fixture) {
  precast_error* error = NULL;
  precast_executable* executable = NULL;
  precast_outputs* outputs = NULL;
  precast_request request = request_of(kAddOne);
  precast_outputs_facts facts = {.struct_size = sizeof(facts)};
  precast_tensor tensor = {.struct_size = sizeof(tensor)};
  const float a[6] = {0, 1, 2, 3, 4, 5};
  const float b[6] = {10, 11, 12, 13, 14, 15};
  const precast_tensor inputs[2] = {tensor_of(a), tensor_of(b)};

  CHECK_OK(precast_compile_or_load(fixture->cache, fixture->client, &request, &executable, NULL,
                                   &error));
  check_signature(executable);
  check_wrong_inputs(executable);
  CHECK_OK(precast_run(executable, inputs, 2, NULL, &outputs, &error));
  /* The results outlive the executable. */
  precast_executable_free(executable);
  CHECK_OK(precast_outputs_get_facts(outputs, &facts, &error));
  CHECK(facts.device_count == 1 && facts.result_count == 2);
  CHECK(facts.transfer_ms > 0 && facts.run_ms > 0 && facts.fetch_ms > 0);
  check_values(outputs, 0, 0, 1);
  check_values(outputs, 0, 1, 11);
  CHECK_FAILS(precast_outputs_get_tensor(outputs, 1, 0, &tensor, &error), PRECAST_INVALID_ARGUMENT,
              "no device position 1");
  CHECK_FAILS(precast_outputs_get_tensor(outputs, 0, 2, &tensor, &error), PRECAST_INVALID_ARGUMENT,
              "no result 2");
  precast_outputs_free(outputs);
  check_two_devices(fixture);
}
