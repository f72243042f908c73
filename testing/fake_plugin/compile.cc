// Compiling, serializing and loading.

#include <cstring>

#include "testing/fake_plugin/call.h"
#include "testing/fake_plugin/members.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {
namespace {

// "x86_64" of "x86_64-unknown-linux-gnu"
std::string_view architecture(std::string_view triple) {
  return triple.substr(0, triple.find('-'));
}

std::vector<std::int64_t> resolve_assignment(const PJRT_Client& client, const Options& options) {
  if (options.portable) {
    if (options.assignment) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT,
           "CompileOptions requests portable executable but ExecutableBuildOptions includes a "
           "device assignment");
    }
    if (options.replicas != 1 || options.partitions != 1) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT,
           "a portable executable has one replica and one partition");
    }
    return {};
  }
  if (!options.assignment) {
    return default_assignment(client, options.replicas, options.partitions);
  }
  const auto positions = static_cast<std::size_t>(options.replicas * options.partitions);
  if (options.assignment->size() != positions) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the device assignment has {} ids for {} positions",
         options.assignment->size(), positions);
  }
  return *options.assignment;
}

}  // namespace

std::unique_ptr<PJRT_LoadedExecutable> load(PJRT_Client& client,
                                            std::shared_ptr<const Compiled> compiled,
                                            const Options& options, bool from_bytes) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = &client;
  loaded->compiled = std::move(compiled);
  loaded->from_bytes = from_bytes;
  loaded->portable = options.portable;
  loaded->assignment = resolve_assignment(client, options);
  for (const std::int64_t id : loaded->assignment) {
    PJRT_Device* device = find_device(client, id);
    if (device->addressable) loaded->addressable.push_back(device);
  }
  if (!options.portable && loaded->addressable.empty()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the device assignment does not have any local devices");
  }
  return loaded;
}

void client_compile(PJRT_Client_Compile_Args& args) {
  check_size("PJRT_Program", pjrt::kStructSize<PJRT_Program>, args.program->struct_size);
  const std::string_view format(args.program->format, args.program->format_size);
  if (format != "mlir" && format != "hlo") {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "Unknown program format '{}'.", format);
  }
  count(Counted::compile);
  const std::string_view options_bytes(args.compile_options, args.compile_options_size);
  const Options options = parse_options(options_bytes);
  auto compiled = std::make_shared<Compiled>(
      parse_program(std::string_view(args.program->code, args.program->code_size)));
  compiled->options_bytes = options_bytes;
  compiled->options = options;
  compiled->triple = args.client->config->triple;
  compiled->cpu = args.client->config->cpu;
  compiled->features = args.client->config->features;
  args.executable = load(*args.client, std::move(compiled), options, false).release();
}

void deserialize_and_load(PJRT_Executable_DeserializeAndLoad_Args& args) {
  count(Counted::deserialize);
  auto compiled = std::make_shared<const Compiled>(decode_executable(
      std::string_view(args.serialized_executable, args.serialized_executable_size)));
  const std::string_view here = architecture(args.client->config->triple);
  const std::string_view there = architecture(compiled->triple);
  if (here != there) {
    fail(PJRT_Error_Code_INTERNAL, "Target arch mismatch expected {} got {}.", there, here);
  }
  Options options = compiled->options;
  // Before 0.71 the field did not exist.
  if (args.client->config->minor >= 71 && args.overridden_serialized_compile_options_size > 0) {
    options = parse_options(std::string_view(args.overridden_serialized_compile_options,
                                             args.overridden_serialized_compile_options_size));
    if (options.replicas != compiled->options.replicas ||
        options.partitions != compiled->options.partitions) {
      fail(PJRT_Error_Code_INVALID_ARGUMENT,
           "the options are for {} x {} positions, the executable was compiled for {} x {}",
           options.replicas, options.partitions, compiled->options.replicas,
           compiled->options.partitions);
    }
  }
  args.loaded_executable = load(*args.client, std::move(compiled), options, true).release();
}

void executable_serialize(PJRT_Executable_Serialize_Args& args) {
  count(Counted::serialize);
  if (args.executable->from_bytes) {
    // XLA's CPU plugin gives bytes here that load and then fail at the run.
    fail(PJRT_Error_Code_FAILED_PRECONDITION,
         "fake plugin: an executable that was loaded from bytes cannot be serialized");
  }
  if (!args.executable->compiled->serializable) {
    fail(PJRT_Error_Code_UNIMPLEMENTED, "fake plugin: this program is not serializable.");
  }
  args.serialized_executable =
      hand_out(encode_executable(*args.executable->compiled), &args.serialized_bytes,
               &args.serialized_bytes_size, &args.serialized_executable_deleter);
}

void executable_compile_options(PJRT_Executable_GetCompileOptions_Args& args) {
  args.serialized_compile_options =
      hand_out(args.executable->compiled->options_bytes, &args.serialized_bytes,
               &args.serialized_bytes_size, &args.serialized_compile_options_deleter);
}

void executable_optimized_program(PJRT_Executable_OptimizedProgram_Args& args) {
  constexpr std::string_view kFormat = "hlo_with_config";
  PJRT_Program& program = *args.program;
  check_size("PJRT_Program", pjrt::kStructSize<PJRT_Program>, program.struct_size);
  const std::string module = encode_module(*args.executable->compiled);
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  if (program.code == nullptr) {
    program.code_size = module.size();
    return;
  }
  if (program.code_size < module.size()) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the program has {} bytes, there is room for {}",
         module.size(), program.code_size);
  }
  std::memcpy(program.code, module.data(), module.size());
}

}  // namespace precast::fake
