// CompileOptions: a view and an editor of xla.CompileOptionsProto.
//
//   CompileOptions options;                                    // one replica, one partition
//   options.set_partitions(2);
//   options.set_use_spmd(true);
//   PRECAST_TRY(options.set_option("xla_cpu_enable_fast_math", "true"));
//
// The object holds the serialized message and edits it in place: fields that Precast does not know
// stay byte for byte. Copyable; not thread-safe to mutate.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/device_assignment.h"
#include "precast/export.h"
#include "precast/result.h"

namespace precast {

class PRECAST_EXPORT CompileOptions {
 public:
  // One replica, one partition, device ordinal -1 (not set). XLA aborts on options without these
  // counts, so an object of this class always has them.
  CompileOptions();

  // Takes a serialized message. invalid_argument when it does not parse, or when a count is
  // missing, zero or beyond limits::kMaxDevices (XLA would abort the process), or when the
  // assignment does not fit the counts.
  static Result<CompileOptions> from_serialized(Bytes serialized);

  BytesView serialized() const { return serialized_; }

  int replicas() const;
  int partitions() const;
  bool use_spmd() const;
  // compile_portable_executable: no assignment; the device is named at each run.
  bool portable() const;
  // Requires count >= 1. An assignment that no longer fits is removed.
  void set_replicas(int count);
  void set_partitions(int count);
  void set_use_spmd(bool use);

  // The profile that guides the compiler (fdo_profile), as XLA's profilers write it; empty: none.
  void set_profile(BytesView profile);

  std::optional<DeviceAssignment> assignment() const;
  // Writes the assignment and its counts, and sets the device ordinal to -1; nothing removes the
  // assignment.
  void set_assignment(const std::optional<DeviceAssignment>& assignment);

  // Sets an XLA option by its flag name, without dashes, through env_option_overrides. The type of
  // the value follows the option's type in XLA: booleans take true/false/1/0 in any case, numbers
  // are checked, enums take a name or a number, lists a comma-separated text; maps cannot be set
  // for one compile. A name that Precast does not know is sent with the type that the text looks
  // like, since plugins know newer options; the plugin then refuses what it does not know. Setting
  // a name again replaces the value.
  // invalid_argument when the text does not fit the type; the message names option, value, type.
  Result<void> set_option(const std::string& name, const std::string& value);

  // A copy in which everything that writes dumps or logs is cleared, by exact field name, in the
  // debug options and in the overrides: a stored dump option would write files again on every load.
  CompileOptions without_dumps() const;

 private:
  Bytes serialized_;
};

// The XLA option name nearest to `name`, for "did you mean"; empty when nothing is near.
PRECAST_EXPORT std::string nearest_xla_option(std::string_view name);

}  // namespace precast
