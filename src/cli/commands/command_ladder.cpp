#include <string>

#include "bench/ladder/ladder_bench.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/bench_report.hpp"
#include "cli/report/report.hpp"
#include "cli/run/watched_run.hpp"

namespace warpfold::cli {
namespace {

using Measure = bench::Result (*)(MPI_Comm, const bench::LadderSettings&);

constexpr Choice<Measure> ladders[] = {{"reduce", bench::ladder_reduce},
                                       {"scan", bench::ladder_scan},
                                       {"atomics", bench::ladder_atomics}};

constexpr std::uint64_t max_elements = std::uint64_t{1} << 40;

class LadderCommand : public Command {
 public:
  explicit LadderCommand(CLI::App& program)
      : Command(program, "ladder", "Measure kernels from the naive to the fast, rung by rung") {
    application().add_option("WHAT", what_, "reduce, scan or atomics")->required()->type_name("");
    add_options();
    add_common_options(application(), common_);
  }

  void run(const Session& session) override {
    const Measure measure = parse_choice("ladder", what_, ladders);
    refuse_cpu_backend(common_, "ladder " + what_);
    ReportOutputs outputs(session, common_, {});
    const bench::Result result = progress_monitored(
        {"ladder", "", ""}, session, common_, outputs, [&](const RunOptions& run) {
          settings_.run = run;
          return measure(session.communicator, settings_);
        });
    outputs.publish([&] { return bench_report("ladder", what_, result); });
    refuse_wrong_results(result);
  }

 private:
  void add_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add("--types", "NAME,...", "reduce: u32, f32, f64; scan: i32; atomics: i32, u32",
        [this](const std::string& text) { settings_.types = parse_names("--types", text); });
    add("--elements", "N", "Elements of the array; 2^28 u32, 10^8 floats, 2^26 i32 if not given",
        [this](const std::string& text) {
          settings_.elements = parse_integer("--elements", text, 1, max_elements);
        });
    application().add_flag("--article", settings_.article,
                           "The articles' sizes: 2^30 u32, which one core has to draw");
    add("--kernels", "NAME,...", "Rungs, and fold or scan, CUB and copy; all if not given",
        [this](const std::string& text) { settings_.kernels = parse_names("--kernels", text); });
    add("--iterations", "N", "Measured runs of each; 21 if not given",
        [this](const std::string& text) { settings_.iterations = parse_iterations(text); });
  }

  std::string what_;
  bench::LadderSettings settings_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_ladder_command(CLI::App& program) {
  return std::make_unique<LadderCommand>(program);
}

}  // namespace warpfold::cli
