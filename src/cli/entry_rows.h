// The lines of 'precast ls': which of them, and in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb_options.h"
#include "precast/cache_folder.h"
#include "precast/result.h"

namespace precast::cli {

// One line of the list: what is known of an entry, or why nothing is.
struct EntryRow {
  EntryFacts facts;
  std::optional<Error> error;

  // When it was compiled, else when it was stored.
  std::int64_t made_unix_s() const {
    const std::int64_t created = facts.provenance.created_unix_s;
    return created > 0 ? created : facts.entry.modified_unix_s;
  }
};

class RowChoice {
 public:
  void add_order_to(VerbOptions& verb);
  void add_filters_to(VerbOptions& verb);

  // Drops the rows that the filters leave out, and sorts the others. invalid_argument for an age or
  // a size that is none.
  Result<void> apply(std::int64_t now_unix_s, std::vector<EntryRow>& rows) const;

 private:
  Result<void> filter(std::int64_t now_unix_s, std::vector<EntryRow>& rows) const;
  void sort(std::vector<EntryRow>& rows) const;

  std::string sort_ = "age";
  bool reverse_ = false;
  std::string match_;
  std::string platform_;
  std::string older_than_;
  std::string newer_than_;
  std::string unused_for_;
  std::string larger_than_;
  std::string smaller_than_;
};

}  // namespace precast::cli
