#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// Settings of `bench` and `ladder`. Empty lists mean the usual choice.
struct MeasuringSettings {
  std::vector<std::uint64_t> sizes;       ///< bytes of a rank's larger array, ascending
  std::vector<std::string> types;         ///< "f32"; of scans also "u8:u64"
  std::vector<std::string> operations;    ///< "sum", "inclusive"
  std::vector<std::string> data;          ///< "uniform", "wide"
  std::vector<std::string> kernels;       ///< "fold", "CUB", "copy", names of a ladder's variants
  std::optional<int> iterations;          ///< measured runs; 21 if not given, of ingest 5
  std::optional<std::uint64_t> elements;  ///< elements of a ladder's array
  bool article = false;                   ///< a ladder of as many elements as the articles have
  std::string file;                       ///< ingest's input file
  std::string dataset;                    ///< dataset in ingest's input file
  std::vector<std::string> where;         ///< conditions on ingest's elements; empty: none
  std::string mask;                       ///< mask of ingest's elements; empty: none
  std::string weights;                    ///< weights of ingest's elements; empty: none
  std::string output;                     ///< output of ingest's scans, a new file; empty: no scans
  RunOptions run;  ///< backend, threads, device memory and whether ranks may share a GPU
};

}  // namespace warpfold::cli
