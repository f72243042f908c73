// A client that knows PJRT's C ABI and nothing else: opens a library, compiles a program, runs it,
// keeps it as bytes, loads the bytes, runs those, and gives everything back.
//
//   pjrt_c_client LIBRARY ROUNDS [DEVICE]
//
// With DEVICE, a number, it compiles a portable executable, and each run names that device.
//
// A line for each round: the results, and whether something was serialized. The layouts were
// written down for this program alone, so that it is a witness of its own; a plugin refuses a
// struct that is smaller than it knows.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Handle Handle;  // whatever PJRT gives
typedef Handle* (*Function)(void* arguments);

struct Table {
  size_t size;
  void* extensions;
  struct {
    size_t size;
    void* extensions;
    int major, minor;
  } version;
  Function functions[];
};

// Their places in the table.
enum {
  error_destroy = 0,
  error_message = 1,
  plugin_initialize = 3,
  event_destroy = 5,
  event_await = 8,
  client_create = 10,
  client_destroy = 11,
  client_addressable_devices = 16,
  client_compile = 20,
  client_buffer_from_host_buffer = 22,
  executable_destroy = 40,
  executable_name = 41,
  executable_serialize = 49,
  loaded_destroy = 50,
  loaded_get_executable = 51,
  loaded_execute = 55,
  executable_deserialize_and_load = 56,
  buffer_destroy = 58,
  buffer_to_host_buffer = 70,
};

static const struct Table* table;

// The beginning of every struct of arguments; most have one handle behind it, and one result.
struct Plain {
  size_t size;
  void* extensions;
  Handle* handle;
  Handle* result;
};

struct Text {  // of an error, or an executable's name
  size_t size;
  void* extensions;
  Handle* handle;
  const char* text;
  size_t text_size;
};

static void call(int which, void* arguments, const char* what) {
  Handle* error = table->functions[which](arguments);
  if (error == NULL) return;
  struct Text message = {sizeof message, NULL, error, NULL, 0};
  table->functions[error_message](&message);
  fprintf(stderr, "%s: %.*s\n", what, (int)message.text_size, message.text);
  struct Plain gone = {offsetof(struct Plain, result), NULL, error, NULL};
  table->functions[error_destroy](&gone);
  exit(1);
}

static void destroy(int which, Handle* handle, const char* what) {
  struct Plain arguments = {offsetof(struct Plain, result), NULL, handle, NULL};
  call(which, &arguments, what);
}

static Handle* make_client(void) {
  struct {
    size_t size;
    void* extensions;
    const void* options;
    size_t option_count;
    void *get, *get_argument, *put, *put_argument;
    Handle* client;
    void *try_get, *try_get_argument;
  } create = {.size = sizeof create};
  call(client_create, &create, "client");
  return create.client;
}

static int portable;
static Handle* run_on;  // null unless it is portable

static Handle* device_of(Handle* client, int at) {
  struct {
    size_t size;
    void* extensions;
    Handle* client;
    Handle* const* devices;
    size_t count;
  } devices = {sizeof devices, NULL, client, NULL, 0};
  call(client_addressable_devices, &devices, "devices");
  if ((size_t)at >= devices.count) exit(3);
  return devices.devices[at];
}

static const char kProgram[] =
    "module @of_a_c_program {\n"
    "  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = stablehlo.multiply %a, %b : tensor<4xf32>\n"
    "    %1 = stablehlo.add %0, %a : tensor<4xf32>\n"
    "    return %1 : tensor<4xf32>\n"
    "  }\n"
    "}\n";

// xla.CompileOptionsProto: one replica, one partition, no particular device; portable in front.
static const unsigned char kOptions[] = {0x20, 0x01, 0x1a, 0x0f, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0x01, 0x20, 0x01, 0x28, 0x01};

static Handle* compile(Handle* client) {
  struct {
    size_t size;
    void* extensions;
    const char* code;
    size_t code_size;
    const char* format;
    size_t format_size;
  } program = {sizeof program, NULL, kProgram, sizeof kProgram - 1, "mlir", 4};
  struct {
    size_t size;
    void* extensions;
    Handle* client;
    const void* program;
    const void* options;
    size_t options_size;
    Handle* loaded;
  } arguments = {sizeof arguments,
                 NULL,
                 client,
                 &program,
                 kOptions + (portable ? 0 : 2),
                 sizeof kOptions - (portable ? 0 : 2),
                 NULL};
  call(client_compile, &arguments, "compile");
  return arguments.loaded;
}

static void await(Handle* event) {
  if (event == NULL) return;
  destroy(event_await, event, "wait");
  destroy(event_destroy, event, "event");
}

