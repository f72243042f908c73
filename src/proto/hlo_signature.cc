// The signature of an optimized program.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/wire.h"
#include "proto/executable_view.h"
#include "proto/shape_proto.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::PackedReader;
using base::WireField;
using base::WireType;

namespace with_config {  // xla.HloModuleProtoWithConfig
constexpr std::uint32_t kModule = 1;
constexpr std::uint32_t kConfig = 2;
}  // namespace with_config

namespace module_config {  // xla.HloModuleConfigProto
constexpr std::uint32_t kEntryComputationLayout = 1;
}  // namespace module_config

namespace hlo_module {  // xla.HloModuleProto
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kHostProgramShape = 4;
constexpr std::uint32_t kInputOutputAlias = 8;
constexpr std::uint32_t kSpmdOutputSharding = 12;
constexpr std::uint32_t kSpmdParameterShardings = 14;
constexpr std::uint32_t kBufferDonor = 18;
}  // namespace hlo_module

namespace alias {  // xla.HloInputOutputAliasProto and xla.HloBufferDonorProto
constexpr std::uint32_t kEntries = 1;
constexpr std::uint32_t kAliasParameterNumber = 2;
constexpr std::uint32_t kAliasParameterIndex = 3;
constexpr std::uint32_t kAliasKind = 4;
constexpr std::uint32_t kDonorParameterNumber = 1;
constexpr std::uint32_t kDonorParameterIndex = 2;
constexpr std::uint64_t kMustAlias = 2;
}  // namespace alias

namespace sharding {  // xla.OpSharding
constexpr std::uint32_t kType = 1;
constexpr std::uint32_t kTupleShardings = 5;
constexpr std::uint64_t kTuple = 2;
}  // namespace sharding

Error corrupt(const std::string& what) {
  return {ErrorCode::corrupt, "the optimized program " + what};
}

// The parts of the module that are used.
struct Module {
  std::string name;
  std::optional<BytesView> program_shape;
  std::optional<BytesView> aliases;
  std::optional<BytesView> donors;
  std::optional<BytesView> output_sharding;
  std::vector<BytesView> parameter_shardings;
};

Result<Module> read_module(BytesView bytes) {
  Module module;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.type != WireType::bytes) continue;
    switch (field.number) {
      case hlo_module::kName: module.name = std::string(field.bytes); break;
      case hlo_module::kHostProgramShape: module.program_shape = field.bytes; break;
      case hlo_module::kInputOutputAlias: module.aliases = field.bytes; break;
      case hlo_module::kBufferDonor: module.donors = field.bytes; break;
      case hlo_module::kSpmdOutputSharding: module.output_sharding = field.bytes; break;
      case hlo_module::kSpmdParameterShardings:
        module.parameter_shardings.push_back(field.bytes);
        break;
      default: break;
    }
  }
  PRECAST_TRY(reader.finish("xla.HloModuleProto"));
  return module;
}

bool same_types(const FlatShape& a, const FlatShape& b) {
  if (a.paths != b.paths) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    if (a.tensors[i].type != b.tensors[i].type) return false;
  }
  return true;
}

bool same_types(const ProgramShape& a, const ProgramShape& b) {
  if (a.parameters.size() != b.parameters.size() || !same_types(a.result, b.result)) return false;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (!same_types(a.parameters[i], b.parameters[i])) return false;
  }
  return true;
}

// A parameter and a path inside it, with what becomes of its buffer.
struct Donated {
  std::uint64_t parameter = 0;
  std::vector<std::int64_t> path;
  Donation donation = Donation::donor;
};

// An entry of the alias list (`is_alias`) or of the donor list; they differ in field numbers.
Result<Donated> read_donated(BytesView bytes, bool is_alias) {
  Donated donated;
  if (is_alias) donated.donation = Donation::may_alias;
  const std::uint32_t number_field =
      is_alias ? alias::kAliasParameterNumber : alias::kDonorParameterNumber;
  const std::uint32_t path_field =
      is_alias ? alias::kAliasParameterIndex : alias::kDonorParameterIndex;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(number_field, WireType::varint)) {
      donated.parameter = field.value;
    } else if (field.is(path_field, WireType::varint)) {
      donated.path.push_back(static_cast<std::int64_t>(field.value));
    } else if (field.is(path_field, WireType::bytes)) {
      PackedReader packed(field.bytes);
      while (packed.next()) donated.path.push_back(static_cast<std::int64_t>(packed.value()));
      if (packed.damaged()) return corrupt("has a damaged list of donated parameters");
    } else if (is_alias && field.is(alias::kAliasKind, WireType::varint) &&
               field.value == alias::kMustAlias) {
      donated.donation = Donation::must_alias;
    }
  }
  if (reader.damaged()) return corrupt("has a damaged list of donated parameters");
  return donated;
}

