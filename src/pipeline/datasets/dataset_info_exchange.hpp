#pragma once

#include <string>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// Returns the root's description on every rank; collective.
io::DatasetInfo share_from_root(const io::DatasetInfo& info, const mpi::Communicator& communicator);

/// Opens a dataset on every rank to be read by `path`, the root first: an error in the file is met
/// once. Collective; throws the same Error on every rank.
io::Dataset open_everywhere(const std::string& file, const std::string& dataset,
                            const mpi::Communicator& communicator,
                            ReadPath path = ReadPath::automatic);

}  // namespace warpfold::pipeline
