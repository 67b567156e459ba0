#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// What blocks hold of a dataset, in whatever way readers bring it.
struct BlockInputPlan {
  ElementFormat stored;
  int blocks = 1;
  std::uint64_t block_elements = 0;
  std::uint64_t piece_elements = 0;  ///< the most that a reader brings at a time
  std::uint64_t staging_bytes = 0;
  int readers = 1;
};

/// The memory of blocks, and the ways into it: a BlockLoader's. Blocks hold elements as they are
/// stored or, where a decoder is given for each reader, all their values in native byte order.
class BlockInputs {
 public:
  BlockInputs(const Kernels& kernels, const BlockInputPlan& plan);
  BlockInputs(const Kernels& kernels, const BlockInputPlan& plan, ElementType values,
              std::vector<std::unique_ptr<ElementDecoder>> decoders);

  int blocks() const { return static_cast<int>(blocks_.size()); }

  /// How the elements of blocks lie in memory.
  ElementFormat format() const { return format_; }
  const std::byte* elements(int block) const {
    return blocks_[static_cast<std::size_t>(block)].span().data();
  }

  std::span<std::byte> input(int reader, int block, std::uint64_t offset, std::uint64_t elements);
  void load(int reader, int block, std::uint64_t offset, std::uint64_t elements);
  std::span<std::byte> staging(int reader);
  void load(int reader, int block, const StagedChunks& piece);

 private:
  std::byte* at(int block, std::uint64_t offset);

  const Kernels& kernels_;
  std::size_t stored_bytes_;
  ElementFormat format_;
  std::vector<PageBuffer> blocks_;
  std::vector<PageBuffer> staging_;  ///< one a reader
  std::vector<PageBuffer> raw_;      ///< likewise, where elements are decoded
  std::vector<std::unique_ptr<ElementDecoder>> decoders_;
};

}  // namespace warpfold::cpu
