// Text for people: sizes, times, and bytes from files made safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace precast::cli {

// Whether the bytes are UTF-8 without control characters (newline and tab allowed).
bool is_plain_text(std::string_view bytes);

// The bytes as one line that is safe on a terminal: control characters and whatever is not UTF-8
// become \xNN. What comes from a file or a plugin goes through here before it is printed. Text
// beyond `max_bytes` (0: no limit) is cut at a character and ends in "...".
std::string printable(std::string_view bytes, std::size_t max_bytes = 0);

// The same, but newlines and tabs stay: for a plugin's messages of several lines.
std::string printable_lines(std::string_view bytes);

// "812 B", "39.1 kB", "1.20 GB": decimal units, three digits.
std::string bytes_text(std::uint64_t bytes);

// "0.71", "33.0", "1047": milliseconds with three digits.
std::string ms_text(double ms);

// "1 device", "3 devices".
std::string counted(std::uint64_t count, std::string_view singular);

// "0,1,2".
std::string joined(const std::vector<std::int64_t>& values, std::string_view separator = ",");
std::string joined(const std::vector<std::string>& values, std::string_view separator = ", ");

// The candidate nearest to `word` by edit distance, for "did you mean"; empty when none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace precast::cli