Result<void> apply_donations(ProgramShape& program, BytesView list, bool is_alias) {
  FieldReader reader(list);
  while (reader.next()) {
    if (!reader.field().is(alias::kEntries, WireType::bytes)) continue;
    PRECAST_ASSIGN(const Donated donated, read_donated(reader.field().bytes, is_alias));
    if (donated.parameter >= program.parameters.size()) {
      return corrupt("donates parameter " + std::to_string(donated.parameter) + " of " +
                     std::to_string(program.parameters.size()));
    }
    FlatShape& parameter = program.parameters[donated.parameter];
    // Paths stand in lexicographic order. A path to a tuple, or to nothing, donates no tensor.
    const auto path = std::ranges::lower_bound(parameter.paths, donated.path);
    if (path == parameter.paths.end() || *path != donated.path) continue;
    TensorSpec& spec = parameter.tensors[static_cast<std::size_t>(path - parameter.paths.begin())];
    // Aliases are applied first: a buffer that becomes a result says more than a donor.
    if (spec.donation == Donation::none) spec.donation = donated.donation;
  }
  if (reader.damaged()) return corrupt("has a damaged list of donated parameters");
  return {};
}

// A tuple's sharding lists those of its tensors, in the order in which they stand flat here; any
// other sharding is for a single tensor.
Result<void> apply_sharding(FlatShape& shape, BytesView bytes) {
  std::vector<BytesView> parts;
  bool is_tuple = false;
  FieldReader reader(bytes);
  while (reader.next()) {
    const WireField& field = reader.field();
    if (field.is(sharding::kType, WireType::varint)) is_tuple = field.value == sharding::kTuple;
    if (field.is(sharding::kTupleShardings, WireType::bytes)) {
      // More than there are tensors is of no use, and must not cost memory.
      if (parts.size() > shape.tensors.size()) break;
      parts.push_back(field.bytes);
    }
  }
  if (reader.damaged()) return corrupt("has a sharding that does not parse");
  if (!is_tuple) {
    if (shape.tensors.size() == 1) shape.tensors[0].sharding = std::string(bytes);
  } else if (parts.size() == shape.tensors.size()) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      shape.tensors[i].sharding = std::string(parts[i]);
    }
  }
  return {};
}

std::vector<TensorSpec> take_tensors(std::vector<FlatShape> shapes) {
  std::vector<TensorSpec> all;
  for (FlatShape& shape : shapes) {
    for (TensorSpec& spec : shape.tensors) all.push_back(std::move(spec));
  }
  return all;
}

// The shape from the module, with the layouts that the entry computation was compiled for.
Result<ProgramShape> program_shape_of(const Module& module, BytesView config) {
  if (!module.program_shape) return corrupt("has no program shape");
  PRECAST_ASSIGN(ProgramShape program, read_program_shape(*module.program_shape));
  FieldReader reader(config);
  while (reader.next()) {
    if (!reader.field().is(module_config::kEntryComputationLayout, WireType::bytes)) continue;
    PRECAST_ASSIGN(ProgramShape entry, read_program_shape(reader.field().bytes));
    if (!same_types(program, entry)) {
      return corrupt("and its entry layout differ in types");
    }
    program = std::move(entry);
  }
  PRECAST_TRY(reader.finish("xla.HloModuleConfigProto"));
  return program;
}

}  // namespace

Result<ProgramSignature> signature_from_optimized_program(BytesView hlo_module_with_config) {
  std::optional<BytesView> module_bytes;
  BytesView config;
  FieldReader reader(hlo_module_with_config);
  while (reader.next()) {
    if (reader.field().is(with_config::kModule, WireType::bytes)) {
      module_bytes = reader.field().bytes;
    } else if (reader.field().is(with_config::kConfig, WireType::bytes)) {
      config = reader.field().bytes;
    }
  }
  PRECAST_TRY(reader.finish("xla.HloModuleProtoWithConfig"));
  if (!module_bytes) return corrupt("has no module");

  PRECAST_ASSIGN(const Module module, read_module(*module_bytes));
  PRECAST_ASSIGN(ProgramShape program, program_shape_of(module, config));
  if (module.aliases) PRECAST_TRY(apply_donations(program, *module.aliases, true));
  if (module.donors) PRECAST_TRY(apply_donations(program, *module.donors, false));
  if (module.parameter_shardings.size() == program.parameters.size()) {
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
      PRECAST_TRY(apply_sharding(program.parameters[i], module.parameter_shardings[i]));
    }
  }
  if (module.output_sharding) PRECAST_TRY(apply_sharding(program.result, *module.output_sharding));

  ProgramSignature signature;
  signature.name = module.name;
  signature.parameters = take_tensors(std::move(program.parameters));
  signature.results = std::move(program.result.tensors);
  return signature;
}

}  // namespace precast::proto
