// Output: everything that the command prints.
//
// Standard output carries the answer: text for people, or with --json exactly one object. Standard
// error carries errors and warnings. Writing to a closed pipe ends quietly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/table.h"
#include "precast/error.h"

namespace precast::cli {

// The options that every verb has.
struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";  // auto, always, never
};

enum class Style { bold, dim, good, bad, warn };

class Output {
 public:
  // `options` is filled by the parser later and must outlive this.
  explicit Output(const OutputOptions& options) : options_(options) {}

  bool json() const { return options_.json; }
  bool quiet() const { return options_.quiet; }
  bool verbose() const { return options_.verbose; }

  // Text on standard output; neither with --quiet nor with --json.
  void print(std::string_view text);
  void print(const Table& table, std::size_t indent = 0) { print(table.text(width(), indent)); }
  // The same, also with --quiet: what the verb was asked for.
  void answer(std::string_view text);
  // The object of --json; nothing without it.
  void object(const Json& json);

  // "precast: warning: ..." on standard error; not with --quiet.
  void warning(std::string_view text);
  // What to do about the error that comes next; without advice the error's code gives it.
  void advise(std::string text) { advice_.push_back(std::move(text)); }
  // "precast: error: ..." with frames and next steps; with --json also one object on standard
  // output. Returns the exit code of the error.
  ExitCode error(const Error& error);
  // What a plugin had printed before an error, on standard error; nothing when it printed nothing.
  void plugin_said(std::string_view text);
  // An error of the command line.
  ExitCode usage(const std::string& message);

  // The columns of standard output: COLUMNS, else what the terminal says; 0 when it is none.
  std::size_t width() const;
  // Coloured when standard output takes colours.
  std::string styled(Style style, std::string_view text) const;

  // Flushes. An answer that could not be written is an error, unless its reader has gone.
  ExitCode finish(ExitCode code);

 private:
  void write(std::string_view text);
  ExitCode report(const Error& error, ExitCode code);
  bool colors(int fd) const;

  const OutputOptions& options_;
  std::vector<std::string> advice_;
  int write_error_ = 0;
};

// The next step that an error of this code suggests; empty when the message says it all.
std::string next_step_of(const Error& error);

}  // namespace precast::cli
