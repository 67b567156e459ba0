#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/commands/dataset_description.hpp"
#include "cli/commands/info_document.hpp"
#include "cli/options/command_line.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/axis_times.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_mask.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

using pipeline::PlannedCommand;

constexpr Choice<PlannedCommand> planned_commands[] = {{"reduce", PlannedCommand::reduce},
                                                       {"histogram", PlannedCommand::histogram},
                                                       {"scan", PlannedCommand::scan},
                                                       {"compact", PlannedCommand::compact}};

constexpr const char* info_examples = R"(warpfold info year.nc
warpfold info year.nc temp
mpirun -np 2 warpfold info year.nc temp --plan scan)";

/// Tells the plan of a reduction, where none is requested.
Json plan_json(const pipeline::PlanReport& plan, std::size_t element_bytes) {
  return {{"threads", plan.threads},
          {"slab_elements", json_integer(plan.unit_elements)},
          {"slab_bytes", json_integer(int128{plan.unit_elements} * element_bytes)},
          {"slabs_per_rank", json_integer(plan.shares.front().items)},
          {"slots", *plan.slots},
          {"host_memory_bytes", json_integer(plan.host_memory_bytes)},
          {"expected_bottleneck", with_flags(plan.bottleneck)}};
}

Json plan_json(const std::string& command, const pipeline::PlanReport& plan,
               std::size_t element_bytes) {
  Json document = {{"command", command},
                   {"threads", plan.threads},
                   {"unit", plan.unit},
                   {"unit_elements", json_integer(plan.unit_elements)},
                   {"unit_bytes", json_integer(int128{plan.unit_elements} * element_bytes)},
                   {"items", json_integer(plan.items)},
                   {"shares", Json::array()}};
  if (!plan.axes.empty()) document["axis"] = plan.axes;
  for (const auto& [items, elements] : plan.shares)
    document["shares"].push_back(
        {{"items", json_integer(items)}, {"elements", json_integer(elements)}});
  if (plan.slots) {
    document["slots"] = *plan.slots;
    document["host_memory_bytes"] = json_integer(plan.host_memory_bytes);
  }
  if (!plan.bottleneck.empty()) document["expected_bottleneck"] = with_flags(plan.bottleneck);
  return document;
}

/// "5 to 6", or "6" where ranks have equally many.
std::string range_text(const std::vector<pipeline::PlanShare>& shares,
                       std::uint64_t pipeline::PlanShare::*part) {
  const auto [minimum, maximum] = std::ranges::minmax(shares, {}, part);
  const std::string text = fmt::format("{}", maximum.*part);
  return minimum.*part == maximum.*part ? text : fmt::format("{} to {}", minimum.*part, text);
}

/// Facts about a dataset that are known before it is read.
struct Description {
  io::DatasetInfo info;
  pipeline::Interpretation seen;
  std::vector<pipeline::DimensionDescription> dimensions;
  pipeline::PlanReport plan;
  RunReport report;                                                     ///< the plan's
  std::optional<std::vector<std::uint64_t>> mask_shape = std::nullopt;  ///< as selected
};

class InfoCommand : public Command {
 public:
  explicit InfoCommand(CLI::App& program)
      : Command(program, "info", "List a file's datasets, or describe how they are read") {
    add_dataset_arguments(application(), arguments_);
    add_view_options(application(), view_);
    add_plan_options();
    add_common_options(application(), common_);
    show_examples(info_examples);
  }

  ExternalFiles external() const override { return common_.run.external; }

  void run(const Session& session) override {
    complete(session);
    ReportOutputs outputs(
        session, common_,
        {arguments_.file, described(), "", view_.files, pipeline::names_beside(view_)});
    outputs.publish(look(session));
  }

  /// Returns what the JSON report would be, on rank 0. Collective. Throws Error.
  Json document(const Session& session) {
    complete(session);
    const std::function<Report()> make = look(session);
    Report report;
    pipeline::run_on_root(mpi::Communicator(session.communicator), [&] {
      report = make();
      if (report.failure) throw *report.failure;
    });
    return std::move(report.json);
  }

 private:
  using Descriptions = std::vector<DatasetOutcome<Description>>;

  bool listing() const { return arguments_.datasets.names.empty() && !arguments_.datasets.all; }

  /// Checks that the options go together, and takes the files that are named. Collective.
  void complete(const Session& session) {
    check_axes();
    if (listing())
      require_no_view_options();
    else
      take_files(arguments_, view_, mpi::Communicator(session.communicator));
  }

  /// Looks at what is named; the function that is returned tells of it, on rank 0. Collective.
  std::function<Report()> look(const Session& session) const {
    if (listing())
      return [&] { return listing_report(session, io::list_datasets(arguments_.file)); };
    if (arguments_.several)
      return [this, seen = describe_several(session)] { return report_on(seen); };
    return [this, seen = describe_one(session)] { return report_on(seen); };
  }

