#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/hash.h"
#include "base/private_folder.h"
#include "cache/child.h"
#include "pjrt/digest_memory.h"
#include "pjrt/plugin_environment.h"
#include "pjrt/plugin_impl.h"
#include "precast/compile_options.h"
#include "precast/flags.h"
#include "proto/file_options.h"
#include "proto/flags_parse.h"

namespace precast {
namespace {

// The last words of a process that lived.
constexpr std::string_view kAlive = "precast: the plugin lives with these flags\n";
constexpr std::string_view kLives = "lives\n";
constexpr std::string_view kEnds = "ends\n";
constexpr std::size_t kMaxVerdictBytes = 16 << 10;
constexpr std::size_t kMaxWords = 400;

struct FlagsOfEnvironment {
  std::string xla;
  std::string libtpu;
  std::optional<Bytes> file;

  static FlagsOfEnvironment read() {
    FlagsOfEnvironment flags;
    flags.xla = pjrt::plugin_variable("XLA_FLAGS").value_or("");
    flags.libtpu = pjrt::plugin_variable("LIBTPU_INIT_ARGS").value_or("");
    flags.file = pjrt::flags_file_content(flags.xla);
    return flags;
  }
  bool empty() const { return xla.empty() && libtpu.empty(); }
  proto::FlagsText parsed() const {
    proto::FlagsText text = proto::parse_flags_text(xla);
    return text.flags_file && file ? proto::parse_flags_file(*text.flags_file, *file) : text;
  }
};

// The state of a file without its content: the verdict is about whether XLA can open it.
std::string state_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return "missing";
  return pjrt::FileIdentity::of(status).text();
}

// The name under which a verdict is remembered: everything that it may depend on.
std::string name_of(const Digest& plugin, const FlagsOfEnvironment& flags) {
  base::Sha256 hash;
  hash.update_framed("precast flags 1").update_framed(plugin.hex());
  hash.update_framed(flags.xla).update_framed(flags.libtpu);
  hash.update_framed(flags.file ? "file:" + *flags.file : "no file");
  const auto files = proto::file_references(flags.parsed(), CompileOptions(), "");
  if (files) {
    for (const proto::FileReference& file : files->references) {
      hash.update_framed(file.option).update_framed(file.path).update_framed(state_of(file.path));
    }
  }
  return hash.finish().hex();
}

// What the plugin said, without the lines of its logger about itself and without the manual of all
// flags that XLA prints behind.
std::string plugin_words(std::string_view output) {
  std::string words;
  while (!output.empty() && words.size() < kMaxWords) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.starts_with("usage:") || line.starts_with("Flags:") || line.starts_with("\t")) break;
    if (line.empty() || line.starts_with("WARNING: All log messages")) continue;
    if (!words.empty()) words += "; ";
    words += line;
  }
  words.resize(std::min(words.size(), kMaxWords));
  std::ranges::replace_if(
      words, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return words;
}

std::string sentence_of(const FlagRemark& remark) {
  std::string text = fmt::format("'{}' {}", remark.word, remark.what);
  if (!remark.nearest.empty()) text += fmt::format("; did you mean --{}?", remark.nearest);
  return text;
}

std::string message_of(const FlagsOfEnvironment& flags, const cache::ChildEnd& child) {
  std::string message = fmt::format("XLA_FLAGS ('{}') would end the process", flags.xla);
  if (flags.xla.empty()) message = "LIBTPU_INIT_ARGS would end the process";
  const std::string words = plugin_words(child.output);
  message += words.empty() ? " (" + child.how + ")" : ": the plugin says: " + words;
  const FlagRemarks remarks = examine_flags(
      flags.file && proto::flags_file_path(flags.xla) ? BytesView(*flags.file) : flags.xla);
  for (const auto* list : {&remarks.fatal, &remarks.unknown}) {
    for (const FlagRemark& remark : *list) message += ". " + sentence_of(remark);
  }
  return message;
}

