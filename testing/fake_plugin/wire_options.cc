// Compile options and device assignments; field numbers as in XLA.

#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "testing/fake_plugin/failure.h"
#include "testing/fake_plugin/program.h"

namespace precast::fake {
namespace {

std::vector<std::int64_t> decode_assignment(protozero::pbf_reader assignment) {
  std::int64_t replicas = 0;
  std::vector<std::vector<std::int64_t>> partitions;
  while (assignment.next()) {
    if (assignment.tag() == 1) {
      replicas = assignment.get_int32();
    } else if (assignment.tag() == 3) {
      protozero::pbf_reader computation = assignment.get_message();
      std::vector<std::int64_t>& ids = partitions.emplace_back();
      while (computation.next()) {
        if (computation.tag() != 1) {
          computation.skip();
        } else if (computation.wire_type() == protozero::pbf_wire_type::varint) {
          ids.push_back(computation.get_int64());
        } else {
          for (const std::int64_t id : computation.get_packed_int64()) ids.push_back(id);
        }
      }
    } else {
      assignment.skip();
    }
  }
  std::vector<std::int64_t> ids;
  for (std::int64_t replica = 0; replica < replicas; ++replica) {
    for (const std::vector<std::int64_t>& partition : partitions) {
      if (partition.size() != static_cast<std::size_t>(replicas)) {
        fail(PJRT_Error_Code_INVALID_ARGUMENT, "the device assignment has no id per position");
      }
      ids.push_back(partition[static_cast<std::size_t>(replica)]);
    }
  }
  return ids;
}

}  // namespace

Options parse_options(std::string_view bytes) {
  Options options;
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (message.tag() == 4) {
        options.portable = message.get_bool();
      } else if (message.tag() == 3) {
        protozero::pbf_reader build = message.get_message();
        while (build.next()) {
          switch (build.tag()) {
            case 4: options.replicas = build.get_int64(); break;
            case 5: options.partitions = build.get_int64(); break;
            case 9: options.assignment = decode_assignment(build.get_message()); break;
            default: build.skip();
          }
        }
      } else if (message.tag() == 7) {
        protozero::pbf_reader entry = message.get_message();
        if (entry.next(1)) {
          const std::string name = entry.get_string();
          if (!name.starts_with("xla_")) {
            fail(PJRT_Error_Code_INVALID_ARGUMENT, "No such compile option: '{}'", name);
          }
        }
      } else {
        message.skip();
      }
    }
  } catch (const protozero::exception& error) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "cannot parse the compile options: {}", error.what());
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (options.replicas < 1 || options.partitions < 1 || options.replicas > kMost ||
      options.partitions > kMost) {
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "the compile options ask for {} replicas and {} partitions; both must be at least 1",
         options.replicas, options.partitions);
  }
  return options;
}

std::string encode_assignment(const std::vector<std::int64_t>& ids, std::int64_t replicas,
                              std::int64_t partitions) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int32(1, static_cast<std::int32_t>(replicas));
  writer.add_int32(2, static_cast<std::int32_t>(partitions));
  for (std::int64_t partition = 0; partition < partitions; ++partition) {
    std::vector<std::int64_t> replica_ids;
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      replica_ids.push_back(ids[static_cast<std::size_t>(replica * partitions + partition)]);
    }
    std::string computation;
    protozero::pbf_writer(computation).add_packed_int64(1, replica_ids.begin(), replica_ids.end());
    writer.add_message(3, computation);
  }
  return bytes;
}

}  // namespace precast::fake