  void add_plan_options() {
    add("--plan", words_of(planned_commands),
        "Show how this command would divide the dataset. The plan has its items, and the "
        "share of each rank",
        [this](const std::string& text) {
          request_.command = parse_choice("--plan", text, planned_commands);
          planned_ = text;
        });
    add("--axis", "K|NAME,...", "Axes for --plan reduce or scan", request_.axes, parse_axes);
  }

  void check_axes() const {
    if (request_.axes.empty()) return;
    const bool scans = request_.command == PlannedCommand::scan;
    if (planned_.empty() || (!scans && request_.command != PlannedCommand::reduce))
      throw usage_error("--axis needs --plan reduce or --plan scan", "",
                        "Omit --axis, or plan one of them.");
    if (scans && request_.axes.size() > 1)
      throw usage_error("bad --axis", "a scan goes along one axis", "Try --axis 0.");
  }

  void require_no_view_options() {
    for (const std::string option :
         {"--select", "--where", "--fill-value", "--raw", "--mask", "--concat", "--plan", "--axis"})
      if (application().count(option) > 0)
        throw usage_error(option + " needs a dataset", "none is named", "Name it after FILE.");
  }

  /// Returns the datasets that are named; all of a file that is listed.
  DatasetChoice described() const {
    return {arguments_.datasets.names, arguments_.datasets.names.empty()};
  }

  Description describe_one(const Session& session) const {
    const mpi::Communicator communicator(session.communicator);
    return with_plan(session, look_at(arguments_.dataset(), communicator));
  }

  Descriptions describe_several(const Session& session) const {
    const mpi::Communicator communicator(session.communicator);
    std::optional<io::OpenFile> open_file;
    pipeline::run_on_root(communicator, [&] { open_file.emplace(arguments_.file); });
    return pipeline::for_each_chosen<Description>(
        arguments_.file,
        pipeline::chosen_datasets(arguments_.file, arguments_.datasets, communicator),
        [&](const std::string& name) { return look_at(name, communicator); },
        [&](Description& seen) { return with_plan(session, std::move(seen)); });
  }

  /// On the root; without a plan.
  Description look_at(const std::string& name, const mpi::Communicator& communicator) const {
    Description description;
    pipeline::run_on_root(communicator, [&] {
      description.info =
          pipeline::open_selected(arguments_.file, name, view_, common_.run.read_path).info();
      description.dimensions = pipeline::describe_dimensions(description.info);
      description.seen = pipeline::interpret(description.info, view_);
      for (const auto& condition : pipeline::conditions_beside(view_, arguments_.file)) {
        std::vector<std::uint64_t> shape;
        if (const auto times = pipeline::kept_times(condition, description.info))
          shape = {times->indices};
        else
          shape =
              pipeline::open_mask(condition, description.info, view_.match).dataset.info().shape;
        if (condition.option == "mask") description.mask_shape = shape;
      }
    });
    return description;
  }

  Description with_plan(const Session& session, Description description) const {
    const ElementType stored = description.info.format.type;
    description.plan =
        pipeline::plan_command(session.communicator, description.info,
                               description.seen.decoding.value_type(stored), request_, common_.run);
    description.report = description.plan.run;
    description.report.notes = description.info.notes;
    return description;
  }

  Report listing_report(const Session& session,
                        const std::vector<io::DatasetListing>& listings) const {
    Report report;
    Table lines;
    Json datasets = Json::array();
    report.csv = {{"file", "dataset", "type", "shape", "unsupported"}};
    for (const io::DatasetListing& each : listings) {
      const std::string shape = each.is_null               ? "null"
                                : each.stored_type.empty() ? "unknown"
                                                           : shape_text(each.shape);
      lines.push_back({each.name, each.stored_type, shape, each.unsupported});
      report.csv.push_back({arguments_.file, each.name, each.stored_type, shape, each.unsupported});
      datasets.push_back({{"name", each.name},
                          {"stored_type", each.stored_type},
                          {"shape", each.shape},
                          {"unsupported", each.unsupported}});
    }
    report.text = listings.empty() ? arguments_.file + " has no datasets\n" : aligned_text(lines);
    report.json = json_head("info");
    report.json["ranks"] = session.ranks;
    report.json["file"] = arguments_.file;
    report.json["results"] = {{"datasets", std::move(datasets)}};
    return report;
  }

  Report report_on(const Description& description) const {
    Report report;
    report.notes = run_notes(description.report);
    report.text = text(arguments_.dataset(), description);
    report.csv = csv_header();
    add_rows(report.csv, arguments_.dataset(), description);
    report.json = json_head("info", description.report, arguments_.file);
    report.json["dataset"] = arguments_.dataset();
    add_shape(report.json, description.info.shape, description.info.format);
    add_results(report.json, description);
    return report;
  }

