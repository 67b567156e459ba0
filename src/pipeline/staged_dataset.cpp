#include "pipeline/staged_dataset.hpp"

#include "pipeline/collective.hpp"

namespace warpfold::pipeline {
namespace {

/// Stands for "no offset" on the way between ranks; no dataset starts there.
constexpr std::uint64_t nowhere = 0;

}  // namespace

StagedDataset::StagedDataset(const io::OutputSpec& spec, const mpi::Communicator& communicator)
    : communicator_(communicator) {
  run_on_root(communicator, [&] {
    file_.emplace(spec);
    temporary_path_ = file_->temporary_path();
  });
  data_offset_ =
      mpi::broadcast(file_ ? file_->data_offset().value_or(nowhere) : nowhere, communicator);
  temporary_path_ = mpi::broadcast(temporary_path_, communicator);
  run_on_all(communicator, [&] {
    if (data_offset_ != nowhere) writer_.emplace(temporary_path_, data_offset_, spec.path);
  });
}

void StagedDataset::commit() {
  run_on_root(communicator_, [&] { file_->commit(); });
}

}  // namespace warpfold::pipeline
