#include "cuda/select/kept_elements.hpp"

#include "cuda/runtime/memory.hpp"

namespace warpfold::cuda {
namespace {

kernels::KeptTarget cut(Scratch& memory, const KeepRule& rule, std::uint64_t elements) {
  kernels::KeptTarget target;
  target.values = memory.take<std::byte>(elements * size_of(rule.value_format().type));
  if (rule.places) target.places = memory.take<std::uint32_t>(elements);
  target.count = memory.take<std::uint64_t>(1);
  target.scratch = memory.take<std::byte>(kernels::keep_scratch_bytes(elements));
  return target;
}

}  // namespace

KeptElements::KeptElements(const KeepRule& rule, std::uint64_t elements)
    : rule_(rule), memory_(bytes(rule, elements)) {
  Scratch memory(memory_.data());
  target_ = cut(memory, rule, elements);
}

std::uint64_t KeptElements::bytes(const KeepRule& rule, std::uint64_t elements) {
  Scratch memory;
  cut(memory, rule, elements);
  return memory.bytes();
}

void KeptElements::keep(const std::byte* elements, std::uint64_t count, cudaStream_t stream) const {
  kernels::keep_elements({elements, count, rule_.format, rule_.decoding}, target_, stream);
}

}  // namespace warpfold::cuda
