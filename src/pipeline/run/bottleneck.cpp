#include "pipeline/run/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine/stream_engines.hpp"
#include "io/chunks/chunk_source.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// A stage as a sentence has it, and what to do where it is the slowest.
struct Remedy {
  std::string_view stage;
  std::string_view activity;
  std::string_view advice;
};

constexpr std::string_view start_advice = "it matters less for larger data";

constexpr Remedy remedies[] = {
    {stage::start_mpi, "starting MPI", start_advice},
    {stage::start_gpu, "starting the GPU", start_advice},
    {stage::open, "opening", start_advice},
    {stage::reserve, "reserving the output's space", "a faster file system helps"},
    {stage::read, "reading",
     "more ranks and, unless HDF5 reads, more threads (`threads`) help unless the file "
     "system is the limit"},
    {stage::decompress, "decompressing", "more cores help: `threads`, or ranks on other hosts"},
    {stage::copy_to_gpu, "copying to the GPU", "more GPUs help, with a rank each"},
    {stage::decompress_on_gpu, "decompressing on the GPU", "more GPUs help, with a rank each"},
    {stage::reduce, "folding", "more cores or a GPU help"},
    {stage::reduce_on_cores, "folding on cores", "more cores or GPUs help"},
    {stage::scan, "scanning", "more cores or GPUs help"},
    {stage::compact, "selecting elements", "more cores or GPUs help"},
    {stage::exscan, "exchanging totals", "larger blocks or fewer ranks help"},
    {stage::copy_from_gpu, "copying from the GPU", "more GPUs help, with a rank each"},
    {stage::generate, "generating elements", "more cores or ranks help"},
    {stage::read_back, "reading back the temporary file", "larger chunks or whole rows help"},
    {stage::finish, "finishing statistics", "more cores help: `threads`, or ranks on other hosts"},
    {stage::compress, "compressing", "more cores or ranks, or a lower `deflate_level` help"},
    {stage::sync, "syncing to storage", "a faster file system helps"},
    {stage::write, "writing",
     "more threads (`threads`) or ranks help unless the file system is the limit"},
    {stage::combine, "combining the ranks' results", "fewer ranks suffice for so little data"},
};

Remedy remedy_for(std::string_view name) {
  const auto* const found = std::find_if(std::begin(remedies), std::end(remedies),
                                         [&](const Remedy& each) { return each.stage == name; });
  return found == std::end(remedies) ? Remedy{name, name, "it limits the run"} : *found;
}

std::string percent(double part, double whole) {
  return std::to_string(std::lround(100 * part / whole)) + "%";
}

/// Returns a whole number of GB/s where that says enough, otherwise a tenth of one.
std::string rate_text(double bytes_per_second) {
  const double tenths = std::round(bytes_per_second / 1e8);
  if (tenths >= 100) return std::to_string(std::lround(tenths / 10)) + " GB/s";
  const auto whole = static_cast<long>(tenths) / 10;
  return std::to_string(whole) + "." + std::to_string(static_cast<long>(tenths) % 10) + " GB/s";
}

/// Bytes of elements per second, for one thread unless stated otherwise.
namespace expected {
constexpr double read_in_page_cache = 8e9;
constexpr double read_by_library = 8e9;
constexpr double library_with_filters = 0.25e9;
constexpr double inflate = 0.55e9;
constexpr double other_filters = 2e9;
constexpr double reduce_on_core = 6e9;
constexpr double order_on_core =
    0.45e9;                             ///< one quantile along axes of elements of 4 bytes or more
constexpr double order_on_gpu = 200e9;  ///< one quantile along axes, in the memory of one GPU
constexpr double copy_to_gpu = 50e9;    ///< rate of one GPU
constexpr double decompress_on_gpu = 90e9;  ///< rate of one GPU
constexpr double gpu_start_seconds = 0.35;
}  // namespace expected

double core_rate(bool deflated) { return deflated ? expected::inflate : expected::other_filters; }

