// What Precast makes of flags and options, as JSON lines, for the tests in this folder. Standard
// input has one question a line; bytes stand in hexadecimal digits, "-" for none, here and in the
// answers.
//
//   options                    every known option: [{"name", "number", "type"}]
//   text TEXT                  TEXT as the value of XLA_FLAGS
//   file CONTENT               CONTENT as a flags file
//   override NAME MESSAGE      a serialized xla.OptionOverrideProto for the option NAME
//
// Flags: {"effective": [[name, value]], "unknown": [name], "ignored": [token],
//         "fatal": [[word, why]], "path": text or null, "again": bool}
// Overrides: {"effect": text or null}
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/hash.h"
#include "proto/flags_parse.h"
#include "proto/option_effect.h"
#include "proto/xla_options.h"

namespace {

using nlohmann::json;
using precast::Bytes;
using precast::base::to_hex;
using precast::proto::FlagsText;

json options() {
  json list = json::array();
  for (const auto& option : precast::proto::all_options()) {
    list.push_back({{"name", option.name},
                    {"number", option.number},
                    {"type", precast::proto::to_string(option.type)}});
  }
  return list;
}

json answer_of(const FlagsText& flags) {
  json answer = {{"effective", json::array()},
                 {"unknown", json::array()},
                 {"ignored", json::array()},
                 {"fatal", json::array()},
                 {"path", nullptr},
                 {"again", flags.reads_environment_again}};
  for (const auto& flag : flags.effective) {
    answer["effective"].push_back({to_hex(flag.name), to_hex(flag.value)});
  }
  for (const auto& name : flags.unknown) answer["unknown"].push_back(to_hex(name));
  for (const auto& token : flags.ignored_tokens) answer["ignored"].push_back(to_hex(token));
  for (const auto& flag : flags.fatal) answer["fatal"].push_back({to_hex(flag.word), flag.why});
  if (flags.flags_file) answer["path"] = to_hex(*flags.flags_file);
  return answer;
}

json answer_to(const std::string& question, const std::string& name, const Bytes& bytes) {
  if (question == "options") return options();
  if (question == "text") return answer_of(precast::proto::parse_flags_text(bytes));
  if (question == "file") return answer_of(precast::proto::parse_flags_file("file", bytes));
  const auto effect =
      precast::proto::override_effect(precast::proto::find_option(std::string_view(name)), bytes);
  return {{"effect", effect ? json(to_hex(*effect)) : json(nullptr)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string question;
    std::string name;
    std::string hex;
    words >> question;
    if (question == "override") words >> name;
    words >> hex;
    const auto bytes = precast::base::from_hex(hex == "-" ? "" : hex);
    if (!bytes) {
      std::cerr << "flags_dump: no hexadecimal digits: " << line << "\n";
      return 2;
    }
    std::cout << answer_to(question, name, *bytes).dump() << std::endl;
  }
}
