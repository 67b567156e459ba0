#include "cpu/engines/block_inputs.hpp"

#include <algorithm>
#include <utility>

#include "cpu/chunks/chunk_assembly.hpp"

namespace warpfold::cpu {

BlockInputs::BlockInputs(const Kernels& kernels, const BlockInputPlan& plan)
    : kernels_(kernels), stored_bytes_(size_of(plan.stored.type)), format_(plan.stored) {
  for (int block = 0; block < plan.blocks; ++block)
    blocks_.emplace_back(plan.block_elements * stored_bytes_);
  for (int reader = 0; reader < plan.readers; ++reader) staging_.emplace_back(plan.staging_bytes);
}

BlockInputs::BlockInputs(const Kernels& kernels, const BlockInputPlan& plan, ElementType values,
                         std::vector<std::unique_ptr<ElementDecoder>> decoders)
    : kernels_(kernels),
      stored_bytes_(size_of(plan.stored.type)),
      format_{values, native_byte_order},
      decoders_(std::move(decoders)) {
  for (int block = 0; block < plan.blocks; ++block)
    blocks_.emplace_back(plan.block_elements * size_of(values));
  for (int reader = 0; reader < plan.readers; ++reader) {
    staging_.emplace_back(plan.staging_bytes);
    raw_.emplace_back(std::max<std::uint64_t>(plan.piece_elements, block_elements) * stored_bytes_);
  }
}

std::byte* BlockInputs::at(int block, std::uint64_t offset) {
  return blocks_[static_cast<std::size_t>(block)].span().data() + offset * size_of(format_.type);
}

std::span<std::byte> BlockInputs::input(int reader, int block, std::uint64_t offset,
                                        std::uint64_t elements) {
  if (decoders_.empty()) return {at(block, offset), elements * stored_bytes_};
  return raw_[static_cast<std::size_t>(reader)].span().first(elements * stored_bytes_);
}

void BlockInputs::load(int reader, int block, std::uint64_t offset, std::uint64_t elements) {
  if (decoders_.empty()) return;
  ElementDecoder& decoder = *decoders_[static_cast<std::size_t>(reader)];
  const std::byte* raw = raw_[static_cast<std::size_t>(reader)].span().data();
  for (std::uint64_t first = 0; first < elements; first += block_elements) {
    const std::uint64_t n = std::min<std::uint64_t>(block_elements, elements - first);
    decoder.fill(raw + first * stored_bytes_, n, at(block, offset + first));
  }
}

std::span<std::byte> BlockInputs::staging(int reader) {
  return staging_[static_cast<std::size_t>(reader)].span();
}

void BlockInputs::load(int reader, int block, const StagedChunks& piece) {
  const std::byte* staged = staging(reader).data();
  if (decoders_.empty()) return assemble(kernels_, stored_bytes_, piece, staged, at(block, 0));
  ElementDecoder& decoder = *decoders_[static_cast<std::size_t>(reader)];
  std::byte* raw = raw_[static_cast<std::size_t>(reader)].span().data();
  assemble(kernels_, stored_bytes_, piece, staged, raw,
           [&](std::uint64_t place, std::size_t n) { decoder.fill(raw, n, at(block, place)); });
}

}  // namespace warpfold::cpu
