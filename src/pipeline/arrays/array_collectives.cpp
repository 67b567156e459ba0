#include "pipeline/arrays/array_collectives.hpp"

#include <optional>
#include <string>

#include "core/results/summarize.hpp"
#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {

void check_array(const char* name, const void* data, std::uint64_t count,
                 std::uint64_t element_bytes, const ArrayEngine& engine) {
  if (count == 0) return;
  const std::string subject = std::string("the ") + name;
  if (data == nullptr)
    throw usage_error(subject + " is null", "it has " + std::to_string(count) + " elements",
                      "Pass its address, or no elements.");
  if (reinterpret_cast<std::uintptr_t>(data) % element_bytes != 0)
    throw usage_error(subject + " is not aligned to its elements",
                      "they have " + std::to_string(element_bytes) + " bytes",
                      "Pass the address of an element.");
  engine.check_memory(data);
}

void agree(const std::exception_ptr& failure, std::uint64_t form,
           const mpi::Communicator& communicator) {
  const std::uint64_t well = failure ? 0 : 1;
  const std::vector<std::uint64_t> minimum = mpi::minimum({well, form, ~form}, communicator);
  if (minimum[0] == 0) mpi::throw_on_all_ranks(failure, communicator);
  if (minimum[1] == ~minimum[2]) return;
  throw usage_error(
      "ranks make different calls on arrays",
      "they differ in function, options, types or number of fields",
      "Make the same call on every rank; only the elements and their number may differ.");
}

void refuse(const Error& mistake, const mpi::Communicator& communicator) {
  agree(std::make_exception_ptr(mistake), 0, communicator);
  throw mistake;
}

namespace {

/// Returns the word for a reduction; that of a scan is odd.
std::uint64_t form_of(ElementType type, const ReduceNeeds& needs) {
  std::uint64_t form = static_cast<std::uint64_t>(type);
  for (const bool need : {needs.sum, needs.absolute, needs.squares, needs.extrema})
    form = form << 1 | (need ? 1u : 0u);
  return form << 1;
}

ScanSpec spec_of(ElementType type, const ArrayScanOptions& options) {
  ScanSpec spec;
  spec.input = {type, native_byte_order};
  spec.operation = options.operation;
  spec.exclusive = options.exclusive;
  spec.output = options.output_type.value_or(default_scan_output(type, options.operation));
  spec.overflow = options.overflow;
  return spec;
}

/// Returns the word for a scan; that of a reduction is even.
std::uint64_t form_of(const ScanSpec& spec, FloatSums float_sums) {
  std::uint64_t form = static_cast<std::uint64_t>(spec.input.type);
  form = form << 8 | static_cast<std::uint64_t>(spec.output);
  form = form << 8 | static_cast<std::uint64_t>(spec.operation);
  form = form << 1 | (spec.exclusive ? 1u : 0u);
  form = form << 1 | static_cast<std::uint64_t>(spec.overflow);
  form = form << 1 | static_cast<std::uint64_t>(float_sums);
  return form << 1 | 1u;
}

/// Checks that the output lies apart from the input; elements of one size may be scanned in place.
void check_overlap(const Array& input, const void* output, const ScanSpec& spec) {
  const std::uint64_t input_bytes = size_of(spec.input.type);
  const std::uint64_t output_bytes = size_of(spec.output);
  const auto from = reinterpret_cast<std::uintptr_t>(input.data);
  const auto to = reinterpret_cast<std::uintptr_t>(output);
  if (from == to && input_bytes == output_bytes) return;
  if (from >= to + input.count * output_bytes || to >= from + input.count * input_bytes) return;
  throw usage_error("input and output of a scan overlap", "",
                    "Pass memory apart, or the input's own address for elements of its size.");
}

/// Checks a rank's part of a scan and prepares its engine for it.
void prepare(const Array& input, const void* output, const ScanSpec& spec, FloatSums float_sums,
             ArrayEngine& engine) {
  validate(spec);
  check_array("input", input.data, input.count, size_of(spec.input.type), engine);
  check_array("output", output, input.count, size_of(spec.output), engine);
  check_overlap(input, output, spec);
  const bool sums_floats = spec.operation == ScanOperation::sum && is_floating(spec.input.type);
  engine.prepare_scan(spec, float_sums == FloatSums::reproducible || !sums_floats);
}

/// Throws, on every rank, the failure of one, or the lowest overflow, where there is any.
void throw_on_all_ranks(const std::exception_ptr& failure, std::uint64_t overflow,
                        ElementType output, const mpi::Communicator& communicator) {
  const auto state = mpi::minimum({failure ? 0u : 1u, overflow}, communicator);
  if (state[0] == 0) mpi::throw_on_all_ranks(failure, communicator);
  if (state[1] == no_index) return;
  throw Error("the scan overflows at index " + std::to_string(state[1]),
              "the prefix there exceeds " + std::string(name_of(output)),
              "Use a wider `output_type`, or `overflow` wrap.");
}

}  // namespace

Summary reduce_array(const Array& array, const ArrayReduceOptions& options, StreamHandle stream,
                     ArrayEngine& engine, const mpi::Communicator& communicator) {
  const ReduceNeeds needs = needs_of(options.statistics, array.type);
  bool started = false;
  std::exception_ptr failure = capture_exception([&] {
    check_array("array", array.data, array.count, size_of(array.type), engine);
    if (array.count == 0) return;
    engine.start_reduce(array.data, array.count, array.type, needs, stream);
    started = true;
  });

  // The ranks agree while their devices reduce, before all else, so that ranks that call something
  // else meet them; a reduction that was started is waited for in any case.
  const std::exception_ptr disagreement =
      capture_exception([&] { agree(failure, form_of(array.type, needs), communicator); });
  const bool counts_indices = needs.extrema && !disagreement;
  const std::uint64_t first_index =
      counts_indices ? mpi::exclusive_sum(array.count, communicator) : 0;
  std::optional<Accumulator> mine;
  failure = capture_exception([&] {
    mine = started ? engine.reduce_result() : Accumulator::empty();
    mine->shift_indices(first_index);
  });
  if (disagreement) std::rethrow_exception(disagreement);

  const std::optional<Accumulator> whole = mpi::reduce_everywhere(mine, communicator);
  if (!whole) mpi::throw_on_all_ranks(failure, communicator);
  return summarize(*whole, array.type, options.statistics, options.summary);
}

void scan_array(const Array& input, void* output, const ArrayScanOptions& options,
                StreamHandle stream, ArrayEngine& engine, const mpi::Communicator& communicator) {
  const ScanSpec spec = spec_of(input.type, options);
  agree(capture_exception([&] { prepare(input, output, spec, options.float_sums, engine); }),
        form_of(spec, options.float_sums), communicator);
  const std::uint64_t first_index = mpi::exclusive_sum(input.count, communicator);

  // The last rank adds nothing for higher ones.
  Accumulator total = Accumulator::empty();
  std::exception_ptr failure = capture_exception([&] {
    if (input.count == 0) return;
    if (communicator.is_last() && !engine.needs_total(input.count)) return;
    total = engine.total(input.data, input.count, stream);
    total.shift_indices(first_index);
  });
  const Accumulator before = mpi::exclusive_scan(total, communicator);
  std::uint64_t overflow = no_index;
  if (!failure && input.count != 0)
    failure = capture_exception([&] {
      const auto place = engine.scan(input.data, output, input.count, before, stream);
      if (place) overflow = first_index + *place;
    });
  throw_on_all_ranks(failure, overflow, spec.output, communicator);
}

}  // namespace warpfold::pipeline
