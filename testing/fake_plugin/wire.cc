// Serialized executables and topologies of the fake plugin; field numbers as in XLA.

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/program.h"

namespace precast::fake {
namespace {

std::string encode_target(std::string_view triple, std::string_view cpu,
                          std::string_view features) {
  std::string bytes;
  protozero::pbf_writer target(bytes);
  target.add_string(1, triple.data(), triple.size());
  target.add_string(2, cpu.data(), cpu.size());
  target.add_string(3, features.data(), features.size());
  return bytes;
}

}  // namespace

std::string encode_executable(const Compiled& compiled) {
  std::string result;
  protozero::pbf_writer writer(result);
  writer.add_message(1, encode_module(compiled));
  writer.add_string(3, "main");
  writer.add_enum(5, 2);  // KERNELS
  std::string object;
  protozero::pbf_writer(object).add_bytes(1, compiled.code);
  protozero::pbf_writer(object).add_string(2, "fake object");
  writer.add_message(8, object);
  writer.add_message(9, encode_target(compiled.triple, compiled.cpu, compiled.features));
  std::string bytes;
  protozero::pbf_writer outer(bytes);
  outer.add_message(1, result);
  outer.add_message(2, compiled.options_bytes);
  // XLA has no checksum; the fake needs one to refuse every damaged byte.
  outer.add_fixed64(15, checksum(bytes));
  return bytes;
}

Compiled decode_executable(std::string_view bytes) {
  constexpr std::size_t kChecksumBytes = 9;  // one byte of tag, eight of value
  if (bytes.size() < kChecksumBytes) {
    fail(PJRT_Error_Code_INTERNAL, "fake plugin: proto deserialization failed");
  }
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  std::string tail;
  protozero::pbf_writer(tail).add_fixed64(15, checksum(content));
  if (bytes.substr(content.size()) != tail) {
    fail(PJRT_Error_Code_INTERNAL, "fake plugin: proto deserialization failed");
  }
  Compiled compiled;
  protozero::pbf_reader outer(content.data(), content.size());
  while (outer.next()) {
    if (outer.tag() == 2) {
      compiled.options_bytes = outer.get_string();
      continue;
    }
    protozero::pbf_reader result = outer.get_message();
    while (result.next()) {
      if (result.tag() == 1) {
        decode_module(result.get_string(), compiled);
      } else if (result.tag() == 8) {
        protozero::pbf_reader object = result.get_message();
        if (object.next(1)) compiled.code = object.get_string();
      } else if (result.tag() == 9) {
        protozero::pbf_reader target = result.get_message();
        while (target.next()) {
          std::string& text = target.tag() == 1   ? compiled.triple
                              : target.tag() == 2 ? compiled.cpu
                                                  : compiled.features;
          text = target.get_string();
        }
      } else {
        result.skip();
      }
    }
  }
  compiled.options = parse_options(compiled.options_bytes);
  return compiled;
}

std::string encode_topology(const Config& config, const std::vector<int>& process_indices,
                            const std::vector<int>& local_ids) {
  std::string topology;
  protozero::pbf_writer cpu(topology);
  for (std::size_t i = 0; i < process_indices.size(); ++i) {
    std::string device;
    protozero::pbf_writer writer(device);
    writer.add_int32(2, process_indices[i]);
    writer.add_int32(3, local_ids[i]);
    cpu.add_message(1, device);
  }
  cpu.add_message(5, encode_target(config.triple, config.cpu, config.features));
  std::string any;
  protozero::pbf_writer(any).add_string(1, "type.googleapis.com/xla.CpuTopologyProto");
  protozero::pbf_writer(any).add_bytes(2, topology);
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_uint64(1, checksum(config.platform_name));
  writer.add_string(2, config.platform_name);
  writer.add_string(3, config.platform_version);
  writer.add_message(9, any);
  return bytes;
}

}  // namespace precast::fake
