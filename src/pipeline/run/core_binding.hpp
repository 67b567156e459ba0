#pragma once

#include <string>

namespace warpfold::pipeline {

/// The cores of a rank that a launcher started.
struct CoreBinding {
  int host_ranks = 1;
  int host_cores = 1;         ///< that the host lets the job use
  int cores = 1;              ///< this rank's share of those it is bound to
  int threads = 0;            ///< asked for; 0: none
  bool far_from_gpu = false;  ///< none of the cores is on the NUMA node of its GPU
};

/// How the binding slows the rank and what to do, a sentence without an end; empty where it
/// doesn't.
std::string binding_note(const CoreBinding& binding);

}  // namespace warpfold::pipeline
