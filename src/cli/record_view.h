// A key record for people and as JSON.
#pragma once

#include <string>

#include "cli/json.h"
#include "cli/table.h"
#include "precast/key.h"

namespace precast::cli {

// [{"name", "digest", "item_count"}], with `items` also "items": [{"name", "value"}]. Long values
// are given by size and digest.
Json json_of_fields(const KeyRecord& record, bool items);

// A row for each field: name, number of items, digest.
Table table_of_fields(const KeyRecord& record);

// The record as a tree: each field on a line, below it its items as "item = value".
std::string text_of_items(const KeyRecord& record);

}  // namespace precast::cli
