#include "cpu/engines/axis_scan_engine.hpp"

#include "cpu/chunks/chunk_assembly.hpp"

namespace warpfold::cpu {

HostAxisScanEngine::HostAxisScanEngine(const Kernels& kernels, const AxisScanPlan& plan)
    : kernels_(kernels),
      wraps_(plan.spec.overflow == OverflowPolicy::wrap),
      input_bytes_(size_of(plan.spec.input.type)),
      output_bytes_(size_of(plan.spec.output)) {
  for (int lane = 0; lane < plan.lanes; ++lane)
    lanes_.push_back({PageBuffer(plan.staging_bytes), PageBuffer(plan.slab_elements * input_bytes_),
                      PageBuffer(plan.slab_elements * output_bytes_),
                      make_axis_scanner(kernels, plan.spec, plan.decoding), std::nullopt});
}

std::span<const std::byte> HostAxisScanEngine::scan(int lane, const StagedChunks& slab,
                                                    const AxisSlab& shape) {
  Lane& here = at(lane);
  std::byte* in = here.in.span().data();
  assemble(kernels_, input_bytes_, slab, here.buffer.span().data(), in);
  const auto unfit = here.scanner->scan(in, shape, here.out.span().data());
  here.unfit = wraps_ ? std::nullopt : unfit;
  return here.out.span().first(slab.target.elements * output_bytes_);
}

}  // namespace warpfold::cpu
