#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/page_buffer.hpp"
#include "cpu/range_folder.hpp"
#include "cpu/thread_pool.hpp"

namespace warpfold::cpu {

/// Folds each slab with all threads before submit() returns.
class HostFoldEngine final : public FoldEngine {
 public:
  HostFoldEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels, const FoldPlan& plan);

  int slots() const override { return static_cast<int>(buffers_.size()); }
  std::span<std::byte> buffer(int slot) override;
  void submit(int slot, std::uint64_t first_index, std::uint64_t elements) override;
  void wait(int) override {}
  Accumulator finish() override;

 private:
  std::shared_ptr<ThreadPool> pool_;
  std::size_t element_bytes_;
  std::vector<PageBuffer> buffers_;
  std::vector<std::unique_ptr<RangeFolder>> folders_;  ///< one a worker
};

}  // namespace warpfold::cpu
