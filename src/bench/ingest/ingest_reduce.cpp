#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/harness/selection.hpp"
#include "bench/ingest/inflate_probe.hpp"
#include "bench/ingest/ingest_candidates.hpp"
#include "bench/ingest/raw_file.hpp"
#include "bench/ingest/stored_ranges.hpp"
#include "bench/ingest/transfer_lane.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::bench {
namespace {

bool same_bits(const Value& a, const Value& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

/// What every run has to agree on: the first value told of each statistic.
class AgreedSummary {
 public:
  bool agrees(const Summary& summary) {
    bool all_same = true;
    for (const auto& [statistic, value] : summary) {
      const auto [known, is_new] = values_.emplace(statistic, value);
      all_same = all_same && same_bits(known->second, value);
    }
    return all_same;
  }

 private:
  std::map<Statistic, Value> values_;
};

std::uint64_t stored_bytes(const io::DatasetInfo& info) {
  return info.layout == io::Layout::chunked ? info.stored_bytes
                                            : info.elements * size_of(info.format.type);
}

std::string_view name_of(ReadPath path) {
  constexpr std::string_view names[] = {"automatic", "direct", "chunk", "library"};
  return names[static_cast<std::size_t>(path)];
}

Row row_of(const IngestRun& run, std::string operation, std::string kernel) {
  Row row;
  row.group = "reduce " + std::string(warpfold::name_of(run.info.format.type)) + ", " +
              std::string(name_of(run.info.path)) + " path";
  row.operation = std::move(operation);
  row.kernel = std::move(kernel);
  row.clock = Clock::host;
  row.elements = run.info.elements;
  row.bytes = stored_bytes(run.info);
  row.useful_bytes = row.bytes;
  if (!run.info.filters.empty())
    row.element_bytes = run.info.elements * size_of(run.info.format.type);
  return row;
}

IngestCandidate reduction(const IngestRun& run, Row row, std::vector<Statistic> statistics,
                          ReadPath path, const std::shared_ptr<AgreedSummary>& agreed) {
  ReduceOptions options;
  options.statistics = std::move(statistics);
  options.run = run.settings.run;
  if (path != ReadPath::automatic) options.run.read_path = path;
  const auto result = std::make_shared<ReduceResult>();
  return {std::move(row),
          {},
          [&run, options, result] {
            return seconds_of([&] {
              *result =
                  reduce(run.communicator.get(), run.settings.file, run.settings.dataset, options);
            });
          },
          [result, agreed] { return agreed->agrees(result->summary); }};
}

/// Nothing where the dataset has no bytes of its own in the file.
std::optional<IngestCandidate> raw_read(const IngestRun& run) {
  Row row = row_of(run, "read", "raw");
  row.ceiling = true;
  row.title = threads_text(run.threads) + (run.on_gpu ? ", copy to the GPU" : "");
  std::shared_ptr<RawRead> raw;
  pipeline::run_on_all(run.communicator, [&] {
    auto pieces =
        stored_pieces(run.info, run.communicator.size(), run.communicator.rank(), run.piece_bytes);
    if (!pieces) return;
    std::vector<std::unique_ptr<TransferLane>> lanes;
    const auto make_lane = run.on_gpu ? make_gpu_lane : make_host_lane;
    for (int i = 0; i < run.threads; ++i) lanes.push_back(make_lane(run.piece_bytes));
    raw = std::make_shared<RawRead>(run.info.stored_file, std::move(*pieces), std::move(lanes));
  });
  if (!raw) return std::nullopt;
  const auto read_all = [&run, raw] {
    return seconds_of([&] { pipeline::run_on_all(run.communicator, [&] { raw->run(); }); });
  };
  return IngestCandidate{std::move(row), {}, read_all, {}};
}

/// The time that a rank's part of the dataset takes where its sample took what it took.
double scaled_to_dataset(const IngestRun& run, double seconds, std::uint64_t decoded_bytes) {
  const auto elements = static_cast<double>(run.info.elements);
  const double bytes = elements * static_cast<double>(size_of(run.info.format.type)) /
                       static_cast<double>(run.communicator.size());
  return decoded_bytes == 0 ? 0.0 : seconds * bytes / static_cast<double>(decoded_bytes);
}

void add_inflating(const IngestRun& run, std::vector<IngestCandidate>& candidates) {
  std::shared_ptr<InflateProbe> probe;
  pipeline::run_on_all(run.communicator, [&] {
    probe = std::make_shared<InflateProbe>(run.info, run.communicator.size(),
                                           run.communicator.rank(), run.threads);
  });
  const auto add = [&](const std::string& operation, bool ceiling, auto&& seconds_of_sample) {
    Row row = row_of(run, operation, "inflate");
    row.ceiling = ceiling;
    candidates.push_back({std::move(row),
                          {},
                          [&run, probe, seconds_of_sample] {
                            double seconds = 0;
                            pipeline::run_on_all(run.communicator,
                                                 [&] { seconds = seconds_of_sample(*probe); });
                            return scaled_to_dataset(run, seconds, probe->sample_bytes());
                          },
                          {}});
  };
  add(std::to_string(run.threads) + " x one core", true, [](InflateProbe& sample) {
    return seconds_of([&] { sample.run_on_one_core(); }) / sample.threads();
  });
  add(threads_text(run.threads), false, [](InflateProbe& sample) {
    return seconds_of([&] { sample.run_on_all_threads(); }) / sample.threads();
  });
}

}  // namespace

std::vector<IngestCandidate> reduce_candidates(const IngestRun& run,
                                               const std::vector<std::string>& kernels) {
  const std::vector<Statistic> all(std::begin(all_statistics), std::end(all_statistics));
  const auto agreed = std::make_shared<AgreedSummary>();
  std::vector<IngestCandidate> candidates;
  if (contains(kernels, "H5Dread"))
    candidates.push_back(
        reduction(run, row_of(run, "statistics", "H5Dread"), all, ReadPath::library, agreed));
  if (contains(kernels, "warpfold")) {
    candidates.push_back(
        reduction(run, row_of(run, "statistics", "warpfold"), all, ReadPath::automatic, agreed));
    candidates.push_back(reduction(run, row_of(run, "sum", "warpfold"), {Statistic::sum},
                                   ReadPath::automatic, agreed));
  }
  if (contains(kernels, "raw") && run.info.path != ReadPath::library)
    if (auto raw = raw_read(run)) candidates.push_back(std::move(*raw));
  if (contains(kernels, "inflate") && run.info.path == ReadPath::chunk)
    add_inflating(run, candidates);
  return candidates;
}

}  // namespace warpfold::bench
