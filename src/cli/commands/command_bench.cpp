#include <optional>
#include <string>
#include <vector>

#include "bench/harness/bench.hpp"
#include "bench/ingest/ingest_bench.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/bench_report.hpp"
#include "cli/report/report.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

using Measure = bench::Result (*)(MPI_Comm, const bench::Settings&);

constexpr Choice<Measure> measurements[] = {{"reduce", bench::bench_reduce},
                                            {"scan", bench::bench_scan},
                                            {"combine", bench::bench_combine},
                                            {"collectives", bench::bench_collectives},
                                            {"ingest", nullptr}};

class BenchCommand : public Command {
 public:
  explicit BenchCommand(CLI::App& program)
      : Command(program, "bench",
                "Measure kernels beside CUB and a copy, the ranks' exchange, reductions and scans "
                "over all ranks' GPUs, or the way from file to result") {
    application()
        .add_option("WHAT", what_, "reduce, scan, combine, collectives or ingest")
        ->required()
        ->type_name("");
    application().add_option("FILE", file_, "ingest: an HDF5 file")->type_name("");
    application().add_option("DATASET", dataset_, "ingest: a dataset in it")->type_name("");
    add_options();
    add_common_options(application(), common_);
  }

  void run(const Session& session) override {
    const Measure measure = parse_choice("measurement", what_, measurements);
    const bool of_file = measure == nullptr;
    check_arguments(of_file);
    ReportOutputs outputs(session, common_, files());
    const RunSubject subject{"bench", file_, dataset_};
    const bench::Result result =
        progress_monitored(subject, session, common_, outputs, [&](const RunOptions& run) {
          return of_file ? bench_ingest(session.communicator, ingest_settings(run))
                         : measure(session.communicator, kernel_settings(run));
        });
    outputs.publish([&] { return bench_report("bench", what_, result); });
    refuse_wrong_results(result);
  }

 private:
  void check_arguments(bool of_file) const {
    if (of_file && dataset_.empty())
      throw usage_error("'bench ingest' needs FILE and DATASET", "",
                        "Name an HDF5 file and a dataset in it.");
    if (of_file) return;
    if (!file_.empty())
      throw usage_error("'bench " + what_ + "' takes no file", "'" + file_ + "' was given",
                        "Leave it out, or see 'bench ingest'.");
    if (!output_.empty())
      throw usage_error("'bench " + what_ + "' writes no file", "--scan was given",
                        "Leave it out, or see 'bench ingest'.");
    if (what_ != "combine") refuse_cpu_backend(common_, "bench " + what_);
  }

  /// That no report may replace.
  std::vector<std::string> files() const {
    std::vector<std::string> used;
    for (const std::string& file : {file_, output_})
      if (!file.empty()) used.push_back(file);
    return used;
  }

  bench::Settings kernel_settings(const RunOptions& run) const {
    bench::Settings settings = settings_;
    settings.iterations = iterations_.value_or(settings.iterations);
    settings.run = run;
    return settings;
  }

  bench::IngestSettings ingest_settings(const RunOptions& run) const {
    bench::IngestSettings settings;
    settings.file = file_;
    settings.dataset = dataset_;
    settings.output = output_;
    settings.kernels = settings_.kernels;
    settings.iterations = iterations_.value_or(settings.iterations);
    settings.run = run;
    return settings;
  }

  void add_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add("--sizes", "LEAST:GREATEST|SIZE,...",
        "Bytes of a rank's larger array; the powers of 4 from 1K (collectives: 64K) to 4G if not "
        "given",
        [this](const std::string& text) { settings_.sizes = parse_sizes("--sizes", text); });
    add("--types", "NAME,...", "Element types: i8 to f64; of scans also u8:u64 and the like",
        [this](const std::string& text) { settings_.types = parse_names("--types", text); });
    add("--ops", "NAME,...",
        "reduce: sum, statistics, extrema; scan: inclusive, exclusive, min, max; collectives: "
        "sum, statistics, inclusive, exclusive",
        [this](const std::string& text) { settings_.operations = parse_names("--ops", text); });
    add("--kernels", "NAME,...",
        "reduce: fold, CUB, read, copy; scan: bulk, registers, reproducible, CUB, copy; "
        "collectives: reduce, scan, fast, copy; ingest: H5Dread, warpfold, raw, inflate, cp",
        [this](const std::string& text) { settings_.kernels = parse_names("--kernels", text); });
    add("--scan", "FILE", "ingest: scan to this new file too, which is removed afterwards",
        [this](const std::string& text) { output_ = text; });
    add("--iterations", "N", "Measured runs of each; 21 if not given, of ingest 5",
        [this](const std::string& text) { iterations_ = parse_iterations(text); });
  }

  std::string what_;
  std::string file_;
  std::string dataset_;
  std::string output_;
  std::optional<int> iterations_;
  bench::Settings settings_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command(CLI::App& program) {
  return std::make_unique<BenchCommand>(program);
}

}  // namespace warpfold::cli
