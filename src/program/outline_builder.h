// Collects the functions and operations of a program into an outline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "precast/bytes.h"
#include "precast/outline.h"

namespace precast::program {

class OutlineBuilder {
 public:
  // The function 0 is there from the start: what stands outside of functions.
  OutlineBuilder() { add_function(); }

  // Returns its number.
  std::size_t add_function();
  void name_function(std::size_t function, std::string name);

  // Returns its number within the function.
  std::size_t add_op(std::size_t function, BytesView op_name);
  // Valid until the next add_op().
  OutlineOp& op(std::size_t function, std::size_t op) {
    return outline_.functions[function].ops[op];
  }

  // The outline with as much as `max_bytes` have room for. Used once.
  Outline finish(std::size_t max_bytes);

 private:
  Outline outline_;
  std::map<std::string, std::uint16_t, std::less<>> names_;
};

// An outline that holds nothing, and why.
Outline no_outline(std::string because);

}  // namespace precast::program
