#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/backend.hpp"
#include "cpu/block_inputs.hpp"
#include "cpu/element_decoder.hpp"
#include "cpu/page_buffer.hpp"
#include "cpu/thread_pool.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::cpu {

/// Cuts a block into ranges of consecutive tiles: each thread packs what its range keeps at the
/// range's beginning, and the packed parts are put together as they are asked for.
class HostCompactEngine final : public CompactEngine {
 public:
  HostCompactEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels,
                    const CompactPlan& plan);

  int blocks() const override { return inputs_.blocks(); }
  std::uint64_t block_elements() const override { return block_elements_; }
  std::span<std::byte> input(int reader, int block, std::uint64_t offset,
                             std::uint64_t elements) override {
    return inputs_.input(reader, block, offset, elements);
  }
  void load(int reader, int block, std::uint64_t offset, std::uint64_t elements) override {
    inputs_.load(reader, block, offset, elements);
  }
  std::span<std::byte> staging(int reader) override { return inputs_.staging(reader); }
  void load(int reader, int block, const StagedChunks& piece) override {
    inputs_.load(reader, block, piece);
  }
  std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) override;
  std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                    std::uint64_t count) override;
  std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                         std::uint64_t count) override;

  /// None: the threads that call know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

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

  std::shared_ptr<ThreadPool> pool_;
  std::uint64_t block_elements_;
  bool wants_indices_;
  BlockInputs inputs_;
  std::size_t value_bytes_;
  std::vector<Block> blocks_;
  std::vector<Worker> workers_;
  std::vector<PageBuffer> values_out_;   ///< one a writer
  std::vector<PageBuffer> indices_out_;  ///< likewise
};

}  // namespace warpfold::cpu