static Handle* to_device(Handle* client, Handle* device, const float* values) {
  const int64_t dimension = 4;
  struct {
    size_t size;
    void* extensions;
    Handle* client;
    const void* data;
    int type;
    const int64_t* dimensions;
    size_t dimension_count;
    const int64_t* strides;
    size_t stride_count;
    int semantics;
    Handle *device, *memory;
    void* layout;
    Handle *done, *buffer;
  } arguments = {sizeof arguments, NULL, client, values, 11,  &dimension, 1, NULL, 0, 0,
                 device,           NULL, NULL,   NULL,   NULL};
  call(client_buffer_from_host_buffer, &arguments, "buffer");
  await(arguments.done);
  return arguments.buffer;
}

static void run(Handle* loaded, Handle* const* inputs, float* results) {
  struct {
    size_t size;
    void* extensions;
    void *send, *receive;
    size_t send_count, receive_count;
    int launch_id;
    const int64_t* not_donated;
    size_t not_donated_count;
    void* context;
    const char* location;
    size_t task_count;
    int* tasks;
    int64_t* incarnations;
    void* slices;
    char row_major_callbacks;
    void* output_callbacks;
    size_t output_callback_count;
  } options = {.size = sizeof options};
  Handle* output = NULL;
  Handle** outputs = &output;
  Handle* complete = NULL;
  struct {
    size_t size;
    void* extensions;
    Handle* loaded;
    void* options;
    Handle* const* const* inputs;
    size_t device_count, input_count;
    Handle** const* outputs;
    Handle** complete;
    Handle* device;
  } arguments = {sizeof arguments, NULL,      loaded, &options, &inputs, 1, 2,
                 &outputs,         &complete, run_on};
  call(loaded_execute, &arguments, "run");
  await(complete);
  struct {
    size_t size;
    void* extensions;
    Handle* buffer;
    void *layout, *to;
    size_t to_size;
    Handle* event;
  } fetch = {sizeof fetch, NULL, output, NULL, results, 4 * sizeof *results, NULL};
  call(buffer_to_host_buffer, &fetch, "fetch");
  await(fetch.event);
  destroy(buffer_destroy, output, "buffer");
}

struct Bytes {
  size_t size;
  void* extensions;
  Handle* executable;
  const char* bytes;
  size_t byte_count;
  Handle* keeper;
  void (*give_back)(Handle* keeper);
};

static Handle* load(Handle* client, const struct Bytes* bytes) {
  struct {
    size_t size;
    void* extensions;
    Handle* client;
    const char* bytes;
    size_t byte_count;
    Handle* loaded;
    const char* options;
    size_t options_size;
    void* load_options;
  } arguments = {
      sizeof arguments, NULL, client, bytes->bytes, bytes->byte_count, NULL, NULL, 0, NULL};
  call(executable_deserialize_and_load, &arguments, "load");
  return arguments.loaded;
}

static void print(const char* what, const float* values) {
  printf("%s %g %g %g %g; ", what, values[0], values[1], values[2], values[3]);
}

static void live_once(int at) {
  Handle* client = make_client();
  Handle* device = device_of(client, at);
  run_on = portable ? device : NULL;
  const float a[4] = {1, 2, 3, 4};
  const float b[4] = {0.5f, 1.5f, 2.5f, 3.5f};
  Handle* inputs[2] = {to_device(client, device, a), to_device(client, device, b)};
  float results[4] = {0};

  Handle* loaded = compile(client);
  run(loaded, inputs, results);
  print("compiled", results);

  struct Plain half = {sizeof half, NULL, loaded, NULL};
  call(loaded_get_executable, &half, "executable");
  struct Text name = {sizeof name, NULL, half.result, NULL, 0};
  call(executable_name, &name, "name");
  printf("%.*s; ", (int)name.text_size, name.text);
  struct Bytes bytes = {sizeof bytes, NULL, half.result, NULL, 0, NULL, NULL};
  call(executable_serialize, &bytes, "serialize");

  // The bytes outlive what they were made of.
  destroy(executable_destroy, half.result, "executable");
  destroy(loaded_destroy, loaded, "loaded executable");
  Handle* again = load(client, &bytes);
  bytes.give_back(bytes.keeper);
  memset(results, 0, sizeof results);
  run(again, inputs, results);
  print("loaded", results);
  destroy(loaded_destroy, again, "loaded executable");

  destroy(buffer_destroy, inputs[0], "buffer");
  destroy(buffer_destroy, inputs[1], "buffer");
  destroy(client_destroy, client, "client");
  printf("bytes %s\n", bytes.byte_count > 0 ? "yes" : "no");
}

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  portable = count == 4;
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const struct Table* (*get)(void) = (const struct Table* (*)(void))dlsym(library, "GetPjrtApi");
  table = get();
  struct Plain initialize = {offsetof(struct Plain, handle), NULL, NULL, NULL};
  call(plugin_initialize, &initialize, "initialize");
  for (int round = 0; round < atoi(words[2]); ++round) live_once(portable ? atoi(words[3]) : 0);
  return 0;
}