// Whether the child ended over its flags, and not for a reason of its own: no memory, no thread, a
// driver that is not there.
bool ended_over_flags(const FlagsOfEnvironment& flags, const cache::ChildEnd& child) {
  const proto::FlagsText parsed = flags.parsed();
  if (!parsed.fatal.empty() || !parsed.unknown.empty()) return true;
  for (const std::string_view sign :
       {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "--xla_", "command line argument"}) {
    if (child.output.find(sign) != std::string::npos) return true;
  }
  return parsed.flags_file && child.output.find(*parsed.flags_file) != std::string::npos;
}

// XLA_FLAGS names a pipe or the like: reading it here would take it away from the plugin.
bool names_a_stream(const FlagsOfEnvironment& flags) {
  const std::optional<std::string> path = proto::flags_file_path(flags.xla);
  struct stat status{};
  return path && ::stat(path->c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

FlagsVerdict ask(const Plugin& plugin, const FlagsOfEnvironment& flags, const FlagsCheck& check) {
  const cache::ChildEnd child =
      cache::run_child(check.command, {"check-flags", "--plugin", plugin.path()}, check.timeout_s);
  if (!child.started) return {FlagsVerdict::Kind::unknown, child.how, true, false};
  if (!child.in_time) {
    return {FlagsVerdict::Kind::unknown, fmt::format("no answer within {} s", check.timeout_s),
            true, false};
  }
  if (child.tail.ends_with(kAlive)) return {FlagsVerdict::Kind::lives, {}, true, false};
  // Out of memory, for one: that says nothing about the flags.
  if (child.stopped || !ended_over_flags(flags, child)) {
    return {FlagsVerdict::Kind::unknown, child.how, true, false};
  }
  return {FlagsVerdict::Kind::ends, message_of(flags, child), true, false};
}

}  // namespace

FlagRemarks examine_flags(BytesView text) {
  FlagRemarks remarks;
  const proto::FlagsText flags = proto::parse_flags_text(text);
  remarks.file = flags.flags_file;
  for (const std::string& word : flags.ignored_tokens) {
    remarks.ignored.push_back({word, "is ignored by XLA", nearest_xla_option(word)});
  }
  for (const std::string& name : flags.unknown) {
    remarks.unknown.push_back(
        {"--" + name, "is no flag that Precast knows", nearest_xla_option(name)});
  }
  for (const proto::FatalFlag& flag : flags.fatal) {
    const std::string_view name = std::string_view(flag.word).substr(0, flag.word.find('='));
    std::string nearest = nearest_xla_option(name);
    if (name == "--" + nearest) nearest.clear();  // its value is wrong, and not its name
    remarks.fatal.push_back({flag.word, flag.why, std::move(nearest)});
  }
  return remarks;
}

FlagsVerdict check_flags(const Plugin& plugin, const FlagsCheck& check) {
  if (plugin.impl()->flags.get() != nullptr) return {};
  const FlagsOfEnvironment flags = FlagsOfEnvironment::read();
  if (flags.empty() || names_a_stream(flags)) return {};
  const auto file = plugin.mapped_file();
  if (!file) return ask(plugin, flags, check);
  const base::PrivateFolder folder = base::PrivateFolder::of_user("flags");
  const std::string name = name_of(file->digest, flags);
  if (const auto known = folder.read(name, kMaxVerdictBytes)) {
    if (*known == kLives) return {FlagsVerdict::Kind::lives, {}, true, true};
    if (known->starts_with(kEnds) && known->ends_with('\n')) {
      const std::size_t size = known->size() - kEnds.size() - 1;
      return {FlagsVerdict::Kind::ends, known->substr(kEnds.size(), size), true, true};
    }
  }
  FlagsVerdict verdict = ask(plugin, flags, check);
  if (verdict.kind == FlagsVerdict::Kind::lives) folder.write(name, kLives);
  if (verdict.kind == FlagsVerdict::Kind::ends) {
    folder.write(name, Bytes(kEnds) + verdict.message + "\n");
  }
  return verdict;
}

}  // namespace precast
