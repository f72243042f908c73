// Why there was no hit: saved key records, how two of them differ, and which entries of a cache
// come nearest to one.
//
//   const SavedRecord asked{.record = *cache.key(client, program, options)->record,
//                           .outline = outline_of(program)};
//   const Nearest near = nearest(asked);
//   for (const KeyDifference& d : near.entries.at(0).differences.items) ...
//
// Nothing here compiles or asks a plugin. What it reads is checked for damage and never loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "precast/artifact.h"
#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/digest.h"
#include "precast/export.h"
#include "precast/key.h"
#include "precast/outline.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast {

// A key record with what is needed to explain it later. Every compile that was no hit leaves one in
// the state folder, `precast key --save` writes one, and an artifact holds the same.
struct PRECAST_EXPORT SavedRecord {
  KeyRecord record;
  Outline outline;
  Provenance provenance;
  // What became of the request that left the record; miss for records that no request left.
  Outcome outcome = Outcome::miss;
  Reason reason = Reason::none;
  std::string detail;

  // The stored form; docs/format.md has the table.
  Bytes encode() const;
  // corrupt when the bytes are damaged; incompatible for a later version.
  static Result<SavedRecord> decode(BytesView bytes);
  // Reads a file of at most limits::kMaxSavedRecordBytes.
  static Result<SavedRecord> from_file(const std::string& path);
  // A record of the program alone, with its field `program` and its outline.
  static SavedRecord from_program(const Program& program);
  // What an artifact says about itself. corrupt when its key record does not decode. An artifact
  // without an outline gives an empty one that says so.
  static Result<SavedRecord> from_artifact(const VerifiedArtifact& artifact);
};

// Whether bytes begin like a saved record. Decides nothing else.
PRECAST_EXPORT bool looks_like_saved_record(BytesView bytes);

// What two records say differently.
struct RecordDifferences {
  std::vector<KeyDifference> items;
  // Where the programs differ, when the records say that they do.
  std::vector<OutlineDifference> program;
  // What `program` cannot show, in a sentence: an outline is missing or was cut.
  std::string program_note;
};
PRECAST_EXPORT RecordDifferences compare(const SavedRecord& left, const SavedRecord& right);

// An entry of a cache, or a record that a compile left, beside the record that was asked for.
struct NearEntry {
  Digest key;
  std::string path;
  bool stored = false;            // an artifact; otherwise a record only
  std::size_t shared_fields = 0;  // fields of the two records that are equal
  SavedRecord entry;
  RecordDifferences differences;  // left: asked for; right: the entry
};

// The entries of a cache that come nearest to a record.
struct Nearest {
  std::vector<NearEntry> entries;  // the nearest first
  std::uint64_t looked_at = 0;
  std::uint64_t unreadable = 0;  // entries that were passed over because they could not be read
  std::uint64_t left_out = 0;    // entries beyond limits::kMaxNearestCandidates
  std::string problem;           // why the cache folder could not be looked through; mostly empty
};

// Where entries and records are looked for.
struct RecordPlaces {
  std::string directory;        // the cache folder; empty: the default
  std::string state_directory;  // empty: the default; where there is none, there are no records
};

// The entries whose keys come nearest to a record's, and the records that earlier compiles left on
// this machine; an entry of exactly this key is not among them. At most `most`. Never fails: a
// cache folder that cannot be used is told in `problem`, and the records are there all the same.
PRECAST_EXPORT Nearest nearest(const SavedRecord& asked, const RecordPlaces& places = {},
                               std::size_t most = 3);

// The one record whose key begins with `key_prefix`: what a compile left on this machine, else what
// an entry holds. invalid_argument when there is none or several; the errors of a cache folder that
// cannot be used, when no record has that key.
PRECAST_EXPORT Result<SavedRecord> find_saved_record(const std::string& key_prefix,
                                                     const RecordPlaces& places = {});

}  // namespace precast
