#pragma once

#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "warpfold/dataset_choice.hpp"

namespace warpfold::pipeline {

struct ChosenDataset {
  std::string name;
  bool by_name = true;  ///< by a path of its own: one that can't be read is an error
};

/// The datasets that a choice takes, each once, in the order of its names, those of a pattern (and
/// all of a file) in the order of their paths. Collective; throws the same Error on every rank: a
/// pattern without any lists the datasets there are.
std::vector<ChosenDataset> chosen_datasets(const std::string& file, const DatasetChoice& choice,
                                           const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
