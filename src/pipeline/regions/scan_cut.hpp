#pragma once

#include <cstdint>

#include "core/scan/scan_spec.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Where a scan works, as far as its cut depends on it.
struct ScanPlacement {
  bool on_gpu = false;
  int ranks = 1;
  std::uint64_t slab_bytes = 0;  ///< as the user wants them, or 0
};

/// How a scan cuts a dataset: into blocks that ranks take in turns, these into pieces that threads
/// read and write. All are whole tiles.
struct ScanCut {
  std::uint64_t piece_elements = 0;
  std::uint64_t block_elements = 0;
  std::uint64_t granule = 0;  ///< blocks of whole granules share no chunk, or it is a tile

  /// With blocks that hold no more than `max_elements`, at least a tile.
  ScanCut limited_to(std::uint64_t max_elements) const;
};

/// Blocks large enough to be read and written in many pieces, and small enough that each rank has
/// several, of which some are read while others are written. Those of chunked datasets are whole
/// rows of chunks or many of them, so that few chunks are read for two blocks.
ScanCut cut_for_scan(const io::DatasetInfo& info, const ScanSpec& spec, const ScanPlacement& place);

/// The cut that all ranks can follow: some engines hold less than is wanted, at most
/// `engine_elements` in a block. Collective.
ScanCut agree_on_cut(const ScanCut& wanted, std::uint64_t engine_elements,
                     const mpi::Communicator& communicator);

/// The blocks of a scan: in superstep s, rank r of P has block s * P + r.
struct BlockNumbers {
  std::uint64_t elements = 0;
  std::uint64_t block_elements = 0;
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;

  std::uint64_t supersteps() const;
  ElementRange range(std::uint64_t superstep) const;  ///< this rank's; empty past the end
  std::uint64_t rank_of_last() const;                 ///< that has the last element
};

}  // namespace warpfold::pipeline
