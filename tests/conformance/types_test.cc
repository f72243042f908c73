// Every element type, to the device and back, alone and through a program. docs/types.md holds what
// each plugin is known to do; a row that is no longer true fails here and shows what is.
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "tests/conformance/fixture.h"

namespace precast::conformance {
namespace {

constexpr std::uint32_t kLastType = 33;
constexpr std::int64_t kCount = 5;
const char* const kDocument = "docs/types.md";

// As StableHLO spells it; empty for what it cannot say.
std::string stablehlo_name(ElementType type) {
  const std::string name = to_string(type);
  if (type == ElementType::s1) return "";  // i1 is pred
  if (type == ElementType::pred) return "i1";
  if (type == ElementType::c64) return "complex<f32>";
  if (type == ElementType::c128) return "complex<f64>";
  if (name.starts_with("s")) return "i" + name.substr(1);
  if (name.starts_with("u")) return "ui" + name.substr(1);
  if (name.starts_with("f8") || name.starts_with("f6") || name.starts_with("f4")) {
    std::string upper = name;  // f8E4M3FN
    for (std::size_t i = 1; i < upper.size(); ++i) {
      upper[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(upper[i])));
    }
    return upper;
  }
  return type == ElementType::token ? "" : name;
}

HostTensor sample(ElementType element) {
  HostTensor tensor;
  tensor.type = {element, {kCount}};
  const unsigned bits = bits_of(element);
  const unsigned mask = element == ElementType::pred ? 1 : bits < 8 ? (1U << bits) - 1 : 0x3f;
  const std::size_t size = host_bytes_of(element) * static_cast<std::size_t>(kCount);
  for (std::size_t i = 0; i < size; ++i) {
    tensor.data += static_cast<char>((37 * i + 11) & mask);
  }
  return tensor;
}

// One line, without what differs from run to run.
std::string words_of(const Error& error) {
  std::string text = error.message().substr(0, error.message().find('\n'));
  constexpr std::string_view kMark = "error: ";
  if (const std::size_t at = text.find(kMark); at != std::string::npos) {
    text.erase(0, at + kMark.size());
  }
  for (const char* const place : {"conformance:", "loc(", "<unknown>:"}) {
    if (const std::size_t at = text.find(place); at != std::string::npos) text.resize(at);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::string compared(const HostTensor& sent, const HostTensor& received) {
  if (received.type != sent.type) return "comes back as " + received.type.to_string();
  return received.data == sent.data ? "yes" : "comes back with other bytes";
}

class TypeConformance : public Conformance {
 protected:
  static std::string through_a_buffer(ElementType element) {
    const HostTensor sent = sample(element);
    const auto buffer = client().to_device(sent, device_ids().front());
    if (!buffer) return words_of(buffer.error());
    const auto received = buffer->to_host();
    if (!received) return words_of(received.error());
    return compared(sent, *received);
  }

  static std::string through_a_program(ElementType element) {
    const std::string name = stablehlo_name(element);
    if (name.empty()) return "StableHLO has no tensor of it";
    const std::string type = "tensor<" + std::to_string(kCount) + "x" + name + ">";
    const auto executable =
        client().compile(program("func.func public @main(%a: " + type + ") -> " + type +
                                 " {\n  %0 = stablehlo.reverse %a, dims = [0] : " + type +
                                 "\n  return %0 : " + type + "\n}\n"),
                         replicas_on({device_ids().front()}));
    if (!executable) return words_of(executable.error());
    HostTensor sent = sample(element);
    const auto outputs = executable->run({sent});
    if (!outputs) return words_of(outputs.error());
    const std::size_t size = host_bytes_of(element);
    Bytes reversed;
    for (std::size_t at = sent.data.size(); at > 0; at -= size) {
      reversed += sent.data.substr(at - size, size);
    }
    sent.data = std::move(reversed);
    return compared(sent, outputs->at(0).at(0));
  }
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  std::string cell;
  std::getline(stream, cell, '|');
  while (std::getline(stream, cell, '|')) {
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// The table of the document: type and column to what stands there, notes resolved.
std::map<std::pair<std::string, std::string>, std::string> documented() {
  std::ifstream stream(kDocument);
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, std::string> notes;  // "(a)" to its text
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("| type")) {
      columns = cells_of(line);
    } else if (line.starts_with("| `")) {
      rows.push_back(cells_of(line));
    } else if (line.starts_with("- (")) {
      const std::size_t first = line.find('`');
      const std::size_t last = line.rfind('`');
      if (first < last) notes[line.substr(2, 3)] = line.substr(first + 1, last - first - 1);
    }
  }
  std::map<std::pair<std::string, std::string>, std::string> table;
  for (const auto& row : rows) {
    for (std::size_t i = 1; i < row.size() && i < columns.size(); ++i) {
      const auto note = notes.find(row[i]);
      table[{row[0], columns[i]}] = note == notes.end() ? row[i] : note->second;
    }
  }
  return table;
}

TEST_F(TypeConformance, AreWhatTheDocumentSays) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test changes this variable.
  const char* column = std::getenv("PRECAST_CONFORMANCE_COLUMN");
  ASSERT_NE(column, nullptr) << "PRECAST_CONFORMANCE_COLUMN is not set";
  const auto table = documented();
  for (std::uint32_t number = 1; number <= kLastType; ++number) {
    const auto type = static_cast<ElementType>(number);
    const std::string row = "`" + to_string(type) + "`";
    const auto buffer = table.find({row, std::string(column) + " buffer"});
    EXPECT_EQ(buffer == table.end() ? "no such cell" : buffer->second, through_a_buffer(type))
        << row << " of " << column << " buffer in " << kDocument;
    if (lacks("programs")) continue;
    const auto through = table.find({row, std::string(column) + " program"});
    EXPECT_EQ(through == table.end() ? "no such cell" : through->second, through_a_program(type))
        << row << " of " << column << " program in " << kDocument;
  }
}

TEST_F(TypeConformance, UpperBitsOfNarrowTypesDoNotCount) {
  HostTensor sent = tensor<std::uint8_t>(ElementType::s4, {4}, {0x08, 0x0f, 0, 7});
  const auto buffer = client().to_device(sent, device_ids().front());
  PRECAST_ASSERT_OK(buffer);
  const auto received = buffer->to_host();
  PRECAST_ASSERT_OK(received);
  for (std::size_t i = 0; i < sent.data.size(); ++i) {
    EXPECT_EQ(received->data[i] & 0x0f, sent.data[i] & 0x0f) << i;
  }
}

}  // namespace
}  // namespace precast::conformance
