#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "core/values/generator.hpp"
#include "pipeline/output/generate.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<ByteOrder> byte_orders[] = {{"little", ByteOrder::little},
                                             {"big", ByteOrder::big}};

constexpr const char* generate_examples =
    R"(warpfold generate iota numbers.h5 values --shape 1000,1000
warpfold generate normal walk.h5 steps --shape 100000 --type f32 --deflate --shuffle)";

class GenerateCommand : public Command {
 public:
  explicit GenerateCommand(CLI::App& program)
      : Command(program, "generate", "Write a dataset with known values, mostly with a known sum") {
    const std::string kinds = names_of(all_generator_kinds);
    add_argument("KIND", kind_, kinds.c_str())->required()->type_name(kinds);
    add_argument("FILE", options_.output.path, "HDF5 file to write")->required();
    add_argument("DATASET", options_.output.dataset, "Path of the dataset in it")->required();
    add_value_options();
    add_storage_options(application(), options_.storage);
    add_data_options(application(), common_);
    show_examples(generate_examples);
  }

  void run(const Session& session) override {
    options_.kind = parse_generator_kind(kind_);
    check_options();
    options_.output.command = shell_quoted(session.words);
    const auto compute = [&](const RunOptions& run) {
      options_.run = run;
      return pipeline::generate(session.communicator, options_);
    };
    run_and_report({"generate", options_.output.path, options_.output.dataset}, session, common_,
                   {"", {}, options_.output.path}, compute,
                   [&](const pipeline::GenerateResult& result) { return make_report(result); });
  }

 private:
  void add_value_options() {
    add("--shape", "N,...", "Extents, slowest first. Example: 1000,1000",
        [this](const std::string& text) {
          options_.shape = parse_shape("--shape", text);
          has_shape_ = true;
        });
    add("--type", names_of(all_element_types), "Type of the elements. Default: f64",
        [this](const std::string& text) { options_.format.type = parse_element_type(text); })
        ->option_text("TYPE");
    add("--seed", "N", "Seed of the random values. Default: 1", options_.seed, parse_integer, 0U,
        ~std::uint64_t{0});
    add("--value", "X", "Value of the elements of constant. Default: 1", options_.value,
        parse_real);
    add("--byte-order", byte_orders, "Byte order of the stored elements. Default: this machine's",
        options_.format.order);
    application().add_flag("--append", options_.output.append, "Add to an existing file");
    application().add_flag("--force", options_.output.force,
                           "Replace an existing file; with --append the DATASET in it");
  }

  void check_options() const {
    if (!has_shape_)
      throw usage_error("the shape is missing", "", "Give it with --shape, such as --shape 1000.");
    const std::vector<std::uint64_t>& chunks = options_.storage.chunk_shape;
    if (!chunks.empty() && chunks.size() != options_.shape.size())
      throw usage_error("the chunks and the shape differ in their number of dimensions",
                        fmt::format("{} and {}", chunks.size(), options_.shape.size()),
                        "Give --chunks one extent for each of --shape.");
  }

  Report make_report(const pipeline::GenerateResult& result) const {
    const DatasetResult made{
        options_.format, options_.format.type, {}, options_.shape, result.report};
    const DatasetRun run{"generate", options_.output.path, options_.output.dataset, made};
    Report report;
    report.notes = run_notes(result.report);
    report.text = text(result);
    report.json = json_head(run);
    report.json["kind"] = kind_;
    report.json["seed"] = json_integer(options_.seed);
    report.json["results"] = {{"count", json_integer(result.elements)},
                              {"bytes", json_integer(result.bytes)},
                              {"known_sum", json_value(result.known_sum)}};
    report.json["timings"] = timings_json(result.report);
    report.csv = {csv_columns()};
    add_rows(report.csv, run,
             {{"count", fmt::format("{}", result.elements)},
              {"bytes", fmt::format("{}", result.bytes)},
              {"known_sum", to_text(result.known_sum, "")}});
    return report;
  }

  std::string text(const pipeline::GenerateResult& result) const {
    const bool known = !std::holds_alternative<std::monostate>(result.known_sum);
    return fmt::format("{} {}: {} of {}, {}, {}{}\n", options_.output.path, options_.output.dataset,
                       kind_, format_text(options_.format), extent_text(options_.shape),
                       bytes_text(result.bytes),
                       known ? ", sum " + to_text(result.known_sum) : "") +
           timings_text(result.report, common_.timings);
  }

  std::string kind_;
  bool has_shape_ = false;
  pipeline::GenerateOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command(CLI::App& program) {
  return std::make_unique<GenerateCommand>(program);
}

}  // namespace warpfold::cli
