#include "cuda/staging/wide_elements.hpp"

namespace warpfold::cuda {
namespace {

bool widens(const WideningPlan& plan) {
  return plan.moves || !kernels::stored_wide(plan.format, plan.decoding);
}

bool marks(const WideningPlan& plan) { return plan.marks_counting && !plan.decoding.selects_all(); }

std::uint64_t wide_bytes(const WideningPlan& plan) {
  return widens(plan) ? plan.slab_elements * kernels::wide_bytes : 0;
}

std::uint64_t counting_bytes(const WideningPlan& plan) {
  return marks(plan) ? plan.slab_elements * sizeof(bool) : 0;
}

}  // namespace

WideElements::WideElements(const WideningPlan& plan)
    : plan_(plan), wide_(wide_bytes(plan)), counting_(counting_bytes(plan)) {}

std::uint64_t WideElements::device_bytes(const WideningPlan& plan) {
  return wide_bytes(plan) + counting_bytes(plan);
}

ElementType WideElements::type() const {
  return kernels::wide_type(plan_.decoding.value_type(plan_.format.type));
}

void WideElements::load_kernel() const {
  if (widens(plan_)) kernels::load_decoding(plan_.format.type);
}

const std::byte* WideElements::widen(const std::byte* stored, std::uint64_t count,
                                     const BoxIndices& indices, cudaStream_t stream) {
  if (!widens(plan_)) return stored;
  kernels::decode_elements({stored, count, plan_.format, plan_.decoding, indices},
                           {.values = wide_.data(),
                            .wide = true,
                            .counting = reinterpret_cast<bool*>(counting_.data()),
                            .left_out = plan_.left_out},
                           stream);
  return wide_.data();
}

const bool* WideElements::counting() const {
  return reinterpret_cast<const bool*>(counting_.data());
}

}  // namespace warpfold::cuda
