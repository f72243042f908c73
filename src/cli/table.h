// Table: aligned columns that fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace precast::cli {

struct Column {
  std::string header;
  bool right = false;     // numbers stand right
  bool flexible = false;  // may be shortened in the middle when the terminal is narrow
};

// Cells are text that is already safe to print. Two spaces part the columns; without any header
// there is no header line.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Lines that end in a newline, each beginning with `indent` spaces, none wider than `max_width`
  // (0: any width) as far as the flexible columns allow.
  std::string text(std::size_t max_width = 0, std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace precast::cli
