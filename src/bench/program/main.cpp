#include "bench/program/measure.hpp"
#include "cli/commands/program.hpp"

int main(int argc, char** argv) {
  return warpfold::cli::run_program(argc, argv, warpfold::bench::measure);
}
