#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/engine/stage_timer.hpp"
#include "cpu/chunks/masked_places.hpp"
#include "cpu/engines/host_backend.hpp"
#include "cpu/engines/host_block_engine.hpp"

namespace warpfold::cpu {
namespace {

/// Packs what a range of a block keeps at the range's beginning; the packed parts are put together
/// as they are requested. Pieces that are ranges are packed by the threads that bring them, while
/// they are in the cache. A block of chunks is put together first, and its ranges are shared out.
class HostCompactEngine final : public HostBlockEngine<CompactEngine> {
 public:
  HostCompactEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels,
                    const BlockEnginePlan& plan, bool indices)
      : HostBlockEngine(std::move(threads), kernels, plan, plan.pieces.format),
        wants_indices_(indices),
        brings_ranges_(plan.pieces.staging == Staging::packed),
        value_bytes_(size_of(plan.pieces.decoding.value_type(plan.pieces.format.type))) {
    const std::size_t index_bytes = indices ? sizeof(std::uint64_t) : 0;
    for (int block = 0; block < blocks(); ++block)
      blocks_.emplace_back(block_elements() * value_bytes_, block_elements() * index_bytes);
    const int workers = brings_ranges_ ? plan.pieces.threads : pool().threads();
    for (int worker = 0; worker < workers; ++worker)
      workers_.push_back({make_element_decoder(kernels, plan.pieces.format, plan.pieces.decoding),
                          MaskedPlaces(kernels, plan.pieces.decoding.mask),
                          PageBuffer(brings_ranges_ ? plan.pieces.slot_bytes() : 0)});
    for (int timer = 0; timer < (brings_ranges_ ? workers : 1); ++timer)
      timers_.emplace_back(plan.pieces.stages, stage::compact);
    for (int writer = 0; writer < plan.writers; ++writer) {
      values_out_.emplace_back(plan.pieces.slab_elements * value_bytes_);
      indices_out_.emplace_back(plan.pieces.slab_elements * index_bytes);
    }
  }

  Ticket take(int thread, int block, ElementRange places) override {
    if (!brings_ranges_) return HostBlockEngine::take(thread, block, places);
    return {worker_of(thread).staging.span(), thread, block};
  }

  void submit(const Ticket& ticket, const StagedChunks& piece) override {
    if (!brings_ranges_) return HostBlockEngine::submit(ticket, piece);
    const StagedRun run = run_of(piece).value();
    timers_[static_cast<std::size_t>(ticket.thread)].time(run.elements * stored_bytes(), [&] {
      keep_range(worker_of(ticket.thread), at(ticket.slot), ticket.memory.data() + run.source,
                 piece.indices, {run.place, run.elements});
    });
  }

  std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) override {
    Block& here = at(block);
    if (!brings_ranges_)
      timers_.front().time(elements * stored_bytes(),
                           [&] { keep_of_whole(here, block, first_index, elements); });
    std::ranges::sort(here.kept, {}, &ElementRange::first);
    here.complete = true;
    std::uint64_t count = 0;
    for (const ElementRange& part : here.kept) count += part.count;
    return count;
  }

  std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                    std::uint64_t count) override {
    const Block& here = at(block);
    return gather(here.kept, here.values, {offset, count}, value_bytes_,
                  values_out_[static_cast<std::size_t>(writer)]);
  }

  std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                         std::uint64_t count) override {
    const Block& here = at(block);
    const std::span<std::byte> bytes =
        gather(here.kept, here.indices, {offset, count}, sizeof(std::uint64_t),
               indices_out_[static_cast<std::size_t>(writer)]);
    return {reinterpret_cast<const std::uint64_t*>(bytes.data()), count};
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> timings;
    for (const StageTimer& timer : timers_) timings.push_back(timer.timing());
    return timings;
  }

 private:
  /// A thread's means.
  struct Worker {
    std::unique_ptr<ElementDecoder> decoder;
    MaskedPlaces mask;
    PageBuffer staging;
  };

  struct Block {
    Block(std::size_t value_bytes, std::size_t index_bytes)
        : values(value_bytes), indices(index_bytes) {}

    /// Adds what was packed of a range. Threads may call it at once.
    void add(ElementRange packed) {
      const std::lock_guard lock(mutex);
      if (std::exchange(complete, false)) kept.clear();
      kept.push_back(packed);
    }

    PageBuffer values;
    PageBuffer indices;
    std::mutex mutex;
    std::vector<ElementRange> kept;  ///< ranges of the packed parts in both, in order once complete
    bool complete = true;
  };

  Worker& worker_of(int thread) { return workers_[static_cast<std::size_t>(thread)]; }
  Block& at(int block) { return blocks_[static_cast<std::size_t>(block)]; }
  std::size_t stored_bytes() const { return size_of(inputs().format().type); }

  void keep_of_whole(Block& here, int block, std::uint64_t first_index, std::uint64_t elements) {
    const BlockRanges ranges(elements, pool().threads());
    const BoxIndices indices{.first = first_index};
    pool().parallel_for(ranges.count(), [&](std::size_t i, int worker) {
      const std::byte* stored = inputs().elements(block) + ranges[i].first * stored_bytes();
      keep_range(worker_of(worker), here, stored, indices, ranges[i]);
    });
  }

  /// Packs what is kept of a range of a block's places, whose elements begin at `stored`.
  void keep_range(Worker& worker, Block& here, const std::byte* stored, const BoxIndices& indices,
                  ElementRange range) {
    constexpr std::uint64_t step = warpfold::cpu::block_elements;
    std::byte* values = here.values.span().data();
    auto* kept_indices = reinterpret_cast<std::uint64_t*>(here.indices.span().data());
    std::uint64_t end = range.first;
    for (std::uint64_t first = range.first; first < range.end(); first += step) {
      const std::uint64_t n = std::min(step, range.end() - first);
      const std::byte* elements = stored + (first - range.first) * stored_bytes();
      const DecodedValues decoded =
          worker.mask.decode(*worker.decoder, elements, n, {indices, first});
      worker.decoder->pack(decoded, n, values + end * value_bytes_);
      if (wants_indices_) write_indices(decoded, n, indices(first), kept_indices + end);
      end += decoded.kept;
    }
    here.add({range.first, end - range.first});
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
  bool brings_ranges_;  ///< pieces are ranges of elements
  std::size_t value_bytes_;
  std::deque<Block> blocks_;
  std::vector<Worker> workers_;
  std::vector<PageBuffer> values_out_;   ///< one a writer
  std::vector<PageBuffer> indices_out_;  ///< one a writer
  std::deque<StageTimer> timers_;
};

}  // namespace

std::unique_ptr<CompactEngine> HostBackend::make_compact_engine(const BlockEnginePlan& plan,
                                                                bool indices) {
  return made<HostCompactEngine>(plan.pieces, pool_, kernels_, plan, indices);
}

}  // namespace warpfold::cpu
