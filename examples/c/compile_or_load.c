/* compile_or_load PROGRAM [PLUGIN]: loads a program from the cache or compiles it, runs it on
   zeros, and says what came out. */
#include <precast/precast_c.h>
#include <stdio.h>
#include <stdlib.h>

struct bytes {
  char* data;
  size_t size;
};

static struct bytes read_file(const char* path) {
  struct bytes bytes = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) return bytes;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long size = ftell(file);
    rewind(file);
    bytes.data = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes.data != NULL) bytes.size = fread(bytes.data, 1, (size_t)size, file);
  }
  fclose(file);
  return bytes;
}

/* Runs on zeros of the types that the executable takes. */
static int32_t run(const precast_executable* executable, precast_outputs** outputs,
                   precast_error** error) {
  precast_executable_facts facts = {.struct_size = sizeof(facts)};
  int32_t code = precast_executable_get_facts(executable, &facts, error);
  if (code != PRECAST_OK) return code;
  precast_tensor* inputs = calloc(facts.parameter_count + 1, sizeof(*inputs));
  void** zeros = calloc(facts.parameter_count + 1, sizeof(*zeros));
  for (size_t i = 0; i < facts.parameter_count && code == PRECAST_OK; ++i) {
    precast_tensor_spec spec = {.struct_size = sizeof(spec)};
    code = precast_executable_get_parameter(executable, i, &spec, error);
    if (code != PRECAST_OK) break;
    zeros[i] = calloc(1, (size_t)spec.host_bytes + 1);
    inputs[i].struct_size = sizeof(inputs[i]);
    inputs[i].dimensions = spec.dimensions;
    inputs[i].dimension_count = spec.dimension_count;
    inputs[i].data = zeros[i];
    inputs[i].data_size = (size_t)spec.host_bytes;
    inputs[i].element_type = spec.element_type;
  }
  if (code == PRECAST_OK) {
    code = precast_run(executable, inputs, facts.parameter_count, NULL, outputs, error);
  }
  for (size_t i = 0; i < facts.parameter_count; ++i) free(zeros[i]);
  free(zeros);
  free(inputs);
  return code;
}

int main(int argc, char** argv) {
  precast_plugin* plugin = NULL;
  precast_client* client = NULL;
  precast_cache* cache = NULL;
  precast_executable* executable = NULL;
  precast_report* report = NULL;
  precast_outputs* outputs = NULL;
  precast_error* error = NULL;
  precast_request request = {.struct_size = sizeof(request)};
  if (argc < 2) {
    fprintf(stderr, "usage: compile_or_load PROGRAM [PLUGIN]\n");
    return 2;
  }
  const struct bytes program = read_file(argv[1]);
  request.program = program.data;
  request.program_size = program.size;
  request.program_name = argv[1];
  int32_t code = precast_plugin_open(argc > 2 ? argv[2] : NULL, &plugin, &error);
  if (code == PRECAST_OK) code = precast_client_create(plugin, NULL, 0, &client, &error);
  if (code == PRECAST_OK) code = precast_cache_open(NULL, &cache, &error);
  if (code == PRECAST_OK) {
    code = precast_compile_or_load(cache, client, &request, &executable, &report, &error);
  }
  if (code == PRECAST_OK) code = run(executable, &outputs, &error);
  if (code == PRECAST_OK) {
    precast_tensor result = {.struct_size = sizeof(result)};
    printf("%s\n", precast_report_json(report));
    for (size_t i = 0; precast_outputs_get_tensor(outputs, 0, i, &result, NULL) == PRECAST_OK;
         ++i) {
      printf("result %zu: %zu bytes\n", i, result.data_size);
    }
  } else {
    fprintf(stderr, "%s\n", precast_error_text(error));
  }
  precast_error_free(error);
  precast_outputs_free(outputs);
  precast_report_free(report);
  precast_executable_free(executable);
  precast_cache_free(cache);
  precast_client_free(client);
  precast_plugin_free(plugin);
  free(program.data);
  return code == PRECAST_OK ? 0 : 1;
}
