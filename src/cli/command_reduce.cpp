#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/watched_run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<NanPolicy> nan_policies[] = {{"propagate", NanPolicy::propagate},
                                              {"skip", NanPolicy::skip}};
class ReduceCommand : public Command {
 public:
  explicit ReduceCommand(CLI::App& program)
      : Command(program, "reduce", "Reduce a dataset to its statistics, in one pass") {
    application().add_option("FILE", file_, "An HDF5 file")->required()->type_name("");
    application()
        .add_option("DATASET", dataset_, "The path of a dataset in it")
        ->required()
        ->type_name("");
    add_statistics_options();
    add_common_options(application(), common_);
  }

  void run(const Session& session) override {
    ReportOutputs outputs(session, common_, {file_});
    ReduceResult result;
    {
      const WatchedRun watched("reduce", session, common_);
      options_.run = watched.options();
      result = reduce(session.communicator, file_, dataset_, options_);
    }
    outputs.publish([&] { return make_report(result); });
  }

 private:
  void add_statistics_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add("--ops", "NAME,...",
        "count, sum, mean, var, std, min, max, argmin, argmax, l1, l2, linf, nan_count, inf_count, "
        "or all; count,sum,min,max,mean,std if not given",
        [this](const std::string& text) { options_.statistics = parse_statistics(text); });
    add("--nan", "propagate|skip", "What NaN elements do; propagate if not given",
        [this](const std::string& text) {
          options_.summary.nan = parse_choice("--nan", text, nan_policies);
        });
    add("--overflow", "error|wrap",
        "Sums of integers: exact (error), or modulo 2^width of their type; error if not given",
        [this](const std::string& text) { options_.summary.overflow = parse_overflow(text); });
    add("--ddof", "N", "var and std divide by count - N; 0 if not given",
        [this](const std::string& text) {
          constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
          options_.summary.ddof = parse_integer("--ddof", text, 0, most);
        });
  }

  Report make_report(const ReduceResult& result) const {
    Report report;
    report.note = fallback_note(result.report);
    report.text = text(result);
    report.json = json(result);
    report.csv = csv(result);
    return report;
  }

  std::string text(const ReduceResult& result) const {
    Table table;
    for (const auto& [statistic, value] : result.summary)
      table.push_back({std::string(name_of(statistic)), to_text(value)});
    return fmt::format("{} {}: {}, {}, {}\n", file_, dataset_, format_text(result.format),
                       extent_text(result.shape), run_text(result.report)) +
           aligned_text(table) + timings_text(result.report, common_.timings);
  }

  Json json(const ReduceResult& result) const {
    Json document =
        json_head("reduce", result.report, file_, dataset_, result.shape, result.format);
    Json& results = document["results"] = Json::object();
    for (const auto& [statistic, value] : result.summary)
      results[std::string(name_of(statistic))] = json_value(value);
    document["timings"] = timings_json(result.report);
    return document;
  }

  Table csv(const ReduceResult& result) const {
    Table table{csv_columns()};
    for (const auto& [statistic, value] : result.summary)
      table.push_back(csv_row("reduce", file_, dataset_, result.format.type, result.report,
                              name_of(statistic), value));
    return table;
  }

  std::string file_;
  std::string dataset_;
  ReduceOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace warpfold::cli
