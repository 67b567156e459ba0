#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/report/report.hpp"
#include "cli/run/watched_run.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A command that makes a Result of a dataset, or of each of several, as its Request says.
template <class Request>
class DatasetCommand : public Command {
 public:
  void run(const Session& session) override {
    request_.complete(mpi::Communicator(session.communicator), session.words);
    if (request_.arguments.several)
      report_on("", request_.arguments.datasets, session);
    else
      report_on(request_.arguments.dataset(), request_.arguments.dataset(), session);
  }

  ExternalFiles external() const override { return common_.run.external; }

 protected:
  using Result = typename Request::Result;
  using Outcomes = std::vector<DatasetOutcome<Result>>;

  DatasetCommand(CLI::App& program, const char* name, const char* description, const char* examples)
      : Command(program, name, description), name_(name) {
    add_data_options(application(), common_);
    show_examples(examples);
  }

  virtual Report make_report(const Result& result) const = 0;
  virtual Report make_report(const Outcomes& outcomes) const = 0;

  /// Names the datasets that are read beside those of the arguments, or are empty.
  virtual std::vector<std::string> datasets_beside() const {
    return pipeline::names_beside(request_.options.view);
  }

  DatasetRun run_on(const std::string& dataset, const Result& result) const {
    return {name_, request_.arguments.file, dataset, result};
  }

  const std::string name_;
  Request request_{application()};
  CommonOptions common_;

 private:
  /// Reports a Result of a dataset's name, Outcomes of a choice.
  void report_on(const std::string& subject, const auto& datasets, const Session& session) {
    run_and_report(
        {name_, request_.arguments.file, subject}, session, common_,
        {request_.arguments.file, request_.arguments.datasets, output(),
         request_.options.view.files, datasets_beside()},
        [&](const RunOptions& run) {
          request_.options.run = run;
          return Request::compute(session.communicator, request_.arguments.file, datasets,
                                  request_.options);
        },
        [&](const auto& result) { return make_report(result); });
  }

  /// Names the file that is written; empty where there is none.
  std::string output() const {
    if constexpr (requires { request_.options.output; })
      return request_.options.output.path;
    else
      return "";
  }
};

/// A dataset command each of whose results is a few words and numbers: lines of a dataset, a row of
/// several.
template <class Request>
class RowsCommand : public DatasetCommand<Request> {
 protected:
  using Base = DatasetCommand<Request>;
  using typename Base::Outcomes;
  using typename Base::Result;
  using Rows = std::vector<ResultRow>;
  using Base::Base;
  using Base::common_;
  using Base::name_;
  using Base::request_;
  using Base::run_on;

  virtual std::string lines(const Result& result) const = 0;

  /// Names what row() tells of one of several datasets.
  virtual std::vector<std::string> columns() const = 0;
  virtual std::vector<std::string> row(const Result& result) const = 0;

  virtual Rows rows(const Result& result) const = 0;

  /// Makes members of its JSON, "results" among them.
  virtual Json members_of(const Result& result) const = 0;

  Report make_report(const Result& result) const override {
    const DatasetRun run = run_on(request_.arguments.dataset(), result);
    Report report = dataset_report(run, request_.options.view, lines(result), members_of(result),
                                   common_.timings);
    report.csv = {csv_columns()};
    add_rows(report.csv, run, rows(result));
    return report;
  }

  Report make_report(const Outcomes& outcomes) const override {
    Report report =
        several_report(name_, request_.arguments.file, outcomes, request_.options.view,
                       !common_.json.empty(), [&](const Result& each) { return members_of(each); });
    report.text = several_text(
        request_.arguments.file, outcomes, columns(), [&](const Result& each) { return row(each); },
        common_.timings);
    if (common_.csv.empty()) return report;
    report.csv = several_csv(name_, request_.arguments.file, outcomes,
                             [&](Table& csv, const std::string& dataset, const Result& result) {
                               add_rows(csv, run_on(dataset, result), rows(result));
                             });
    return report;
  }
};

}  // namespace warpfold::cli
