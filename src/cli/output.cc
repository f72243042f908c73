#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/chatter.h"
#include "cli/files.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

std::string_view code_of(Style style) {
  switch (style) {
    case Style::bold: return "1";
    case Style::dim: return "2";
    case Style::good: return "32";
    case Style::bad: return "1;31";
    case Style::warn: return "33";
  }
  return "0";
}

std::string paint(Style style, std::string_view text, bool on) {
  if (!on) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code_of(style), text);
}

// Everything but the first line stands under it.
std::string hanging(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out.push_back(c);
    if (c == '\n') out += "  ";
  }
  return out.erase(out.find_last_not_of(" \n") + 1);
}

void write_stderr(const std::string& text) {
  // Nobody is left to tell when standard error cannot be written.
  (void)std::fwrite(text.data(), 1, text.size(), own_stderr());
}

}  // namespace

void Output::write(std::string_view text) {
  if (write_error_ != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    write_error_ = errno != 0 ? errno : EIO;
  }
}

void Output::print(std::string_view text) {
  if (!options_.quiet && !options_.json) write(text);
}

void Output::answer(std::string_view text) {
  if (!options_.json) write(text);
}

void Output::object(const Json& json) {
  if (options_.json) write(json_text(json) + "\n");
}

bool Output::colors(int fd) const {
  if (options_.color != "auto") return options_.color == "always";
  // https://no-color.org: set and not empty.
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

std::string Output::styled(Style style, std::string_view text) const {
  return paint(style, text, colors(STDOUT_FILENO));
}

std::size_t Output::width() const {
  if (isatty(STDOUT_FILENO) != 1) return 0;
  if (const char* columns = std::getenv("COLUMNS")) {
    char* end = nullptr;
    const long count = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && count > 0) return static_cast<std::size_t>(count);
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void Output::warning(std::string_view text) {
  if (options_.quiet) return;
  write_stderr(fmt::format("precast: {} {}\n",
                           paint(Style::warn, "warning:", colors(::fileno(own_stderr()))),
                           hanging(printable_lines(text))));
}

ExitCode Output::error(const Error& error) { return report(error, exit_code_of(error.code())); }

void Output::plugin_said(std::string_view text) {
  if (text.empty()) return;
  write_stderr(fmt::format("precast: the plugin said:\n  {}\n", hanging(printable_lines(text))));
}

ExitCode Output::usage(const std::string& message) {
  return report(Error(ErrorCode::invalid_argument, message), ExitCode::usage);
}

ExitCode Output::report(const Error& error, ExitCode code) {
  if (advice_.empty() && code != ExitCode::usage) {
    if (std::string step = next_step_of(error); !step.empty()) advice_.push_back(std::move(step));
  }
  std::string message = error.message();
  if (error.plugin_code() != 0) {
    message =
        fmt::format("the plugin reported {}: {}", pjrt_code_name(error.plugin_code()), message);
  }
  std::string text =
      fmt::format("precast: {} {}\n", paint(Style::bad, "error:", colors(::fileno(own_stderr()))),
                  hanging(printable_lines(message)));
  for (const std::string& frame : error.frames()) {
    text += fmt::format("  {}\n", hanging(printable_lines(frame)));
  }
  for (const std::string& step : advice_) {
    text += fmt::format("  next step: {}\n", hanging(printable_lines(step)));
  }
  write_stderr(text);
  if (options_.json) {
    Json object = json_of(error);
    object["code"] = code == ExitCode::usage ? "usage" : to_string(error.code());
    object["exit_code"] = static_cast<int>(code);
    object["next_steps"] = advice_;
    this->object({{"schema", "precast.error/1"}, {"error", std::move(object)}});
  }
  advice_.clear();
  return code;
}

ExitCode Output::finish(ExitCode code) {
  if (write_error_ == 0) {
    errno = 0;
    if (std::fflush(stdout) != 0) write_error_ = errno != 0 ? errno : EIO;
  }
  // The reader of the pipe has read enough; the work is done all the same.
  if (write_error_ == 0 || write_error_ == EPIPE) return code;
  write_stderr(
      fmt::format("precast: error: writing to standard output: {}\n", std::strerror(write_error_)));
  return code == ExitCode::done ? ExitCode::environment : code;
}

namespace {

// For a file that is not there, the one that was probably meant.
std::string meant_file(const std::string& message) {
  constexpr std::string_view kStart = "no file '";
  if (!message.starts_with(kStart)) return "";
  const std::size_t end = message.find('\'', kStart.size());
  if (end == std::string::npos) return "";
  const std::string nearest = nearest_file(message.substr(kStart.size(), end - kStart.size()));
  return nearest.empty() ? "" : fmt::format("did you mean '{}'?", printable(nearest));
}

}  // namespace

std::string next_step_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::incompatible:
      return "compile the program again here: precast compile PROGRAM -o FILE";
    case ErrorCode::corrupt:
      return "the file is damaged: copy it again from where it came, or compile it again";
    case ErrorCode::untrusted: return "use an artifact that one of the trusted keys signed";
    case ErrorCode::unsupported: return "'precast doctor' shows what the plugin can do";
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded: return "try again, or do without the cache: --no-cache";
    case ErrorCode::internal:
      return "this is a bug of Precast: please report it with the command that you gave";
    case ErrorCode::invalid_argument: return meant_file(error.message());
    case ErrorCode::permission_denied:
    case ErrorCode::resource_exhausted:
    case ErrorCode::io_error:
    case ErrorCode::plugin_error: return "";
  }
  return "";
}

}  // namespace precast::cli
