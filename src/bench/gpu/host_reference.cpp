#include "bench/gpu/host_reference.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/machine/machine.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/stream.hpp"
#include "pipeline/run/worker_threads.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t slab_bytes = std::uint64_t{4} << 20;

constexpr std::uint64_t head_elements = std::uint64_t{1} << 24;
constexpr std::uint64_t tail_elements = std::uint64_t{1} << 20;

/// Keeps host memory page-locked, so that copies into it run beside the host's work.
class PageLock {
 public:
  explicit PageLock(std::span<std::byte> memory) : memory_(memory.data()) {
    cuda::check(cudaHostRegister(memory_, memory.size(), cudaHostRegisterDefault),
                "page-locking host memory");
  }
  ~PageLock() { cudaHostUnregister(memory_); }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  std::byte* memory_;
};

/// Returns the reduction of elements [first, first + count), by as many threads as the engine has:
/// each copies slab after slab into its memory.
Accumulator reduce_part(Backend& host, const std::byte* array, const StagingPlan& plan,
                        ReduceNeeds needs, ElementRange range, cudaStream_t stream) {
  const std::size_t element_bytes = size_of(plan.format.type);
  const auto engine = host.make_reduce_engine(plan, needs);
  std::vector<std::unique_ptr<PageLock>> locks;
  for (int thread = 0; thread < engine->threads(); ++thread)
    locks.push_back(std::make_unique<PageLock>(engine->take(thread).memory));
  std::atomic<std::uint64_t> next = 0;
  const int device = cuda::current_device();
  pipeline::WorkerThreads workers(engine->threads(), [&](int thread, const std::stop_token& stop) {
    cuda::check(cudaSetDevice(device), "selecting the GPU");
    while (!stop.stop_requested()) {
      const ElementRange part = block_range(range.count, plan.slab_elements, next++);
      if (part.count == 0) return;
      const std::uint64_t first = range.first + part.first;
      const Ticket ticket = engine->take(thread);
      cuda::copy_to_host(ticket.memory.data(), array + first * element_bytes,
                         part.count * element_bytes, stream);
      cuda::synchronize(stream);
      engine->submit(ticket, staged_run({}, {0, part.count}, first));
    }
  });
  while (!workers.wait_for(std::chrono::seconds(1))) continue;
  return engine->finish();
}

/// Returns the host's scan of elements [first, first + count), given what precedes them.
std::vector<std::byte> scan_part(Backend& host, const ScanSpec& spec, const std::byte* array,
                                 ElementRange range, const Accumulator& before,
                                 cudaStream_t stream) {
  const auto engine =
      host.make_scan_engine({{spec.input, {}, range.count, 0, Staging::packed}, range.count}, spec);
  const Ticket ticket = engine->take(0, 0, {0, range.count});
  cuda::copy_to_host(ticket.memory.data(), array + range.first * size_of(spec.input.type),
                     range.count * size_of(spec.input.type), stream);
  cuda::synchronize(stream);
  engine->submit(ticket, staged_run({}, {0, range.count}));
  engine->total(0, range.first, range.count);
  engine->scan(0, range.first, range.count, before);
  const std::span<const std::byte> output = engine->output(0, 0, 0, range.count);
  return {output.begin(), output.end()};
}

}  // namespace

std::vector<Accumulator> prefix_reduces(Backend& host, const void* array, ElementFormat format,
                                        ReduceNeeds needs,
                                        const std::vector<std::uint64_t>& ascending_counts,
                                        cudaStream_t stream) {
  std::vector<Accumulator> reduces;
  Accumulator so_far = Accumulator::empty();
  std::uint64_t done = 0;
  for (const std::uint64_t count : ascending_counts) {
    const ElementRange rest{done, count - done};
    const std::uint64_t slab = std::min(slab_bytes / size_of(format.type), rest.count);
    if (rest.count != 0)
      so_far.merge(
          reduce_part(host, static_cast<const std::byte*>(array),
                      {.format = format, .slab_elements = slab, .threads = cpu::available_cores()},
                      needs, rest, stream));
    so_far.normalize();
    reduces.push_back(so_far);
    done = count;
  }
  return reduces;
}

ScanReference::ScanReference(Backend& host, const ScanSpec& spec, const void* array,
                             const std::vector<std::uint64_t>& ascending_counts,
                             cudaStream_t stream, const Accumulator& before)
    : output_bytes_(size_of(spec.output)), counts_(ascending_counts), tails_(counts_.size()) {
  const auto* elements = static_cast<const std::byte*>(array);
  const std::uint64_t longest = counts_.empty() ? 0 : counts_.back();
  if (longest == 0) return;
  head_.prefixes =
      scan_part(host, spec, elements, {0, std::min(longest, head_elements)}, before, stream);
  std::vector<std::uint64_t> starts;
  for (const std::uint64_t count : counts_)
    if (count > head_elements)
      starts.push_back((count - tail_elements) / scan_order::tile_elements *
                       scan_order::tile_elements);
  ReduceNeeds needs;
  needs.sum = true;
  const auto befores = prefix_reduces(host, array, spec.input, needs, starts, stream);
  const std::size_t without_tail = counts_.size() - starts.size();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Accumulator before_tail = before;
    before_tail.merge(befores[i]);
    before_tail.normalize();
    tails_[without_tail + i] = {
        starts[i],
        scan_part(host, spec, elements, {starts[i], counts_[without_tail + i] - starts[i]},
                  before_tail, stream)};
  }
}

bool ScanReference::agrees(std::size_t scan, const void* output, cudaStream_t stream) const {
  const std::uint64_t head = std::min(counts_[scan], head_elements);
  return agrees(head_, head * output_bytes_, output, stream) &&
         agrees(tails_[scan], tails_[scan].prefixes.size(), output, stream);
}

bool ScanReference::agrees(const Part& part, std::size_t bytes, const void* output,
                           cudaStream_t stream) const {
  const auto claimed = cuda::downloaded_array<std::byte>(
      static_cast<const std::byte*>(output) + part.first * output_bytes_, bytes, stream);
  return std::equal(claimed.begin(), claimed.end(), part.prefixes.begin());
}

}  // namespace warpfold::bench
