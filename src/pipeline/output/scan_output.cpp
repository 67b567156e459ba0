#include "pipeline/output/scan_output.hpp"

#include <memory>
#include <span>

#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

bool is_chunked(const io::OutputSpec& spec) { return !spec.storage.chunk_shape.empty(); }

/// Of the elements alone, under the same name.
io::OutputSpec contiguous(io::OutputSpec spec) {
  if (!is_chunked(spec)) return spec;
  spec.storage = {};
  spec.attributes_from.reset();
  spec.text_attributes.clear();
  spec.history.clear();
  return spec;
}

std::optional<StagedDataset> stage_if_chunked(const io::OutputSpec& spec,
                                              const mpi::Communicator& communicator) {
  if (!is_chunked(spec)) return std::nullopt;
  return std::make_optional<StagedDataset>(spec, communicator);
}

}  // namespace

ScanOutput::ScanOutput(const io::OutputSpec& spec, const mpi::Communicator& communicator)
    : communicator_(communicator),
      spec_(spec),
      chunked_(stage_if_chunked(spec, communicator)),
      contiguous_(contiguous(spec), communicator) {}

std::vector<StageTiming> ScanOutput::commit(ProgressMonitor& monitor, int threads) {
  if (!chunked_) {
    contiguous_.commit();
    return {};
  }
  std::vector<StageTiming> timings;
  if (writer() != nullptr) timings = pack(monitor, threads);
  chunked_->commit();
  return timings;
}

std::vector<StageTiming> ScanOutput::pack(ProgressMonitor& monitor, int threads) {
  const std::size_t element_bytes = size_of(spec_.format.type);
  const auto make_source = [&]() -> ElementSource {
    const auto reader = std::make_shared<io::ContiguousReader>(
        contiguous_.temporary_path(), contiguous_.data_offset(), spec_.path);
    return [reader, element_bytes](ElementRange range, std::span<std::byte> out) {
      reader->read(range.first * element_bytes, out);
    };
  };
  return pack_chunks({chunked_->temporary_path(), spec_.path, spec_.dataset, spec_.shape,
                      spec_.storage, element_bytes, make_source, stage::read_back, threads},
                     monitor, communicator_);
}

}  // namespace warpfold::pipeline
