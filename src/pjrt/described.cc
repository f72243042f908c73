// Compiling for a described topology.
#include <utility>

#include "pjrt/client_impl.h"
#include "pjrt/functions.h"
#include "pjrt/handles.h"
#include "pjrt/internal.h"

namespace precast::pjrt {
namespace {

Result<Handle<PJRT_TopologyDescription>> described(const Api& api, BytesView topology) {
  Block<PJRT_TopologyDescription_Deserialize_Args> args;
  args->serialized_topology = topology.data();
  args->serialized_topology_size = topology.size();
  PRECAST_TRY(api.call(kTopologyDescriptionDeserialize, args));
  return own(api, args->topology);
}

Result<Bytes> serialized(const Api& api, PJRT_Executable* executable) {
  Block<PJRT_Executable_Serialize_Args> args;
  args->executable = executable;
  PRECAST_TRY(api.call(kExecutableSerialize, args));
  Bytes bytes = take_bytes(args->serialized_bytes, args->serialized_bytes_size,
                           args->serialized_executable, args->serialized_executable_deleter);
  if (bytes.empty()) {
    return Error(ErrorCode::unsupported, "the plugin serialized the executable to no bytes");
  }
  return bytes;
}

}  // namespace

Result<Bytes> compile_for_topology(const Client& client, BytesView topology, const Program& program,
                                   const CompileOptions& options) {
  const Client::Impl& impl = *client.impl();
  const Api& api = impl.api();
  PRECAST_TRY(check_options(impl, options));
  auto target = described(api, topology);
  if (!target) {
    if (!is_lacking(target.error())) return std::move(target).error();
    return Error(ErrorCode::unsupported, "the plugin does not compile for described topologies");
  }
  const std::string_view format = program.format() == ProgramFormat::hlo_proto ? "hlo" : "mlir";
  Block<PJRT_Program> abi;
  abi->code = const_cast<char*>(program.bytes().data());  // NOLINT: the plugin only reads it
  abi->code_size = program.bytes().size();
  abi->format = format.data();
  abi->format_size = format.size();
  Block<PJRT_Compile_Args> args;
  args->topology = target->get();
  args->program = abi.get();
  args->compile_options = options.serialized().data();
  args->compile_options_size = options.serialized().size();
  PRECAST_TRY(api.call(kCompile, args));
  const Handle<PJRT_Executable> executable = own(api, args->executable);
  return serialized(api, executable.get());
}

}  // namespace precast::pjrt
