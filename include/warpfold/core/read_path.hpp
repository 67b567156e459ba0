#pragma once

#include <cstdint>

namespace warpfold {

/// A read path is how a dataset's bytes are fetched. `direct`: byte ranges of the file (contiguous
/// datasets, and chunks without filters); `chunk`: stored chunks, whose filters warpfold undoes;
/// `library`: the HDF5 library reads, which it can for every dataset.
enum class ReadPath : std::uint8_t { automatic, direct, chunk, library };

/// The file cache is the operating system's: files are read through it or past it (O_DIRECT).
/// `automatic`: past it where a file isn't in it and that is measured to be faster.
enum class FileCache : std::uint8_t { automatic, through, past };

}  // namespace warpfold
