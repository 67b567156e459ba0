#pragma once

#include <cstdint>

namespace warpfold {

/// Access to a dataset's bytes. `direct`: byte ranges of the file (contiguous datasets, and
/// chunks without filters); `chunk`: stored chunks, whose filters warpfold undoes; `library`: by
/// the HDF5 library, for every dataset.
enum class ReadPath : std::uint8_t { automatic, direct, chunk, library };

/// Use of the operating system's file cache: read through it, or bypass it (O_DIRECT). `automatic`:
/// bypass it for a file that isn't cached, if that is measured to be faster.
enum class FileCache : std::uint8_t { automatic, through, past };

/// Other files that an HDF5 file names and that may be read: external raw files, sources of virtual
/// datasets and targets of external links. `same_folder`: files whose canonical path lies in the
/// folder of the canonical path of the file that names them.
enum class ExternalFiles : std::uint8_t { any, same_folder, none };

}  // namespace warpfold
