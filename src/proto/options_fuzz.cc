// Fuzzer: any bytes as serialized compile options. What is taken can be edited, stays as it was
// where it is not edited, and has a canonical form in which neither dumps nor device ids count.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "precast/compile_options.h"
#include "precast/limits.h"
#include "proto/canonical_options.h"
#include "proto/executable_view.h"
#include "proto/file_options.h"
#include "proto/flags_parse.h"

namespace {

using precast::Bytes;
using precast::BytesView;
using precast::CompileOptions;
using precast::DeviceAssignment;

void check(bool holds) {
  if (!holds) std::abort();
}

// What an edit made is options again: it parses, and parsing it changes nothing.
void check_sound(const CompileOptions& options) {
  const auto again = CompileOptions::from_serialized(Bytes(options.serialized()));
  check(again && again->serialized() == options.serialized());
}

// Devices are left out of the canonical form, so any two assignments are one.
DeviceAssignment assignment_of(const CompileOptions& options, std::int64_t first) {
  DeviceAssignment assignment{options.replicas(), options.partitions(), {}};
  const std::int64_t count = std::int64_t{options.replicas()} * options.partitions();
  for (std::int64_t i = 0; i < count; ++i) assignment.device_ids.push_back(first + i);
  return assignment;
}

void check_canonical(const CompileOptions& options) {
  const auto canonical = precast::proto::canonicalize(options, "cpu");
  const CompileOptions without_dumps = options.without_dumps();
  check_sound(without_dumps);
  check(without_dumps.without_dumps().serialized() == without_dumps.serialized());
  const auto same = precast::proto::canonicalize(without_dumps, "cpu");
  check(canonical.has_value() == same.has_value());
  if (canonical) check(canonical->items == same->items);
}

void check_assignments(CompileOptions options) {
  // Large counts cost time and find nothing more.
  if (options.replicas() > 64 || options.partitions() > 64) return;
  CompileOptions other = options;
  const DeviceAssignment first = assignment_of(options, 0);
  options.set_assignment(first);
  other.set_assignment(assignment_of(options, 1000));
  check_sound(options);
  check(options.assignment() == first);
  const auto canonical = precast::proto::canonicalize(options, "cpu");
  const auto same = precast::proto::canonicalize(other, "cpu");
  check(canonical.has_value() == same.has_value());
  if (canonical) check(canonical->items == same->items);
  options.set_assignment(std::nullopt);
  check(!options.assignment());
}

void check_edits(CompileOptions options) {
  check(options.replicas() >= 1 && options.partitions() >= 1);
  options.set_use_spmd(!options.use_spmd());
  options.set_replicas(2);
  options.set_partitions(3);
  check(options.replicas() == 2 && options.partitions() == 3);
  check(options.set_option("xla_cpu_enable_fast_math", "true").has_value());
  check_sound(options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  // The same bytes as other messages that plugins hand out.
  (void)precast::proto::decode_device_assignment(bytes);
  (void)precast::proto::signature_from_optimized_program(bytes);
  (void)precast::proto::cpu_requirement(bytes);
  (void)precast::proto::cpu_from_topology(bytes);

  const auto options = CompileOptions::from_serialized(Bytes(bytes));
  if (!options) return 0;
  check(options->serialized() == bytes);
  (void)precast::proto::file_references(precast::proto::parse_flags_text(""), *options, "cpu");
  check_canonical(*options);
  check_assignments(*options);
  check_edits(*options);
  return 0;
}
