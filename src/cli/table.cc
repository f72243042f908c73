#include "cli/table.h"

#include <algorithm>

#include "cli/display_width.h"

namespace precast::cli {
namespace {

constexpr std::size_t kGap = 2;
// A flexible column is not made narrower than this: less tells nothing.
constexpr std::size_t kNarrowest = 12;

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t max_width, std::size_t indent) const {
  std::vector<std::size_t> widths;
  std::size_t total = indent;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].header);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    total += width + (c == 0 ? 0 : kGap);
    widths.push_back(width);
  }
  for (std::size_t c = columns_.size(); c-- > 0 && max_width != 0 && total > max_width;) {
    if (!columns_[c].flexible || widths[c] <= kNarrowest) continue;
    const std::size_t less = std::min(total - max_width, widths[c] - kNarrowest);
    widths[c] -= less;
    total -= less;
  }

  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(indent, ' ');
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = columns_[c].flexible ? shortened(cells[c], widths[c]) : cells[c];
      const std::string pad(widths[c] - std::min(widths[c], display_width(cell)), ' ');
      if (c != 0) line.append(kGap, ' ');
      line += columns_[c].right ? pad + cell : cell + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<std::string> headers;
  for (const Column& column : columns_) headers.push_back(column.header);
  if (std::any_of(headers.begin(), headers.end(), [](const auto& h) { return !h.empty(); })) {
    add_line(headers);
  }
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace precast::cli
