// What an executable takes and gives, read from the plugin's own optimized program.
#include <string_view>
#include <utility>

#include "base/wire.h"
#include "pjrt/executable_impl.h"
#include "pjrt/internal.h"
#include "proto/executable_view.h"

namespace precast::pjrt {
namespace {

// The attribute with which JAX asks for the layout of a parameter or a result. Bytecode holds it as
// it is in its table of strings.
constexpr std::string_view kLayoutMode = "mhlo.layout_mode";

// xla.CompileOptionsProto.argument_layouts
constexpr std::uint32_t kArgumentLayouts = 1;

bool has_argument_layouts(BytesView options) {
  base::FieldReader reader(options);
  while (reader.next()) {
    if (reader.field().number == kArgumentLayouts) return true;
  }
  return false;
}

}  // namespace

std::optional<ProgramSignature> read_signature(const LoadedExecutable& executable) {
  const Result<Bytes> optimized = optimized_program(*executable.impl());
  if (!optimized) return std::nullopt;
  Result<ProgramSignature> signature = proto::signature_from_optimized_program(*optimized);
  if (!signature || signature->results.size() != executable.result_count()) return std::nullopt;
  if (const auto kinds = executable.result_memory_kinds();
      kinds && kinds->size() == signature->results.size()) {
    for (std::size_t i = 0; i < kinds->size(); ++i) signature->results[i].memory_kind = (*kinds)[i];
  }
  return std::move(signature).value();
}

void set_signature(const LoadedExecutable& executable, std::optional<ProgramSignature> signature) {
  executable.impl()->signature = std::move(signature);
}

void note_layout_wishes(const LoadedExecutable& executable, const Program* program,
                        const CompileOptions& options) {
  // An HLO module always has entry layouts, and they may be any.
  executable.impl()->wants_layouts =
      has_argument_layouts(options.serialized()) ||
      (program != nullptr && (program->format() == ProgramFormat::hlo_proto ||
                              program->bytes().find(kLayoutMode) != BytesView::npos));
}

}  // namespace precast::pjrt
