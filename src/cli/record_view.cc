#include "cli/record_view.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace precast::cli {
namespace {

// Values beyond these are not shown whole: in JSON, and on a line of text.
constexpr std::size_t kMaxJsonValue = 4096;
constexpr std::size_t kMaxLineValue = 200;

}  // namespace

Json json_of_fields(const KeyRecord& record, bool items) {
  Json fields = Json::array();
  for (const KeyField& field : record.fields()) {
    Json object = {
        {"name", field.name}, {"digest", field.digest().hex()}, {"item_count", field.items.size()}};
    if (items) {
      object["items"] = Json::array();
      for (const KeyItem& item : field.items) {
        Json entry = {{"name", item.name}};
        entry.update(json_of_bytes(item.value, kMaxJsonValue));
        object["items"].push_back(std::move(entry));
      }
    }
    fields.push_back(std::move(object));
  }
  return fields;
}

Table table_of_fields(const KeyRecord& record) {
  Table table({{"field"}, {"items", true}, {"digest", false, true}});
  for (const KeyField& field : record.fields()) {
    table.add({printable(field.name), fmt::format("{}", field.items.size()), field.digest().hex()});
  }
  return table;
}

std::string text_of_items(const KeyRecord& record) {
  std::string text;
  for (const KeyField& field : record.fields()) {
    text += printable(field.name) + "\n";
    for (const KeyItem& item : field.items) {
      const std::string value = is_plain_text(item.value)
                                    ? printable(item.value, kMaxLineValue)
                                    : fmt::format("{} of sha256 {}", bytes_text(item.value.size()),
                                                  Digest::of(item.value).hex());
      text += fmt::format("  {} = {}\n", printable(item.name), value);
    }
  }
  return text;
}

}  // namespace precast::cli
