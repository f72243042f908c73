// Runs the example of README.md twice in one process: whatever the first call is, the second is a
// hit.
#include <iostream>

#include "readme_example.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: readme_example PROGRAM\n";
    return 2;
  }
  for (int round = 0; round < 2; ++round) {
    const auto done = compile_or_load(argv[1]);
    if (!done) {
      std::cerr << done.error().to_string() << "\n";
      return 1;
    }
    const precast::Report& report = done->report;
    std::cout << to_string(report.outcome) << " " << to_string(report.reason) << " "
              << done->executable.name() << "\n";
    if (round == 1 && report.outcome != precast::Outcome::hit) return 1;
  }
  return 0;
}
