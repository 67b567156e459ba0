#include "pipeline/run/core_binding.hpp"

namespace warpfold::pipeline {
namespace {

/// A smaller gain is not worth a word.
constexpr int min_gain = 2;

std::string cores_text(int cores) {
  return std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace

std::string binding_note(const CoreBinding& binding) {
  const int share = binding.host_cores / binding.host_ranks;
  const bool wants_more = binding.threads == 0 || binding.threads > binding.cores;
  if (wants_more && share >= min_gain * binding.cores) {
    const std::string threads =
        binding.threads > 0 ? std::to_string(binding.threads) + " threads" : "the threads";
    return threads + " of a rank are bound to " + cores_text(binding.cores) +
           " where they could have " + std::to_string(share) +
           ": start with 'mpirun --bind-to none', or 'srun --cpus-per-task=" +
           std::to_string(share) + "'";
  }
  if (binding.far_from_gpu)
    return "a rank is bound to cores that are not on the NUMA node of its GPU: start with 'mpirun "
           "--bind-to none', or 'srun --gpu-bind=closest'";
  return "";
}

}  // namespace warpfold::pipeline
