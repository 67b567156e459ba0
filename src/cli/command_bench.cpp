#include <string>

#include "bench/bench.hpp"
#include "cli/bench_options.hpp"
#include "cli/bench_report.hpp"
#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "cli/watched_run.hpp"

namespace warpfold::cli {
namespace {

using Measure = bench::Result (*)(MPI_Comm, const bench::Settings&);

constexpr Choice<Measure> measurements[] = {{"reduce", bench::bench_reduce},
                                            {"scan", bench::bench_scan},
                                            {"combine", bench::bench_combine}};

class BenchCommand : public Command {
 public:
  explicit BenchCommand(CLI::App& program)
      : Command(program, "bench", "Measure kernels beside CUB and a copy, or the ranks' exchange") {
    application().add_option("WHAT", what_, "reduce, scan or combine")->required()->type_name("");
    add_options();
    add_common_options(application(), common_);
  }

  void run(const Session& session) override {
    const Measure measure = parse_choice("measurement", what_, measurements);
    if (what_ != "combine") refuse_cpu_backend(common_, "bench " + what_);
    ReportOutputs outputs(session, common_, {});
    bench::Result result;
    {
      const WatchedRun watched("bench", session, common_);
      settings_.run = watched.options();
      result = measure(session.communicator, settings_);
    }
    outputs.publish([&] { return bench_report("bench", what_, result); });
    refuse_wrong_results(result);
  }

 private:
  void add_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add("--sizes", "LEAST:GREATEST|SIZE,...",
        "Bytes of the larger array; the powers of 4 from 1K to 4G if not given",
        [this](const std::string& text) { settings_.sizes = parse_sizes("--sizes", text); });
    add("--types", "NAME,...", "Element types: i8 to f64; of scans also u8:u64 and the like",
        [this](const std::string& text) { settings_.types = parse_names("--types", text); });
    add("--ops", "NAME,...",
        "reduce: sum, statistics, extrema; scan: inclusive, exclusive, min, max",
        [this](const std::string& text) { settings_.operations = parse_names("--ops", text); });
    add("--kernels", "NAME,...",
        "reduce: fold, CUB, read, copy; scan: bulk, registers, reproducible, CUB, copy",
        [this](const std::string& text) { settings_.kernels = parse_names("--kernels", text); });
    add("--iterations", "N", "Measured runs of each; 21 if not given",
        [this](const std::string& text) { settings_.iterations = parse_iterations(text); });
  }

  std::string what_;
  bench::Settings settings_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command(CLI::App& program) {
  return std::make_unique<BenchCommand>(program);
}

}  // namespace warpfold::cli
