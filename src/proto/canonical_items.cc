#include "proto/canonical_items.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "precast/limits.h"

namespace precast::proto {
namespace {

using base::FieldReader;
using base::PackedReader;
using base::WireField;
using base::WireType;

// A value that is longer is of no use to a reader, and records stay small.
constexpr std::size_t kMaxInlineBytes = std::size_t{16} << 10;

std::string digest_text(BytesView value) {
  return fmt::format("sha256:{}, {} bytes", base::sha256(value).hex(), value.size());
}

}  // namespace

void CanonicalItems::add(std::string name, BytesView value) {
  if (value.size() <= kMaxInlineBytes) {
    items_.emplace(std::move(name), value);
  } else {
    items_.emplace("sha256(" + name + ")", digest_text(value));
  }
}

void CanonicalItems::add_digest(std::string name, BytesView value) {
  items_.emplace(std::move(name), digest_text(value));
}

void CanonicalItems::add_raw(const std::string& prefix, const WireField& field) {
  const std::string name = prefix + "#" + std::to_string(field.number);
  switch (field.type) {
    case WireType::varint: return add(name, fmt::format("varint:{}", field.value));
    case WireType::fixed64: return add(name, fmt::format("fixed64:{:#018x}", field.value));
    case WireType::fixed32: return add(name, fmt::format("fixed32:{:#010x}", field.value));
    case WireType::bytes: return add(name, hex_of(field.bytes));
  }
}

bool CanonicalItems::is_left_out_on(std::string_view option, bool cpu) {
  if (is_neutral_option(option)) return true;
  // JAX always sets the folder of the CUDA toolkit, a path inside one Python environment; the CPU
  // compiler looks neither at it nor at the GPU compiler's files.
  return cpu && option.starts_with("xla_gpu_") &&
         (option == "xla_gpu_cuda_data_dir" || find_file_option(option) != nullptr);
}

Result<CanonicalOptions> CanonicalItems::finish() && {
  if (items_.size() > limits::kMaxOptionItems) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("compile options have {} values, more than the limit of {}",
                             items_.size(), limits::kMaxOptionItems));
  }
  CanonicalOptions result;
  result.items.reserve(items_.size());
  for (auto& [name, value] : items_) {
    if (name.size() > limits::kMaxKeyNameBytes) {
      return Error(ErrorCode::invalid_argument,
                   fmt::format("compile options have a name of {} bytes, more than the limit of {}",
                               name.size(), limits::kMaxKeyNameBytes));
    }
    result.items.push_back({name, std::move(value)});
  }
  return result;
}

Result<FieldsByNumber> fields_by_number(BytesView message, const std::string& message_name) {
  FieldsByNumber fields;
  std::size_t count = 0;
  FieldReader reader(message);
  while (reader.next()) {
    if (++count > limits::kMaxOptionItems) {
      return Error(ErrorCode::invalid_argument, fmt::format("{} has more than {} fields",
                                                            message_name, limits::kMaxOptionItems));
    }
    fields[reader.field().number].push_back(reader.field());
  }
  if (reader.damaged()) {
    return Error(ErrorCode::invalid_argument, message_name + " does not parse");
  }
  return fields;
}

std::string text_of_bool(std::uint64_t varint) { return varint != 0 ? "true" : "false"; }

std::string text_of_int64(std::uint64_t varint) {
  return std::to_string(static_cast<std::int64_t>(varint));
}

std::string hex_of(BytesView bytes) { return "0x" + base::to_hex(bytes); }

std::optional<std::string> text_of_list(const std::vector<WireField>& fields,
                                        std::string (*text_of)(std::uint64_t)) {
  std::string text;
  const auto append = [&](std::uint64_t value) {
    if (!text.empty()) text += ",";
    text += text_of(value);
  };
  for (const WireField& field : fields) {
    if (field.type == WireType::varint) {
      append(field.value);
    } else if (field.type == WireType::bytes) {
      PackedReader packed(field.bytes);
      while (packed.next()) append(packed.value());
      if (packed.damaged()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return text;
}

}  // namespace precast::proto
