#pragma once

#include <functional>
#include <optional>

#include "io/output.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// An output dataset that the root stages and all ranks write into. Members are collective and
/// throw the same Error on every rank; what is not committed is removed.
class StagedDataset {
 public:
  /// `spec` counts on the root alone, but for its path.
  StagedDataset(const io::OutputSpec& spec, const mpi::Communicator& communicator);

  /// Where this rank writes a contiguous dataset; none if it has no elements or is chunked.
  io::ContiguousWriter* writer() { return writer_ ? &*writer_ : nullptr; }

  const std::string& temporary_path() const { return temporary_path_; }

  /// Of a contiguous dataset that has elements.
  std::uint64_t data_offset() const { return data_offset_; }

  void commit();

 private:
  const mpi::Communicator& communicator_;
  std::optional<io::StagedFile> file_;
  std::string temporary_path_;
  std::uint64_t data_offset_ = 0;
  std::optional<io::ContiguousWriter> writer_;
};

}  // namespace warpfold::pipeline
