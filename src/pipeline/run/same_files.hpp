#pragma once

#include <string>

#include "io/files/file_versions.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// Throws, on every rank, an Error that begins with `problem` where a rank's files are not the
/// root's: another size, an older state of the same file as a network's cache may hold, or other
/// contents of a copy, by samples. `of_root` counts on the root alone. Collective.
void require_same_files(const std::string& problem, const io::FileVersions& of_root,
                        const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
