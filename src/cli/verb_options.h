// The command line of a verb: its name, help with an example, and its options.
//
// A thin layer over CLI11, whose header alone takes longer to compile than everything else here:
// only verb_options.cc and main.cc include it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace precast::cli {

// How an option is written and explained.
struct OptionText {
  std::string names;  // "-o,--output"; without dashes it is positional
  std::string help;
  std::string value = "";  // what stands for the value in the help: "FILE"
  std::string group = "Options";
  // Empty when the text is well-formed, else what is wrong with it. Errors are of the command line.
  std::function<std::string(const std::string&)> check = nullptr;
  bool required = false;
};

// The options of one verb. What they write to must live as long as the verb.
class VerbOptions {
 public:
  // Adds a verb to `root`. `example` is one or more command lines.
  VerbOptions(CLI::App& root, const std::string& name, const std::string& description,
              const std::string& example);

  void add(std::string& target, const OptionText& text);
  void add(bool& target, const OptionText& text);
  // A whole number within bounds.
  void add(int& target, int least, int most, const OptionText& text);
  void add(std::optional<int>& target, int least, int most, const OptionText& text);
  // One of a few words; they stand for the value in the help, and are completed.
  void add_choice(std::string& target, const std::vector<std::string>& choices,
                  const OptionText& text);
  // Whole numbers, parted by commas.
  void add(std::vector<std::int64_t>& target, const OptionText& text);
  // May be given several times, one value each.
  void add_repeatable(std::vector<std::string>& target, const OptionText& text);
  // Takes all values up to the next option.
  void add_many(std::vector<std::string>& target, const OptionText& text);

  // Giving both is an error of the command line.
  void exclude(const std::string& one, const std::string& other);

  // Leaves the verb out of the help.
  void hide();

  CLI::App* app() const { return app_; }

 private:
  void describe(CLI::Option& option, const OptionText& text);

  CLI::App* app_;
};

// Which options of these groups the user gave, by their long names and in the order of the help,
// except one.
std::vector<std::string> given_of(const CLI::App& app, const std::vector<std::string>& groups,
                                  const std::string& except);

// --json, --quiet and --color.
void add_output_options(CLI::App& app, OutputOptions& options);

}  // namespace precast::cli
