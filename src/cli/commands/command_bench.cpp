#include <optional>
#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/bench_report.hpp"
#include "cli/report/report.hpp"
#include "cli/run/watched_run.hpp"
#include "mpi/environment.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

using Measure = bench::Result (*)(MPI_Comm, const bench::Settings&);

constexpr Choice<Measure> measurements[] = {{"reduce", bench::bench_reduce},
                                            {"scan", bench::bench_scan},
                                            {"combine", bench::bench_combine},
                                            {"collectives", bench::bench_collectives},
                                            {"ingest", bench::bench_ingest}};

constexpr Choice<Measure> ladders[] = {{"reduce", bench::ladder_reduce},
                                       {"scan", bench::ladder_scan},
                                       {"atomics", bench::ladder_atomics}};

constexpr const char* bench_examples = R"(warpfold bench reduce --types f32,f64 --sizes 64M,1G
warpfold bench ingest year.nc temp --kernels warpfold,raw
mpirun -np 4 warpfold bench combine)";

/// A measuring command measures WHAT it is told.
class MeasuringCommand : public Command {
 public:
  ExternalFiles external() const override { return common_.run.external; }

 protected:
  MeasuringCommand(CLI::App& program, const char* name, const char* description)
      : Command(program, name, description), name_(name) {}

  template <std::size_t Count>
  void add_what(const Choice<Measure> (&choices)[Count]) {
    const std::string words = words_of(choices);
    add_argument("WHAT", what_, words.c_str())->required()->type_name(words);
  }

  void add_types(const char* help) {
    add("--types", "NAME,...", help,
        [this](const std::string& text) { settings_.types = parse_names("--types", text); });
  }

  void add_kernels(const char* help) {
    add("--kernels", "NAME,...", help,
        [this](const std::string& text) { settings_.kernels = parse_names("--kernels", text); });
  }

  void add_iterations(const char* help) {
    constexpr std::uint64_t maximum = 1'000'000;
    add("--iterations", "N", help, [this](const std::string& text) {
      settings_.iterations = static_cast<int>(parse_integer("--iterations", text, 1, maximum));
    });
  }

  void refuse_cpu_backend() const {
    if (common_.run.backend != BackendChoice::cpu) return;
    throw usage_error("'" + name_ + " " + what_ + "' measures GPUs", "--backend cpu was given",
                      "Leave it out, or see warpfold_bench_host for the cpu backend.");
  }

  /// Measures and tells the results. No report may replace a file of `used`.
  void run_measure(const Session& session, Measure measure, const UsedFiles& used) {
    const auto compute = [&](const RunOptions& run) {
      settings_.run = run;
      return measure(session.communicator, settings_);
    };
    const auto report = [&](const bench::Result& result) {
      return bench_report(name_, what_, result);
    };
    const bench::Result result = run_and_report({name_, settings_.file, settings_.dataset}, session,
                                                common_, used, compute, report);
    refuse_wrong_results(result);
  }

  std::string name_;
  std::string what_;
  bench::Settings settings_;
  CommonOptions common_;
};

class BenchCommand : public MeasuringCommand {
 public:
  explicit BenchCommand(CLI::App& program)
      : MeasuringCommand(program, "bench",
                         "Measure kernels, what ranks exchange, or file to result") {
    add_what(measurements);
    add_argument("FILE", settings_.file, "ingest: an HDF5 file");
    add_argument("DATASET", settings_.dataset, "ingest: a dataset in it");
    add_options();
    add_common_options(application(), common_);
    show_examples(bench_examples);
  }

  void run(const Session& session) override {
    const Measure measure = parse_choice("measurement", what_, measurements);
    check_arguments();
    // What it measures is MPI, which a process alone is there without.
    std::optional<mpi::Environment> environment;
    if (what_ == "combine" && !mpi::is_running()) environment.emplace();
    run_measure(session, measure, {settings_.file, {{settings_.dataset}}, settings_.output});
  }

