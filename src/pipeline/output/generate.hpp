#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/values/generator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

struct GenerateOptions {
  GeneratorKind kind = GeneratorKind::uniform;
  ElementFormat format;
  std::vector<std::uint64_t> shape;
  std::uint64_t seed = 1;
  double value = 1.0;  ///< value of `constant`
  OutputOptions output;
  StorageOptions storage;
  RunOptions run;
};

struct GenerateResult {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  /// The known sum is the exact one where the kind has a closed form for it.
  Value known_sum;
  RunReport report;
};

/// Writes a dataset whose values depend on kind, type, seed and index alone. Collective; every
/// number of ranks writes the same dataset. Throws the same Error on every rank.
GenerateResult generate(MPI_Comm communicator, const GenerateOptions& options);

}  // namespace warpfold::pipeline