/// How long a thread takes over a byte of elements.
struct ThreadStage {
  std::string_view name;
  double seconds_per_byte;
};

double library_rate(const io::DatasetInfo& info) {
  return info.filters.empty() ? expected::read_by_library : expected::library_with_filters;
}

/// Bytes that are stored for a byte of elements.
double stored_share(const io::DatasetInfo& info) {
  return static_cast<double>(io::bytes_to_read(info)) /
         static_cast<double>(info.elements * size_of(info.format.type));
}

/// Returns the rate at which a core gathers elements and finds quantiles along axes. Of each
/// further quantile it compares keys again, which takes a third of that time; narrow elements take
/// as long as those of 4 bytes.
double order_rate_of_core(const io::DatasetInfo& info, std::uint64_t line_quantiles) {
  const double width = std::min(1.0, static_cast<double>(size_of(info.format.type)) / 4);
  return expected::order_on_core * width / (2 + static_cast<double>(line_quantiles)) * 3;
}

std::vector<ThreadStage> thread_stages(const io::DatasetInfo& info, bool gpu, bool gpu_decompresses,
                                       std::uint64_t line_quantiles) {
  std::vector<ThreadStage> stages;
  if (info.path == ReadPath::library) {
    stages.push_back({stage::read, 1 / library_rate(info)});
  } else {
    stages.push_back({stage::read, stored_share(info) / expected::read_in_page_cache});
  }
  if (info.path == ReadPath::chunk && !gpu_decompresses) {
    stages.push_back(
        {stage::decompress, 1 / core_rate(io::has_filter(info, io::filter_id::deflate))});
  }
  if (!gpu)
    stages.push_back(
        {stage::reduce, 1 / (line_quantiles > 0 ? order_rate_of_core(info, line_quantiles)
                                                : expected::reduce_on_core)});
  return stages;
}

/// The stage that a rank waits for, the bytes of elements a second that it goes through, and the
/// seconds that the last of them take, however few there are.
struct Pace {
  std::string_view stage;
  double rate;
  double latency;

  void limit(std::string_view name, double bytes_per_second) {
    if (bytes_per_second < rate) *this = {name, bytes_per_second, latency};
  }
};

Pace pace_of(const io::DatasetInfo& info, int threads, int ranks, bool gpu,
             std::uint64_t line_quantiles = 0) {
  const bool gpu_decompresses = gpu && has_many_compressed(info, threads, ranks);
  const std::vector<ThreadStage> stages =
      thread_stages(info, gpu, gpu_decompresses, line_quantiles);
  double seconds_per_byte = 0;
  for (const ThreadStage& each : stages) seconds_per_byte += each.seconds_per_byte;
  const auto slowest = std::ranges::max_element(stages, {}, &ThreadStage::seconds_per_byte);
  const bool one_at_a_time = info.path == ReadPath::library;
  Pace pace{slowest->name, one_at_a_time ? library_rate(info) : threads / seconds_per_byte, 0};
  if (!gpu) return pace;
  pace.limit(stage::copy_to_gpu,
             expected::copy_to_gpu / (gpu_decompresses ? stored_share(info) : 1));
  if (gpu_decompresses) {
    pace.latency = expected_chunk_seconds(*io::left_form(info)).of_gpu;
    pace.limit(stage::decompress_on_gpu, expected::decompress_on_gpu);
  }
  if (line_quantiles > 0)
    pace.limit(stage::reduce, expected::order_on_gpu / static_cast<double>(line_quantiles));
  return pace;
}

double expected_seconds(const io::DatasetInfo& info, int threads, int ranks, bool gpu,
                        std::uint64_t line_quantiles) {
  const double bytes = static_cast<double>(info.elements * size_of(info.format.type));
  const Pace pace = pace_of(info, threads, ranks, gpu, line_quantiles);
  return bytes / ranks / pace.rate + pace.latency;
}