 private:
  void check_arguments() const {
    if (what_ == "ingest") {
      if (settings_.dataset.empty())
        throw usage_error("'bench ingest' needs FILE and DATASET", "",
                          "Name an HDF5 file and a dataset in it.");
      return;
    }
    if (!settings_.file.empty())
      throw usage_error("'bench " + what_ + "' takes no file", "'" + settings_.file + "' was given",
                        "Leave it out, or see 'bench ingest'.");
    if (!settings_.output.empty())
      throw usage_error("'bench " + what_ + "' writes no file", "--scan was given",
                        "Leave it out, or see 'bench ingest'.");
    if (!settings_.where.empty() || !settings_.mask.empty() || !settings_.weights.empty())
      throw usage_error("'bench " + what_ + "' reads no dataset",
                        "--where, --mask or --weights was given",
                        "Leave it out, or see 'bench ingest'.");
    if (what_ != "combine") refuse_cpu_backend();
  }

  void add_options() {
    add("--sizes", "LEAST:GREATEST|SIZE,...",
        "Bytes of a rank's larger array; the powers of 4 from 1K (of collectives from 64K) to 4G "
        "if not given",
        [this](const std::string& text) { settings_.sizes = parse_sizes("--sizes", text); });
    add_types("Element types, i8 to f64; of scans also u8:u64 and the like");
    add("--ops", "NAME,...",
        "What the kernels do; of reduce sum, statistics, extrema, of scan inclusive, exclusive, "
        "min, max, of collectives sum, statistics, inclusive, exclusive",
        [this](const std::string& text) { settings_.operations = parse_names("--ops", text); });
    add("--data", "NAME,...",
        "What floats there are; of reduce and scan uniform, walk, wide, drift, fill, cancel, "
        "subnormal, largest",
        [this](const std::string& text) { settings_.data = parse_names("--data", text); });
    add_kernels(
        "What is measured side by side; of reduce fold, CUB, read, copy, of scan bulk, registers, "
        "reproducible, CUB, copy, of collectives reduce, scan, fast, copy, of ingest H5Dread, "
        "warpfold, attributes, where, mask, weights, shared, raw, inflate, cp");
    add("--where", "CONDITION", "ingest: reduce with this condition, too",
        [this](const std::string& text) { settings_.where = {text}; });
    add("--mask", "[FILE::]DATASET", "ingest: reduce with this mask, too",
        [this](const std::string& text) { settings_.mask = text; });
    add("--weights", "[FILE::]DATASET|cos:DIMENSION", "ingest: reduce with these weights, too",
        [this](const std::string& text) { settings_.weights = text; });
    add("--scan", "FILE", "ingest: scan to this new file, too; it is removed afterwards",
        [this](const std::string& text) { settings_.output = text; });
    add_iterations("Measured runs of each; 21 if not given, of ingest 5");
  }
};

class LadderCommand : public MeasuringCommand {
 public:
  explicit LadderCommand(CLI::App& program)
      : MeasuringCommand(program, "ladder",
                         "Measure kernels from the naive to the fast, rung by rung") {
    add_what(ladders);
    add_types("Element types; of reduce u32, f32, f64, of scan i32, of atomics i32, u32");
    add("--elements", "N", "Elements of the array; 2^28 u32, 10^8 floats, 2^26 i32 if not given",
        [this](const std::string& text) {
          constexpr std::uint64_t maximum = std::uint64_t{1} << 40;
          settings_.elements = parse_integer("--elements", text, 1, maximum);
        });
    application().add_flag("--article", settings_.article,
                           "The articles' sizes; 2^30 u32, which one core has to draw");
    add_kernels("Rungs, and fold or scan, CUB and copy; all if not given");
    add_iterations("Measured runs of each; 21 if not given");
    add_common_options(application(), common_);
    show_examples("warpfold ladder reduce --types f32");
  }

  void run(const Session& session) override {
    const Measure measure = parse_choice("ladder", what_, ladders);
    refuse_cpu_backend();
    run_measure(session, measure, {});
  }
};

}  // namespace

std::unique_ptr<Command> make_bench_command(CLI::App& program) {
  return std::make_unique<BenchCommand>(program);
}

std::unique_ptr<Command> make_ladder_command(CLI::App& program) {
  return std::make_unique<LadderCommand>(program);
}

}  // namespace warpfold::cli
