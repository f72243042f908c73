// The frame of a verb's command line: its name, help with an example, and the options of every
// verb.
#pragma once

#include <string>

#include "cli/output.h"

namespace CLI {
class App;
}

namespace precast::cli {

// `example` is one or more command lines with what they do.
CLI::App* add_verb(CLI::App& root, const std::string& name, const std::string& description,
                   const std::string& example);

// --json, --quiet and --color.
void add_output_options(CLI::App& app, OutputOptions& options);

}  // namespace precast::cli
