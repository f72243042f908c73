#include "cli/differences.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

constexpr std::size_t kMaxValue = 400;

std::string name_of(const KeyDifference& difference) {
  if (difference.field.empty()) return "(order of the fields)";
  if (difference.item.empty()) return difference.field;
  return difference.field + "." + difference.item;
}

std::string value_text(const Bytes& value) {
  if (is_plain_text(value) && value.size() <= kMaxValue) return value;
  return fmt::format("{} of sha256 {}", bytes_text(value.size()), Digest::of(value).hex());
}

Json side(bool there, const Bytes& value) { return there ? Json(value_text(value)) : Json(); }

std::string shown(bool there, const Bytes& value) {
  if (!there) return "-";
  return value.empty() ? "''" : printable(value_text(value));
}

}  // namespace

Json json_of_items(const std::vector<KeyDifference>& items) {
  Json list = Json::array();
  for (const KeyDifference& item : items) {
    list.push_back({{"name", name_of(item)},
                    {"expected", side(item.in_left, item.left)},
                    {"found", side(item.in_right, item.right)}});
  }
  return list;
}

Json json_of_program(const std::vector<OutlineDifference>& differences) {
  Json list = Json::array();
  for (const OutlineDifference& difference : differences) {
    Json operation;
    if (!difference.op.empty()) {
      operation = {{"name", difference.op}, {"expected", Json()}, {"found", Json()}};
      if (difference.left_op) operation["expected"] = *difference.left_op;
      if (difference.right_op) operation["found"] = *difference.right_op;
    }
    list.push_back({{"function", difference.function},
                    {"operation", std::move(operation)},
                    {"part", difference.part},
                    {"expected", difference.left},
                    {"found", difference.right}});
  }
  return list;
}

void print_differences(const RecordDifferences& differences, const Sides& sides, Output& out) {
  if (!differences.items.empty()) {
    Table table({{"field"}, {sides.left, false, true}, {sides.right, false, true}});
    for (const KeyDifference& item : differences.items) {
      table.add({printable(name_of(item)), shown(item.in_left, item.left),
                 shown(item.in_right, item.right)});
    }
    out.print(table, 2);
  }
  for (const OutlineDifference& difference : differences.program) {
    out.print("  program: " + printable(to_string(difference)) + "\n");
  }
  if (!differences.program_note.empty()) {
    out.print("  program: " + printable(differences.program_note) + "\n");
  }
}

}  // namespace precast::cli
