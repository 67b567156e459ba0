#include "cpu/kernels/kernels.hpp"

#include "warpfold/core/error.hpp"

namespace warpfold::cpu {
namespace {

std::vector<const Kernels*> supported_kernels() {
  std::vector<const Kernels*> tables;
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) tables.push_back(&kernels_avx512);
  if (avx2) tables.push_back(&kernels_avx2);
#endif
  tables.push_back(&kernels_baseline);
  return tables;
}

}  // namespace

const std::vector<const Kernels*>& available_kernels() {
  static const std::vector<const Kernels*> tables = supported_kernels();
  return tables;
}

const Kernels& choose_kernels(const std::string& instruction_set) {
  if (instruction_set.empty()) return *available_kernels().front();
  std::string names;
  for (const Kernels* kernels : available_kernels()) {
    if (instruction_set == kernels->name) return *kernels;
    names += std::string(" ") + kernels->name;
  }
  throw usage_error("no instruction set '" + instruction_set + "'", "", "This machine has" + names);
}

}  // namespace warpfold::cpu