bool is_of_start(const StageTiming& timing) {
  return timing.stage == stage::start_mpi || timing.stage == stage::start_gpu ||
         timing.stage == stage::open || timing.stage == stage::reserve;
}

/// Returns how long the program took before the run began.
double seconds_before(const RunReport& run) {
  return !run.stages.empty() && run.stages.front().stage == stage::start_mpi
             ? run.stages.front().seconds
             : 0;
}

std::string expectation(std::string_view name, double bytes_per_second) {
  const Remedy remedy = remedy_for(name);
  return std::string(remedy.activity) + ", about " + rate_text(bytes_per_second) +
         " a rank: " + std::string(remedy.advice);
}

}  // namespace

std::string measured_bottleneck(const RunReport& run) {
  if (run.stages.empty()) return {};
  const auto shorter = [](const StageTiming& a, const StageTiming& b) {
    return a.seconds < b.seconds;
  };
  const auto data = std::find_if_not(run.stages.begin(), run.stages.end(), is_of_start);
  const auto start = std::max_element(run.stages.begin(), data, shorter);
  const auto slowest = std::max_element(data, run.stages.end(), shorter);
  const double busy = slowest == run.stages.end() ? 0 : slowest->seconds;
  // Stages of one of several passes do not span the others.
  double streaming = 0;
  for (auto stage = data; stage != run.stages.end(); ++stage)
    streaming = std::max(streaming, stage->seconds + stage->waiting);
  const double whole = run.seconds + seconds_before(run);
  const bool has_longer_start = start != data && start->seconds > busy;
  if (streaming >= whole / 2 && !has_longer_start) {
    const Remedy remedy = remedy_for(slowest->stage);
    return std::string(remedy.activity) + ", busy " + percent(busy, busy + slowest->waiting) +
           " of the time: " + std::string(remedy.advice);
  }
  const bool is_known = has_longer_start && start->seconds >= (whole - streaming) / 2;
  const Remedy remedy =
      is_known ? remedy_for(start->stage) : Remedy{"", "starting up", start_advice};
  return std::string(remedy.activity) + ", " +
         percent(is_known ? start->seconds : whole - streaming, whole) +
         " of the time: " + std::string(remedy.advice);
}

std::uint64_t chunks_of_cores_meanwhile(const CompressedForm& form, std::uint64_t cores) {
  // A GPU takes long for data compressed as one stream, hardly longer than a core for data cut into
  // blocks.
  const std::uint64_t of_core = form.chunk_blocks == 1 ? 40 : 8;
  return of_core * cores;
}

ChunkSeconds expected_chunk_seconds(const CompressedForm& form) {
  const double of_core =
      static_cast<double>(form.chunk_bytes) / core_rate(form.compression == Compression::zlib);
  return {of_core, of_core * static_cast<double>(chunks_of_cores_meanwhile(form, 1))};
}

bool has_many_compressed(const io::DatasetInfo& info, int threads, int ranks) {
  const std::optional<CompressedForm> form = io::left_form(info);
  return form && io::grid_of(info).chunks() / static_cast<std::uint64_t>(ranks) >=
                     chunks_of_cores_meanwhile(*form, static_cast<std::uint64_t>(threads));
}

bool cores_are_sooner(const io::DatasetInfo& info, int threads, int ranks,
                      std::uint64_t line_quantiles) {
  if (info.elements == 0 || line_quantiles > most_engine_quantiles) return true;
  return expected_seconds(info, threads, ranks, false, line_quantiles) <
         expected::gpu_start_seconds + expected_seconds(info, threads, ranks, true, line_quantiles);
}

std::string expected_bottleneck(const io::DatasetInfo& info, int threads, int ranks, bool gpu) {
  if (info.elements == 0) return {};
  const Pace pace = pace_of(info, threads, ranks, gpu);
  return expectation(pace.stage, pace.rate);
}

}  // namespace warpfold::pipeline
