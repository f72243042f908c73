#include "cache/rank.h"

#include "precast/key.h"

namespace precast::cache {

Nearness nearness_of(const SavedRecord& asked, const SavedRecord& candidate) {
  Nearness nearness;
  for (const KeyField& field : asked.record.fields()) {
    const KeyField* other = candidate.record.find(field.name);
    if (other == nullptr || *other != field) continue;
    ++nearness.shared_fields;
    if (field.name == "program") nearness.same_program = true;
  }
  nearness.differing_items =
      -static_cast<std::int64_t>(diff(asked.record, candidate.record).size());
  nearness.same_name = asked.provenance.program_name == candidate.provenance.program_name;
  nearness.created_unix_s = candidate.provenance.created_unix_s;
  return nearness;
}

}  // namespace precast::cache
