#pragma once

#include <functional>
#include <string>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"

namespace warpfold::pipeline {

/// Returns the root's description on every rank; collective.
io::DatasetInfo share_from_root(const io::DatasetInfo& info, const mpi::Communicator& communicator);

/// Opens on every rank the dataset that open() gives the root, as it is described there: an error
/// in the file is met once, and all have to see the same files. Collective; throws the same Error
/// on every rank.
io::Dataset open_everywhere(const std::function<io::Dataset()>& open,
                            const mpi::Communicator& communicator);

/// Opens so a dataset beside another.
SharedDataset open_everywhere(const std::function<SharedDataset()>& open,
                              const mpi::Communicator& communicator);

/// Opens so a dataset to be read by `path`.
io::Dataset open_everywhere(const std::string& file, const std::string& dataset,
                            const mpi::Communicator& communicator,
                            ReadPath path = ReadPath::automatic);

}  // namespace warpfold::pipeline
