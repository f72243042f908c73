#include <cassert>
#include <vector>

#include "base/wire.h"
#include "precast/limits.h"
#include "proto/executable_view.h"
#include "proto/field_numbers.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::PackedReader;
using base::WireField;
using base::WireType;
namespace fields = device_assignment;

Error invalid(const std::string& what) {
  return {ErrorCode::invalid_argument, "xla.DeviceAssignmentProto " + what};
}

// Ids of one partition, packed or not.
Result<std::vector<std::int64_t>> read_ids(BytesView computation_device) {
  std::vector<std::int64_t> ids;
  FieldReader reader(computation_device);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(fields::kReplicaDeviceIds, WireType::varint)) {
      ids.push_back(static_cast<std::int64_t>(field.value));
    } else if (field.is(fields::kReplicaDeviceIds, WireType::bytes)) {
      PackedReader packed(field.bytes);
      while (packed.next()) {
        if (ids.size() >= limits::kMaxDevices) return invalid("has too many device ids");
        ids.push_back(static_cast<std::int64_t>(packed.value()));
      }
      if (packed.damaged()) return invalid("has a damaged list of device ids");
    }
    if (ids.size() > limits::kMaxDevices) return invalid("has too many device ids");
  }
  if (reader.damaged()) return invalid("does not parse");
  return ids;
}

}  // namespace

Bytes encode_device_assignment(const DeviceAssignment& assignment) {
  const auto replicas = static_cast<std::size_t>(assignment.replicas);
  const auto partitions = static_cast<std::size_t>(assignment.partitions);
  assert(assignment.device_ids.size() == replicas * partitions);
  Bytes message;
  base::append_varint(message, fields::kReplicaCount, replicas);
  base::append_varint(message, fields::kComputationCount, partitions);
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    Bytes packed;
    for (std::size_t replica = 0; replica < replicas; ++replica) {
      base::append_packed_varint(
          packed,
          static_cast<std::uint64_t>(assignment.device_ids[replica * partitions + partition]));
    }
    Bytes computation_device;
    base::append_bytes(computation_device, fields::kReplicaDeviceIds, packed);
    base::append_bytes(message, fields::kComputationDevices, computation_device);
  }
  return message;
}

Result<DeviceAssignment> decode_device_assignment(BytesView bytes) {
  std::uint64_t replicas = 0;
  std::uint64_t partitions = 0;
  std::vector<std::vector<std::int64_t>> by_partition;
  std::uint64_t total = 0;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(fields::kReplicaCount, WireType::varint)) {
      replicas = field.value;
    } else if (field.is(fields::kComputationCount, WireType::varint)) {
      partitions = field.value;
    } else if (field.is(fields::kComputationDevices, WireType::bytes)) {
      PRECAST_ASSIGN(by_partition.emplace_back(), read_ids(field.bytes));
      total += by_partition.back().size();
      if (total > limits::kMaxDevices || by_partition.size() > limits::kMaxDevices) {
        return invalid("has too many device ids");
      }
    }
  }
  if (reader.damaged()) return invalid("does not parse");
  // Each count first, so that the product does not overflow.
  if (replicas < 1 || partitions < 1 || replicas > limits::kMaxDevices ||
      partitions > limits::kMaxDevices || replicas * partitions > limits::kMaxDevices) {
    return invalid("has " + std::to_string(replicas) + " replicas and " +
                   std::to_string(partitions) +
                   " partitions; each must be at least 1 and their "
                   "product at most " +
                   std::to_string(limits::kMaxDevices));
  }
  if (by_partition.size() != partitions) {
    return invalid("lists devices of " + std::to_string(by_partition.size()) + " of its " +
                   std::to_string(partitions) + " partitions");
  }
  DeviceAssignment assignment{static_cast<int>(replicas), static_cast<int>(partitions), {}};
  assignment.device_ids.resize(static_cast<std::size_t>(replicas * partitions));
  for (std::size_t partition = 0; partition < by_partition.size(); ++partition) {
    const std::vector<std::int64_t>& ids = by_partition[partition];
    if (ids.size() != replicas) {
      return invalid("lists " + std::to_string(ids.size()) + " devices for partition " +
                     std::to_string(partition) + " of " + std::to_string(replicas) + " replicas");
    }
    for (std::size_t replica = 0; replica < ids.size(); ++replica) {
      assignment.device_ids[replica * by_partition.size() + partition] = ids[replica];
    }
  }
  return assignment;
}

}  // namespace precast::proto
