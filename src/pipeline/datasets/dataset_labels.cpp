#include "pipeline/datasets/dataset_labels.hpp"

#include <string>
#include <utility>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/dataset_mask.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

io::Dataset open_beside(const std::string& name, const io::DatasetInfo& labelled) {
  const auto [file, dataset] = parse_mask_name("by", name, labelled.file);
  io::Dataset labels(file, dataset);
  labels.take_as_unsigned();
  labels.select(selection_beside("by", labels.info(), labelled));
  return labels;
}

}  // namespace

DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  io::Dataset dataset =
      open_everywhere([&] { return open_beside(name, view.info()); }, communicator);
  view.read_beside(dataset);
  Interpretation integers;
  interpret_everywhere(integers, dataset.info(), {}, communicator);
  DatasetLabels labels{std::move(dataset), integers.decoding};
  if (!is_integer(labels.type()))
    throw usage_error("`by` '" + labels.dataset.info().name + "' has no integers",
                      "labels are compared as whole numbers, and it is of type " +
                          std::string(name_of(labels.type())),
                      "Name a dataset of integers.");
  return labels;
}

}  // namespace warpfold::pipeline
