#include "cpu/engines/backend.hpp"

#include "cpu/engines/host_backend.hpp"

namespace warpfold::cpu {

std::string HostBackend::device() const {
  const int threads = pool_->threads();
  return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + kernels_.name;
}

std::string instruction_set() { return choose_kernels().name; }

std::unique_ptr<Backend> make_backend(int threads, const Kernels& kernels) {
  return std::make_unique<HostBackend>(threads, kernels);
}

std::unique_ptr<Backend> make_backend(int threads) {
  return make_backend(threads, choose_kernels());
}

}  // namespace warpfold::cpu
