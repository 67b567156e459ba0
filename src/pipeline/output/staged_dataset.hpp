#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/hyperslab.hpp"
#include "io/dataset/dataset.hpp"
#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/output/chunk_store.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Describes the file that the options ask for, whose first dataset still lacks shape and format.
io::OutputSpec describe_output(const OutputOptions& options);

/// Describes a file of what is computed from a dataset: it carries the input's attributes over, but
/// for the `dropped` ones, keeps the dimensions that are selected, and its first dataset has the
/// input's name where the options have none. Its notes are the run's, which has to outlive it.
io::OutputSpec describe_output(const OutputOptions& options, const io::DatasetInfo& input,
                               std::vector<std::string> dropped, Run& run);

/// Says that outputs have one dimension, whose places are none of the input's, called as the first
/// output with `suffix` behind.
void merge_dimensions(io::OutputSpec& output, const std::string& suffix);

/// Chooses a chunk shape where the options ask for one, or for filters and give none: consecutive
/// elements of a dataset of `shape`, about 4 MiB. A scalar stays contiguous.
StorageOptions with_chunk_shape(StorageOptions storage, std::span<const std::uint64_t> shape,
                                std::size_t element_bytes);

/// Gives all datasets of a file, which have their formats, this shape, and storage as the options
/// ask for. Throws a usage Error where these don't fit.
void set_shape(io::OutputSpec& output, const std::vector<std::uint64_t>& shape,
               const StorageOptions& storage);

/// An output file gets its datasets one after another, and its name at the end. Members are
/// collective and throw the same Error on every rank; a file that is not committed is removed.
class OutputFile {
 public:
  explicit OutputFile(const mpi::Communicator& communicator) : communicator_(communicator) {}

  /// Returns once all is on storage and the file has its name; adds how long that took to the
  /// stages of a run of `communicator`.
  void commit(RunReport& report, StageRegistry& stages);

  /// Likewise where the file is that of several datasets: adds to the last one's stages.
  template <class Result>
  void commit(std::vector<DatasetOutcome<Result>>& outcomes, StageRegistry& stages) {
    const auto last = std::find_if(outcomes.rbegin(), outcomes.rend(),
                                   [](const auto& each) { return each.skipped.empty(); });
    RunReport none;
    commit(last == outcomes.rend() ? none : last->result.report, stages);
  }

 private:
  friend class StagedDataset;

  const mpi::Communicator& communicator_;
  std::optional<io::StagedFile> file_;  ///< on the root
  std::optional<io::ContiguousWriter>
      written_;  ///< on other ranks that write: syncs what they wrote
};

/// Staged datasets are added to an output file by the root, and all ranks write into them. Members
/// are collective and throw the same Error on every rank; what is not finished is not in the file.
class StagedDataset {
 public:
  /// `spec` counts on the root alone, but for its path and the number of its datasets.
  StagedDataset(const io::OutputSpec& spec, OutputFile& file);
  ~StagedDataset();
  StagedDataset(const StagedDataset&) = delete;
  StagedDataset& operator=(const StagedDataset&) = delete;

  /// Returns where this rank writes a contiguous dataset; none if it has no elements or is chunked.
  io::ContiguousWriter* writer(std::size_t dataset = 0) {
    return writers_[dataset] ? &*writers_[dataset] : nullptr;
  }

  const std::string& temporary_path() const { return temporary_path_; }

  /// Returns where in the file a contiguous dataset begins that has elements.
  std::uint64_t data_offset(std::size_t dataset = 0) const { return data_offsets_[dataset]; }

  /// Returns where in the file a chunk of a dataset has to be written, given its number in
  /// row-major order. On the root alone.
  std::uint64_t allocate_chunk(std::uint64_t number, const io::ChunkSize& size,
                               std::size_t dataset) {
    return file_.file_->allocate_chunk(number, size, dataset);
  }

  /// Writes bytes of chunks at places in the file, on any rank. Threads may write at once.
  io::ContiguousWriter& chunk_writer() { return *chunk_writer_; }

  /// Gives the datasets their names, once all is written.
  void finish();

 private:
  OutputFile& file_;
  bool is_finished_ = false;
  std::string temporary_path_;
  std::vector<std::uint64_t> data_offsets_;
  std::vector<std::optional<io::ContiguousWriter>> writers_;
  std::optional<io::ContiguousWriter> chunk_writer_;  ///< none unless the datasets are chunked
};

/// Staged datasets of one shape, of which all are contiguous or all chunked. Chunked ones are
/// either packed as their elements come, or written contiguous, which finish() packs: into memory
/// of all ranks, or a scratch file where that has no room. Or, where the file has no name, arrays
/// in the root's memory. Members are collective and throw the same Error on every rank; what is
/// not finished is not in the file.
class ArrayOutput {
 public:
  /// `spec` counts on the root alone, but for its path and its datasets' shapes, formats and
  /// storage. `mine`: elements of each that this rank writes; none: about as many as others.
  ArrayOutput(const io::OutputSpec& spec, OutputFile& file, Run& run,
              std::optional<std::uint64_t> mine = std::nullopt);

  const io::OutputSpec& spec() const { return spec_; }

  bool is_chunked() const { return !spec_.storage.chunk_shape.empty(); }

  /// Returns the datasets themselves, for chunks.
  StagedDataset& staged() { return *staged_; }

  /// Returns where this rank writes all elements of a dataset; none if it has no elements. Makes
  /// room for all that is chunked, or in memory.
  io::ContiguousWriter* writer(std::size_t dataset = 0);

  /// Gives the datasets their names, once all is written. Packs what was written contiguous to be
  /// chunked; returns the timings of that. Brings arrays in memory to the root.
  std::vector<StageTiming> finish();

  /// Returns the elements of an array in memory, on the root; nothing where it is a dataset's fill
  /// value.
  std::vector<Value> values(std::size_t dataset) const;

 private:
  std::uint64_t elements() const { return product(spec_.shape); }
  std::size_t element_bytes(std::size_t dataset) const {
    return size_of(spec_.dataset_at(dataset).format.type);
  }
  ChunkGrid grid(std::size_t dataset) const;
  std::uint64_t memory_bytes() const;
  void make_room();
  std::vector<StageTiming> pack(std::size_t dataset);

  Run& run_;
  io::OutputSpec spec_;
  std::optional<std::uint64_t> mine_;
  std::optional<StagedDataset> staged_;
  std::deque<ChunkStore> stores_;            ///< the datasets in memory
  OutputFile scratch_;                       ///< never committed
  std::optional<StagedDataset> contiguous_;  ///< the same datasets in it
};

}  // namespace warpfold::pipeline
