#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/harness/across_ranks.hpp"
#include "bench/harness/selection.hpp"
#include "bench/ingest/ingest_candidates.hpp"
#include "bench/ingest/raw_file.hpp"
#include "bench/ingest/stored_ranges.hpp"
#include "core/layout/partition.hpp"
#include "io/files/posix_file.hpp"
#include "mpi/combine.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::bench {
namespace {

/// Bytes that fit into a core's cache.
constexpr std::uint64_t copy_piece_bytes = 1 << 20;

/// The digest of the first output, on which all outputs have to agree.
class AgreedOutput {
 public:
  AgreedOutput(const IngestRun& run, const std::string& file) : run_(run), file_(file) {}

  /// Returns whether the output that is there now agrees. Collective. Throws Error.
  bool agrees(const std::string& dataset) {
    const std::uint64_t digest = digest_now(dataset);
    if (!first_) first_ = digest;
    return *first_ == digest;
  }

 private:
  std::uint64_t digest_now(const std::string& dataset) const {
    const mpi::Communicator& ranks = run_.communicator;
    const io::Dataset output = pipeline::open_everywhere(file_, dataset, ranks);
    std::uint64_t digest = 0;
    pipeline::run_on_all(ranks, [&] {
      const auto pieces =
          stored_pieces(output.info(), ranks.size(), ranks.rank(), copy_piece_bytes);
      if (pieces) digest = digest_of(file_, *output.info().file_offset, *pieces, run_.threads);
    });
    return mpi::broadcast(mpi::exclusive_sum(digest, ranks) + digest, ranks, ranks.size() - 1);
  }

  const IngestRun& run_;
  const std::string& file_;
  std::optional<std::uint64_t> first_;
};

std::uint64_t file_bytes(const std::string& file) {
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(file, failure);
  if (failure)
    throw Error("cannot read '" + file + "'", io::describe_errno(failure.value()),
                "Check the path.");
  return bytes;
}

Row row_of(const IngestRun& run, std::string operation, std::string kernel, std::uint64_t bytes) {
  return {.group = "scan " + std::string(name_of(run.info.format.type)),
          .operation = std::move(operation),
          .kernel = std::move(kernel),
          .clock = Clock::host,
          .elements = run.info.elements,
          .bytes = bytes,
          .useful_bytes = bytes};
}

Candidate prefix_sums(const IngestRun& run, const ScanOutputs& outputs, Row row, ReadPath path,
                      const std::shared_ptr<AgreedOutput>& agreed) {
  ScanOptions options;
  options.view.raw = true;
  options.run = run.settings.run;
  if (path != ReadPath::automatic) options.run.read_path = path;
  options.output.path = outputs.scanned();
  options.output.dataset = "scan";
  return {.row = std::move(row),
          .run =
              [&run, options](std::uint64_t) {
                scan(run.communicator.get(), run.settings.file, run.settings.dataset, options);
              },
          .before = [&outputs] { outputs.remove(); },
          .after =
              [&run, agreed, options](Row& judged) {
                const bool right = agreed->agrees(options.output.dataset);
                judged.check = std::max(judged.check, check_of_ranks(right, run.communicator));
              }};
}

/// Copies the whole input file, a part of it by each rank.
Candidate copying(const IngestRun& run, const ScanOutputs& outputs, Row row) {
  row.ceiling = true;
  row.title = threads_text(run.threads);
  const ElementRange mine =
      partition(row.bytes, copy_piece_bytes, static_cast<std::uint64_t>(run.communicator.size()),
                static_cast<std::uint64_t>(run.communicator.rank()));
  const std::vector<io::FileBytes> pieces =
      split_into_pieces({mine.first, mine.count}, copy_piece_bytes);
  return {.row = std::move(row),
          .run =
              [&run, &outputs, pieces](std::uint64_t) {
                copy_pieces(run.settings.file, outputs.copied(), pieces, run.threads);
              },
          .before =
              [&outputs] {
                outputs.remove();
                outputs.create_copy();
              }};
}

}  // namespace

ScanOutputs::ScanOutputs(const IngestRun& run)
    : communicator_(run.communicator),
      scanned_(run.settings.output),
      copied_(run.settings.output + ".copy") {
  pipeline::run_on_root(communicator_, [&] {
    for (const std::string& file : {scanned_, copied_})
      if (std::filesystem::exists(std::filesystem::symlink_status(file)))
        throw usage_error("'" + file + "' exists", "the measurement would remove it",
                          "Name another output.");
  });
}

ScanOutputs::~ScanOutputs() {
  if (!communicator_.is_root()) return;
  ::unlink(scanned_.c_str());
  ::unlink(copied_.c_str());
}

void ScanOutputs::remove() const {
  pipeline::run_on_root(communicator_, [&] {
    for (const std::string& file : {scanned_, copied_})
      if (::unlink(file.c_str()) != 0 && errno != ENOENT)
        throw Error("cannot remove '" + file + "'", io::describe_errno(errno), "");
  });
}

void ScanOutputs::create_copy() const {
  pipeline::run_on_root(communicator_, [&] {
    constexpr int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
    if (!io::FileDescriptor(::open(copied_.c_str(), flags, 0666)))
      throw Error("cannot create '" + copied_ + "'", io::describe_errno(errno),
                  "Check the folder.");
  });
}

std::vector<Candidate> scan_candidates(const IngestRun& run, const ScanOutputs& outputs,
                                       const std::vector<std::string>& kernels) {
  std::uint64_t bytes = 0;
  pipeline::run_on_all(run.communicator, [&] { bytes = file_bytes(run.settings.file); });
  const auto agreed = std::make_shared<AgreedOutput>(run, outputs.scanned());
  std::vector<Candidate> candidates;
  const auto add = [&](const char* kernel, ReadPath path) {
    if (contains(kernels, kernel))
      candidates.push_back(
          prefix_sums(run, outputs, row_of(run, "inclusive", kernel, bytes), path, agreed));
  };
  add("H5Dread", ReadPath::library);
  add("warpfold", ReadPath::automatic);
  if (contains(kernels, "cp"))
    candidates.push_back(copying(run, outputs, row_of(run, "copy", "cp", bytes)));
  return candidates;
}

}  // namespace warpfold::bench
