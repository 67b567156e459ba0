#pragma once

#include <memory>

#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Undoes HDF5's szip filter by libaec; none where this build has no libaec, and for parameters
/// that HDF5 does not choose. A chunk has its bytes in 4, little-endian, and then lines of samples,
/// each of whole blocks. Samples of 4 and 8 bytes were taken apart, as by the shuffle filter.
std::unique_ptr<FilterStep> make_szip_step(const Filter& filter);

}  // namespace warpfold::io
