#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/dataset_description.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/view_options.hpp"
#include "io/dataset.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/plan.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

Json plan_json(const pipeline::Plan& plan, std::size_t element_bytes) {
  return {{"threads", plan.threads},
          {"slab_elements", json_integer(plan.slab_elements)},
          {"slab_bytes", json_integer(int128{plan.slab_elements} * element_bytes)},
          {"slabs_per_rank", json_integer(plan.slabs_per_rank)},
          {"slots", plan.slots},
          {"host_memory_bytes", json_integer(plan.host_memory_bytes)},
          {"expected_bottleneck", plan.bottleneck}};
}

class InfoCommand : public Command {
 public:
  explicit InfoCommand(CLI::App& program)
      : Command(program, "info", "List a file's datasets, or describe one and the way it is read") {
    application().add_option("FILE", file_, "An HDF5 file")->required()->type_name("");
    application()
        .add_option("DATASET", dataset_, "One of its datasets; all of them if not given")
        ->type_name("");
    add_selection_option(application(), selection_);
    add_common_options(application(), common_);
  }

  void run(const Session& session) override {
    if (dataset_.empty() && !selection_.empty())
      throw usage_error("--select goes with a dataset", "none is named", "Name it behind FILE.");
    ReportOutputs outputs(session, common_, {file_});
    if (dataset_.empty())
      list(session, outputs);
    else
      describe(session, outputs);
  }

 private:
  void list(const Session& session, ReportOutputs& outputs) const {
    outputs.publish([&] { return listing_report(session, io::list_datasets(file_)); });
  }

  void describe(const Session& session, ReportOutputs& outputs) const {
    io::DatasetInfo info;
    pipeline::run_on_root(session.communicator, [&] {
      io::Dataset dataset(file_, dataset_, common_.run.read_path);
      dataset.select(parse_selection(selection_, dataset.info().stored_shape));
      info = dataset.info();
    });
    const pipeline::Plan plan = pipeline::plan_reduce(session.communicator, info, common_.run);
    outputs.publish([&] { return description_report(info, plan); });
  }

  Report listing_report(const Session& session,
                        const std::vector<io::DatasetListing>& listings) const {
    Report report;
    Table lines;
    Json datasets = Json::array();
    report.csv = {{"file", "dataset", "type", "shape", "unsupported"}};
    for (const io::DatasetListing& each : listings) {
      const std::string shape = shape_text(each.shape);
      lines.push_back({each.name, each.stored_type, shape, each.unsupported});
      report.csv.push_back({file_, each.name, each.stored_type, shape, each.unsupported});
      datasets.push_back({{"name", each.name},
                          {"stored_type", each.stored_type},
                          {"shape", each.shape},
                          {"unsupported", each.unsupported}});
    }
    report.text = listings.empty() ? file_ + " has no datasets\n" : aligned_text(lines);
    report.json = json_head("info");
    report.json["ranks"] = session.ranks;
    report.json["file"] = file_;
    report.json["results"] = {{"datasets", std::move(datasets)}};
    return report;
  }

  Report description_report(const io::DatasetInfo& info, const pipeline::Plan& plan) const {
    Report report;
    report.note = run_note(plan.run);
    Table properties = properties_table(info);
    append_plan(properties, plan, size_of(info.format.type));
    report.text = file_ + " " + dataset_ + "\n" + aligned_text(properties);
    report.csv = {{"file", "dataset", "property", "value"}};
    for (const auto& property : properties)
      report.csv.push_back({file_, dataset_, property[0], property[1]});
    report.json = json_head("info", plan.run, file_, dataset_, info.shape, info.format);
    if (!selection_.empty()) report.json["select"] = selection_;
    report.json["results"] = properties_json(info);
    report.json["results"]["plan"] = plan_json(plan, size_of(info.format.type));
    return report;
  }

  void append_plan(Table& properties, const pipeline::Plan& plan, std::size_t element_bytes) const {
    const auto& device_memory = common_.run.device_memory_bytes;
    properties.push_back({"runs on", run_text(plan.run)});
    properties.push_back({"threads a rank", fmt::format("{}", plan.threads)});
    properties.push_back({"slab", fmt::format("{} elements, {}", plan.slab_elements,
                                              bytes_text(plan.slab_elements * element_bytes))});
    properties.push_back({"slabs a rank", fmt::format("{}", plan.slabs_per_rank)});
    properties.push_back(
        {"host memory a rank",
         fmt::format("{} for {} slabs at once", bytes_text(plan.host_memory_bytes), plan.slots)});
    if (plan.run.backend.find("cuda") != std::string::npos)
      properties.push_back({"device memory a rank", device_memory
                                                        ? "at most " + bytes_text(*device_memory)
                                                        : "at most 80% of what is free"});
    if (!plan.bottleneck.empty()) properties.push_back({"expected bottleneck", plan.bottleneck});
  }

  std::string file_;
  std::string dataset_;
  std::string selection_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_info_command(CLI::App& program) {
  return std::make_unique<InfoCommand>(program);
}

}  // namespace warpfold::cli
