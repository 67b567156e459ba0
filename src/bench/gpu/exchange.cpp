#include "bench/gpu/exchange.hpp"

#include <atomic>
#include <cstring>
#include <memory>

#include "bench/gpu/gpu_resources.hpp"
#include "bench/gpu/host_reference.hpp"
#include "bench/harness/selection.hpp"
#include "bench/kernels/kernels.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::bench {
namespace {

constexpr int words = sizeof(Accumulator) / sizeof(std::uint64_t);
static_assert(sizeof(Accumulator) % sizeof(std::uint64_t) == 0);

/// Number of looks of a waiting host at the flag between looks at the stream.
constexpr int looks = 1 << 16;

/// Returns what the kernel stores for `value`.
Accumulator published(std::uint64_t value) {
  std::uint64_t payload[words];
  for (int i = 0; i < words; ++i) payload[i] = value + static_cast<std::uint64_t>(i);
  Accumulator accumulator;
  std::memcpy(&accumulator, payload, sizeof(accumulator));
  return accumulator;
}

Accumulator accumulator_at(const std::byte* memory) {
  Accumulator accumulator;
  std::memcpy(&accumulator, memory, sizeof(accumulator));
  return accumulator;
}

/// Hands a result from GPU to host.
class Handover {
 public:
  Accumulator by_flag(std::uint64_t value) {
    ++epoch_;
    kernels::publish(payload_of(host_.data()), words, value, flag(), epoch_, stream_.get());
    const std::atomic_ref<std::uint32_t> arrived(*flag());
    for (int look = 1; arrived.load(std::memory_order_acquire) != epoch_; ++look) {
      if (look % looks == 0 && cudaStreamQuery(stream_.get()) != cudaErrorNotReady)
        stream_.synchronize();
    }
    return accumulator_at(host_.data());
  }

  Accumulator by_copy(std::uint64_t value) {
    kernels::publish(payload_of(device_.data()), words, value, nullptr, 0, stream_.get());
    cuda::copy_to_host(host_.data(), device_.data(), sizeof(Accumulator), stream_.get());
    stream_.synchronize();
    return accumulator_at(host_.data());
  }

 private:
  static std::uint64_t* payload_of(std::byte* memory) {
    return reinterpret_cast<std::uint64_t*>(memory);
  }

  std::uint32_t* flag() const {
    return reinterpret_cast<std::uint32_t*>(host_.data() + sizeof(Accumulator));
  }

  cuda::DeviceBuffer device_{sizeof(Accumulator)};
  cuda::PinnedBuffer host_{sizeof(Accumulator) + sizeof(std::uint64_t)};
  std::uint32_t epoch_ = 0;
  cuda::Stream stream_;
};

void add_handovers(std::vector<Exchange>& exchanges) {
  constexpr std::uint64_t value = 0x0123456789abcdef;
  const auto handover = std::make_shared<Handover>();
  const auto add = [&](const char* kernel, std::function<Accumulator()> take) {
    exchanges.push_back({{.group = "combine, from GPU to host",
                          .operation = "handover",
                          .kernel = kernel,
                          .clock = Clock::host,
                          .bytes = sizeof(Accumulator)},
                         Combination::none,
                         published(value),
                         std::move(take)});
  };
  add("mapped memory", [=] { return handover->by_flag(value); });
  add("copy", [=] { return handover->by_copy(value); });
}

/// An array in device memory and what reduces it.
struct ReducedArray {
  cuda::DeviceBuffer elements;
  cuda::DeviceReduce reduce;
  cuda::Stream stream;
};

void add_reduces(std::vector<Exchange>& exchanges, const SizePlan& plan, Backend& host, int rank) {
  constexpr ReduceNeeds needs{true, false, true, true};
  constexpr ElementFormat format{ElementType::f64};
  const auto array = std::make_shared<ReducedArray>();
  array->elements = cuda::DeviceBuffer(plan.capacity);
  kernels::fill(array->elements.data(), format.type, kernels::Pattern::uniform,
                plan.capacity / sizeof(double), static_cast<std::uint64_t>(rank) + 1,
                array->stream.get());
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t size : plan.fitting) counts.push_back(size / sizeof(double));
  const std::vector<Accumulator> reduces =
      prefix_reduces(host, array->elements.data(), format, needs, counts, array->stream.get());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto take = [array, count = counts[i]] {
      array->reduce.start(array->elements.data(), count, format, needs, 0, array->stream.get());
      return array->reduce.result();
    };
    const auto add = [&](const char* operation, Combination combination) {
      const Row row{.group = "combine, from an array on the GPU",
                    .operation = operation,
                    .kernel = "fold",
                    .clock = Clock::host,
                    .elements = counts[i],
                    .bytes = plan.fitting[i],
                    .useful_bytes = counts[i] * sizeof(double)};
      exchanges.push_back({row, combination, reduces[i], take});
    };
    add("fold", Combination::none);
    add("fold, MPI_Reduce", Combination::reduce);
    add("fold, MPI_Exscan", Combination::exscan);
  }
}

}  // namespace

std::vector<Exchange> gpu_exchanges(const Settings& settings,
                                    const mpi::Communicator& communicator) {
  const std::uint64_t memory = memory_for_arrays(settings.run, communicator);
  const int threads = threads_for_checks(settings.run, communicator);
  std::vector<Exchange> exchanges;
  pipeline::run_on_all(communicator, [&] {
    const auto host = cpu::make_backend(threads);
    add_handovers(exchanges);
    add_reduces(exchanges, plan_sizes(settings.sizes, 1, memory, 0), *host, communicator.rank());
  });
  return exchanges;
}

}  // namespace warpfold::bench
