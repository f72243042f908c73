// How many columns of a terminal text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace precast::cli {

// The columns of UTF-8 text that is safe to print: none for what stands on the character before it
// (combining marks, variation selectors), two for wide characters (CJK, most emoji), else one.
std::size_t display_width(std::string_view text);

// The text, cut in the middle (an ellipsis stands for what is gone) so that it takes at most
// `width` columns, at least one: both ends of a path or a digest tell something.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace precast::cli
