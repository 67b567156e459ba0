#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/output/output.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// An output file whose datasets the root stages and all ranks write into. Members are collective
/// and throw the same Error on every rank; what is not committed is removed.
class StagedDataset {
 public:
  /// `spec` counts on the root alone, but for its path and the number of its datasets.
  StagedDataset(const io::OutputSpec& spec, const mpi::Communicator& communicator);

  /// Where this rank writes a contiguous dataset; none if it has no elements or is chunked.
  io::ContiguousWriter* writer(std::size_t dataset = 0) {
    return writers_[dataset] ? &*writers_[dataset] : nullptr;
  }

  const std::string& temporary_path() const { return temporary_path_; }

  /// Of a contiguous dataset that has elements.
  std::uint64_t data_offset(std::size_t dataset = 0) const { return data_offsets_[dataset]; }

  void commit();

 private:
  const mpi::Communicator& communicator_;
  std::optional<io::StagedFile> file_;
  std::string temporary_path_;
  std::vector<std::uint64_t> data_offsets_;
  std::vector<std::optional<io::ContiguousWriter>> writers_;
};

}  // namespace warpfold::pipeline
