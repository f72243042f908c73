// XLA's flags (the environment variable XLA_FLAGS), looked at before a plugin reads them.
//
// XLA reads its flags when a plugin's first client is created, and ends the process for a flag that
// it does not know, a value that it cannot read, or a file that is not there.
//
//   const FlagsVerdict verdict = check_flags(plugin, {.command = "/usr/bin/precast"});
//   if (verdict.kind == FlagsVerdict::Kind::ends) return Error(..., verdict.message);
//   PRECAST_ASSIGN(Client client, plugin.create_client({}));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/export.h"
#include "precast/plugin.h"

namespace precast {

// A word in the text of flags and what is to be said about it.
struct FlagRemark {
  std::string word;
  std::string what;     // "is no boolean; XLA takes true, false, 1 and 0"
  std::string nearest;  // the known flag nearest to it, without dashes; empty when there is none
};

// All that is to be said about a text, each list in the order of the text.
struct FlagRemarks {
  std::optional<std::string> file;  // the text is no flags but the path of a file with flags
  std::vector<FlagRemark> ignored;  // XLA stops before these, in silence
  std::vector<FlagRemark> unknown;  // XLA ends the process unless the plugin knows them
  std::vector<FlagRemark> fatal;    // XLA ends the process
};

// What Precast knows about a value of XLA_FLAGS, without asking a plugin or reading a file.
PRECAST_EXPORT FlagRemarks examine_flags(BytesView text);

// How to find out what flags do to a process.
struct FlagsCheck {
  std::string command;  // the precast command, which is started to find out
  int timeout_s = 60;
};

// What was found out.
struct FlagsVerdict {
  enum class Kind : std::uint8_t {
    lives,    // a first client was created in another process, or there is nothing to find out
    ends,     // the flags end the process; `message` has the plugin's words
    unknown,  // it could not be found out; `message` says why
  };
  Kind kind = Kind::lives;
  std::string message;
  bool asked = false;       // flags are set, so that there was something to find out
  bool remembered = false;  // and no process had to be started for it
};

// Whether the flags that are set in the environment would end this process when the plugin's first
// client is created. Another process tries it, and its verdict is remembered for this plugin, these
// flags and the files that they name, in $XDG_STATE_HOME/precast/flags, else below ~/.local/state;
// without either it is not remembered. Does nothing when no flags are set, or when the plugin has a
// client of Precast already. Blocks for as long as the other process takes. It is started with
// posix_spawn, so the caller may have threads.
PRECAST_EXPORT FlagsVerdict check_flags(const Plugin& plugin, const FlagsCheck& check);

}  // namespace precast
