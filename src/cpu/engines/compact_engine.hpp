#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/engines/host_block_engine.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::cpu {

/// Cuts a block into ranges of consecutive tiles: each thread packs what its range keeps at the
/// range's beginning, and the packed parts are put together as they are asked for.
class HostCompactEngine final : public HostBlockEngine<CompactEngine> {
 public:
  HostCompactEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels,
                    const CompactPlan& plan);

  std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) override;
  std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                    std::uint64_t count) override;
  std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                         std::uint64_t count) override;

 private:
  /// A thread's means.
  struct Worker {
    std::unique_ptr<ElementDecoder> decoder;
    std::vector<std::uint16_t> places;
  };

  struct Block {
    PageBuffer values;
    PageBuffer indices;
    std::vector<ElementRange> kept;  ///< where the packed parts lie in both, in order
  };

  std::uint64_t keep_range(Worker& worker, int block, std::uint64_t first_index,
                           ElementRange range);
  static std::span<std::byte> gather(const std::vector<ElementRange>& parts, const PageBuffer& from,
                                     ElementRange wanted, std::size_t element_bytes,
                                     PageBuffer& into);

  bool wants_indices_;
  std::size_t value_bytes_;
  std::vector<Block> blocks_;
  std::vector<Worker> workers_;
  std::vector<PageBuffer> values_out_;   ///< one a writer
  std::vector<PageBuffer> indices_out_;  ///< likewise
};

}  // namespace warpfold::cpu
