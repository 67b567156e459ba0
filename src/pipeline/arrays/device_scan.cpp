#include "pipeline/arrays/device_scan.hpp"

#include <string>

#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "pipeline/arrays/device_agreement.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold {

ElementRange scan_partition(std::uint64_t elements, std::uint64_t ranks, std::uint64_t rank) {
  return partition(elements, scan_tile_elements, ranks, rank);
}

}  // namespace warpfold

namespace warpfold::pipeline {
namespace {

ScanSpec spec_of(ElementType type, const DeviceScanOptions& options) {
  ScanSpec spec;
  spec.input = {type, native_byte_order};
  spec.operation = options.operation;
  spec.exclusive = options.exclusive;
  spec.output = options.output_type.value_or(default_scan_output(type, options.operation));
  spec.overflow = options.overflow;
  return spec;
}

/// Of a scan; that of a reduction is even.
std::uint64_t form_of(const ScanSpec& spec, FloatSums float_sums) {
  std::uint64_t form = static_cast<std::uint64_t>(spec.input.type);
  form = form << 8 | static_cast<std::uint64_t>(spec.output);
  form = form << 8 | static_cast<std::uint64_t>(spec.operation);
  form = form << 1 | (spec.exclusive ? 1u : 0u);
  form = form << 1 | static_cast<std::uint64_t>(spec.overflow);
  form = form << 1 | static_cast<std::uint64_t>(float_sums);
  return form << 1 | 1u;
}

void check_tiles(const DeviceArray& input, std::uint64_t first_index) {
  if (input.count == 0 || first_index % scan_tile_elements == 0) return;
  throw usage_error(
      "a partition starts inside a tile of the scan",
      "index " + std::to_string(first_index) + " is no multiple of " +
          std::to_string(scan_tile_elements),
      "Give whole tiles to all ranks before the last (scan_partition), or choose FloatSums::fast.");
}

/// Elements of one size may be scanned in place.
void check_overlap(const DeviceArray& input, const void* output, const ScanSpec& spec) {
  const std::uint64_t input_bytes = size_of(spec.input.type);
  const std::uint64_t output_bytes = size_of(spec.output);
  const auto from = reinterpret_cast<std::uintptr_t>(input.data);
  const auto to = reinterpret_cast<std::uintptr_t>(output);
  if (from == to && input_bytes == output_bytes) return;
  if (from >= to + input.count * output_bytes || to >= from + input.count * input_bytes) return;
  throw usage_error("input and output of a scan overlap", "",
                    "Pass memory apart, or the input's own address for elements of its size.");
}

/// One scan over all ranks: reduce, exscan, scan.
class DeviceArrayScan {
 public:
  DeviceArrayScan(const DeviceArray& input, void* output, const DeviceScanOptions& options,
                  DeviceStream stream, const mpi::Communicator& communicator)
      : input_(input),
        output_(output),
        spec_(spec_of(input.type, options)),
        float_sums_(options.float_sums),
        stream_(stream),
        communicator_(communicator),
        first_index_(mpi::exclusive_sum(input.count, communicator)) {}

  void run(cuda::ArrayEngine& engine) {
    agree(capture_exception([&] { prepare(engine); }), form_of(spec_, float_sums_), communicator_);
    Accumulator total = Accumulator::empty();
    std::exception_ptr failure = capture_exception([&] { total = reduce(); });
    const Accumulator before = mpi::exclusive_scan(total, communicator_);
    std::uint64_t overflow = no_index;
    if (!failure) failure = capture_exception([&] { overflow = scan(before); });
    throw_on_all_ranks(failure, overflow);
  }

 private:
  void prepare(cuda::ArrayEngine& engine) {
    validate(spec_);
    check_device_array("input", input_.data, input_.count, size_of(spec_.input.type), engine);
    check_device_array("output", output_, input_.count, size_of(spec_.output), engine);
    check_overlap(input_, output_, spec_);
    const bool sums_floats = spec_.operation == ScanOperation::sum && is_floating(spec_.input.type);
    const bool reproducible = float_sums_ == FloatSums::reproducible;
    if (sums_floats && reproducible) check_tiles(input_, first_index_);
    scanner_ = &engine.scanner(spec_, reproducible || !sums_floats);
  }

  /// What this rank adds for higher ones.
  Accumulator reduce() {
    if (input_.count == 0) return Accumulator::empty();
    if (communicator_.is_last() && !scanner_->needs_total(input_.count))
      return Accumulator::empty();
    Accumulator total = scanner_->total(input_.data, input_.count, stream_);
    total.shift_indices(first_index_);
    return total;
  }

  /// The flat index of the first prefix beyond the output type here, or no_index.
  std::uint64_t scan(const Accumulator& before) {
    if (input_.count == 0) return no_index;
    const auto place = scanner_->scan(input_.data, output_, input_.count, before, stream_);
    return place ? first_index_ + *place : no_index;
  }

  void throw_on_all_ranks(const std::exception_ptr& failure, std::uint64_t overflow) {
    const auto state = mpi::minimum({failure ? 0u : 1u, overflow}, communicator_);
    if (state[0] == 0) mpi::throw_on_all_ranks(failure, communicator_);
    if (state[1] == no_index) return;
    throw Error("the scan overflows at index " + std::to_string(state[1]),
                "the prefix there is beyond " + std::string(name_of(spec_.output)),
                "Choose a wider output type, or OverflowPolicy::wrap.");
  }

  const DeviceArray& input_;
  void* output_;
  ScanSpec spec_;
  FloatSums float_sums_;
  DeviceStream stream_;
  const mpi::Communicator& communicator_;
  std::uint64_t first_index_;
  cuda::ArrayScanner* scanner_ = nullptr;
};

}  // namespace

void scan_device_array(const DeviceArray& input, void* output, const DeviceScanOptions& options,
                       DeviceStream stream, cuda::ArrayEngine& engine,
                       const mpi::Communicator& communicator) {
  DeviceArrayScan(input, output, options, stream, communicator).run(engine);
}

}  // namespace warpfold::pipeline
