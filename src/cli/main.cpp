#include "cli/commands/program.hpp"
#include "cli/run/measuring_program.hpp"

int main(int argc, char** argv) {
  warpfold::cli::become_measuring_program(argc, argv);
  return warpfold::cli::run_program(argc, argv);
}
