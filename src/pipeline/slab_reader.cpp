#include "pipeline/slab_reader.hpp"

#include <algorithm>

namespace warpfold::pipeline {

SlabReader::SlabReader(io::Dataset& dataset, FoldEngine& engine, ElementRange range,
                       std::uint64_t slab_elements) {
  for (int slot = 0; slot < engine.slots(); ++slot) free_.push(slot);
  thread_ = std::jthread([this, &dataset, &engine, range, slab_elements] {
    try {
      run(dataset, engine, range, slab_elements);
    } catch (...) {
      failure_ = std::current_exception();
    }
    filled_.close();
  });
}

SlabReader::~SlabReader() { free_.cancel(); }

void SlabReader::run(io::Dataset& dataset, FoldEngine& engine, ElementRange range,
                     std::uint64_t slab_elements) {
  const std::size_t element_size = size_of(dataset.info().format.type);
  for (std::uint64_t first = range.first; first < range.end(); first += slab_elements) {
    const std::optional<int> slot = free_.pop();
    if (!slot) return;
    const ElementRange slab{first, std::min(slab_elements, range.end() - first)};
    const std::uint64_t bytes = slab.count * element_size;
    clock_.time(bytes, [&] { dataset.read(slab, engine.buffer(*slot).first(bytes)); });
    filled_.push({*slot, slab});
  }
}

std::optional<SlabReader::Slab> SlabReader::next() {
  std::optional<Slab> slab = filled_.pop();
  if (!slab && failure_) std::rethrow_exception(failure_);
  return slab;
}

}  // namespace warpfold::pipeline
