#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "cpu/chunks/masked_places.hpp"
#include "cpu/engines/engines.hpp"
#include "cpu/engines/host_block_engine.hpp"

namespace warpfold::cpu {
namespace {

/// Takes a block as ranges of consecutive tiles: each thread packs what its range keeps at the
/// range's beginning, and the packed parts are put together as they are requested.
class HostCompactEngine final : public HostBlockEngine<CompactEngine> {
 public:
  HostCompactEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels,
                    const BlockEnginePlan& plan, bool indices)
      : HostBlockEngine(std::move(threads), kernels, plan, plan.pieces.format),
        wants_indices_(indices),
        value_bytes_(size_of(plan.pieces.decoding.value_type(plan.pieces.format.type))) {
    const std::size_t index_bytes = indices ? sizeof(std::uint64_t) : 0;
    for (int block = 0; block < blocks(); ++block)
      blocks_.push_back({PageBuffer(block_elements() * value_bytes_),
                         PageBuffer(block_elements() * index_bytes),
                         {}});
    for (int worker = 0; worker < pool().threads(); ++worker)
      workers_.push_back({make_element_decoder(kernels, plan.pieces.format, plan.pieces.decoding),
                          MaskedPlaces(kernels, plan.pieces.decoding.mask)});
    for (int writer = 0; writer < plan.writers; ++writer) {
      values_out_.emplace_back(plan.pieces.slab_elements * value_bytes_);
      indices_out_.emplace_back(plan.pieces.slab_elements * index_bytes);
    }
  }

  std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) override {
    const BlockRanges ranges(elements, pool().threads());
    std::vector<ElementRange>& kept = blocks_[static_cast<std::size_t>(block)].kept;
    kept.assign(ranges.count(), {});
    pool().parallel_for(ranges.count(), [&](std::size_t i, int worker) {
      const ElementRange range = ranges[i];
      kept[i] = {range.first,
                 keep_range(workers_[static_cast<std::size_t>(worker)], block, first_index, range)};
    });
    std::uint64_t count = 0;
    for (const ElementRange& part : kept) count += part.count;
    return count;
  }

  std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                    std::uint64_t count) override {
    const Block& here = blocks_[static_cast<std::size_t>(block)];
    return gather(here.kept, here.values, {offset, count}, value_bytes_,
                  values_out_[static_cast<std::size_t>(writer)]);
  }

  std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                         std::uint64_t count) override {
    const Block& here = blocks_[static_cast<std::size_t>(block)];
    const std::span<std::byte> bytes =
        gather(here.kept, here.indices, {offset, count}, sizeof(std::uint64_t),
               indices_out_[static_cast<std::size_t>(writer)]);
    return {reinterpret_cast<const std::uint64_t*>(bytes.data()), count};
  }

 private:
  /// A thread's means.
  struct Worker {
    std::unique_ptr<ElementDecoder> decoder;
    MaskedPlaces mask;
  };

  struct Block {
    PageBuffer values;
    PageBuffer indices;
    std::vector<ElementRange> kept;  ///< ranges of the packed parts in both, in order
  };

  std::uint64_t keep_range(Worker& worker, int block, std::uint64_t first_index,
                           ElementRange range) {
    constexpr std::uint64_t step = warpfold::cpu::block_elements;
    Block& here = blocks_[static_cast<std::size_t>(block)];
    std::byte* values = here.values.span().data();
    auto* indices = reinterpret_cast<std::uint64_t*>(here.indices.span().data());
    const std::byte* stored = inputs().elements(block);
    const std::size_t stored_bytes = size_of(inputs().format().type);
    const BoxIndices box{.first = first_index};
    std::uint64_t end = range.first;
    for (std::uint64_t first = range.first; first < range.end(); first += step) {
      const std::uint64_t n = std::min(step, range.end() - first);
      std::byte* to = values + end * value_bytes_;
      const DecodedValues decoded =
          worker.mask.decode(*worker.decoder, stored + first * stored_bytes, n, {box, first});
      worker.decoder->pack(decoded, n, to);
      if (wants_indices_) write_indices(decoded, n, first_index + first, indices + end);
      end += decoded.kept;
    }
    return end - range.first;
  }

  static void write_indices(const DecodedValues& decoded, std::size_t n, std::uint64_t first,
                            std::uint64_t* indices) {
    if (decoded.kept == n) return std::iota(indices, indices + n, first);
    if (decoded.kept == 0) return;
    for (std::size_t word = 0; word < words_of(n); ++word)
      for (std::uint64_t bits = decoded.counts[word]; bits != 0; bits &= bits - 1)
        *indices++ = first + word * word_bits + static_cast<std::uint64_t>(std::countr_zero(bits));
  }

  static std::span<std::byte> gather(const std::vector<ElementRange>& parts, const PageBuffer& from,
                                     ElementRange wanted, std::size_t element_bytes,
                                     PageBuffer& into) {
    std::byte* to = into.span().data();
    std::uint64_t passed = 0;
    for (const ElementRange& part : parts) {
      const std::uint64_t first = std::max(wanted.first, passed);
      const std::uint64_t end = std::min(wanted.end(), passed + part.count);
      if (first < end) {
        const std::size_t bytes = (end - first) * element_bytes;
        std::memcpy(to, from.span().data() + (part.first + first - passed) * element_bytes, bytes);
        to += bytes;
      }
      passed += part.count;
    }
    return into.span().first(wanted.count * element_bytes);
  }

  bool wants_indices_;
  std::size_t value_bytes_;
  std::vector<Block> blocks_;
  std::vector<Worker> workers_;
  std::vector<PageBuffer> values_out_;   ///< one a writer
  std::vector<PageBuffer> indices_out_;  ///< likewise
};

}  // namespace

std::unique_ptr<CompactEngine> make_compact_engine(std::shared_ptr<ThreadPool> pool,
                                                   const Kernels& kernels,
                                                   const BlockEnginePlan& plan, bool indices) {
  return std::make_unique<HostCompactEngine>(std::move(pool), kernels, plan, indices);
}

}  // namespace warpfold::cpu
