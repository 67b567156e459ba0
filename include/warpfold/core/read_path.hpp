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

/// An HDF5 file may name other files: external raw files, sources of virtual datasets and targets
/// of external links. They decide which of these may be read: `any`; those of `same_folder`, whose
/// canonical paths lie in the folder of the canonical path of the file that names them; or `none`.
enum class ExternalFiles : std::uint8_t { any, same_folder, none };

}  // namespace warpfold