  Report report_on(const Descriptions& descriptions) const {
    Report report;
    const RunReport run = whole_run_of(descriptions);
    report.notes = run_notes(run);
    report.failure = failure_of(arguments_.file, descriptions);
    report.csv = csv_header();
    report.json = json_head("info", run, arguments_.file);
    Json& datasets = report.json["datasets"] = Json::array();
    for (const auto& [dataset, skipped, description, failed] : descriptions) {
      Json member;
      member["dataset"] = dataset;
      if (skipped.empty()) {
        report.text += text(dataset, description) + "\n";
        add_rows(report.csv, dataset, description);
        add_shape(member, description.info.shape, description.info.format);
        add_results(member, description);
      } else {
        report.csv.push_back({arguments_.file, dataset, "skipped", skipped});
        member["skipped"] = skipped;
      }
      datasets.push_back(std::move(member));
    }
    report.text += skipped_text(descriptions);
    return report;
  }

  std::string text(const std::string& dataset, const Description& description) const {
    return files_text(arguments_.file, view_) + " " + dataset + "\n" +
           aligned_text(rows_of(description));
  }

  static Table csv_header() { return {{"file", "dataset", "property", "value"}}; }

  void add_rows(Table& csv, const std::string& dataset, const Description& description) const {
    for (const auto& property : rows_of(description))
      csv.push_back({arguments_.file, dataset, property[0], property[1]});
  }

  Table rows_of(const Description& description) const {
    const auto& [info, seen, dimensions, plan, report, mask] = description;
    Table rows = properties_table(info, dimensions);
    for (auto& row : view_table(view_, seen.applied, seen.decoding.value_type(info.format.type)))
      rows.push_back(std::move(row));
    if (mask) rows.push_back({"mask", fmt::format("{}, {}", view_.mask, shape_text(*mask))});
    append_plan(rows, plan, size_of(info.format.type));
    return rows;
  }

  void add_results(Json& document, const Description& description) const {
    const auto& [info, seen, dimensions, plan, report, mask] = description;
    const ElementType stored = info.format.type;
    describe_view(document, view_, seen.applied, stored, seen.decoding.value_type(stored));
    document["results"] = properties_json(info, dimensions);
    if (mask) document["results"]["mask_shape"] = *mask;
    document["results"]["plan"] = planned_.empty() ? plan_json(plan, size_of(stored))
                                                   : plan_json(planned_, plan, size_of(stored));
  }

  void append_plan(Table& properties, const pipeline::PlanReport& plan,
                   std::size_t element_bytes) const {
    const auto& device_memory = common_.run.device_memory_bytes;
    if (!planned_.empty()) properties.push_back({"plan of", planned_});
    properties.push_back({"runs on", run_text(plan.run)});
    properties.push_back({"threads a rank", fmt::format("{}", plan.threads)});
    properties.push_back({plan.unit, fmt::format("{} elements, {}", plan.unit_elements,
                                                 bytes_text(plan.unit_elements * element_bytes))});
    if (planned_.empty()) {
      properties.push_back({"slabs a rank", fmt::format("{}", plan.shares.front().items)});
    } else {
      properties.push_back({"items", fmt::format("{}", plan.items)});
      properties.push_back({"items a rank", range_text(plan.shares, &pipeline::PlanShare::items)});
      properties.push_back(
          {"elements a rank", range_text(plan.shares, &pipeline::PlanShare::elements)});
    }
    if (plan.slots)
      properties.push_back({"host memory a rank",
                            fmt::format("{} for {} {} at once", bytes_text(plan.host_memory_bytes),
                                        *plan.slots, plan.unit == "slab" ? "slabs" : "boxes")});
    if (plan.run.backend.find("cuda") != std::string::npos)
      properties.push_back({"device memory a rank", device_memory
                                                        ? "at most " + bytes_text(*device_memory)
                                                        : "at most 80% of what is free"});
    if (!plan.bottleneck.empty())
      properties.push_back({"expected bottleneck", with_flags(plan.bottleneck)});
  }

  DatasetArguments arguments_;
  ViewOptions view_;
  std::string planned_;  ///< the command that --plan names
  pipeline::PlanRequest request_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_info_command(CLI::App& program) {
  return std::make_unique<InfoCommand>(program);
}

Json info_document(const Session& session) {
  CLI::App program("", "warpfold");
  InfoCommand command(program);
  parse_words(program, {session.words.begin() + 1, session.words.end()});
  const io::ExternalFilesRule rule(command.external());
  return command.document(session);
}

}  // namespace warpfold::cli
