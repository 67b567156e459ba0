#include <exception>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/run/measuring_program.hpp"
#include "mpi/agreement.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<Measurement> measurements[] = {
    {"reduce", Measurement::reduce},       {"scan", Measurement::scan},
    {"histogram", Measurement::histogram}, {"select", Measurement::select},
    {"axes", Measurement::axes},           {"labels", Measurement::labels},
    {"combine", Measurement::combine},     {"collectives", Measurement::collectives},
    {"ingest", Measurement::ingest}};

constexpr Choice<Measurement> ladders[] = {{"reduce", Measurement::ladder_reduce},
                                           {"scan", Measurement::ladder_scan},
                                           {"atomics", Measurement::ladder_atomics}};

constexpr const char* bench_examples = R"(warpfold bench reduce --types f32,f64 --sizes 64M,1G
warpfold bench ingest year.nc temp --kernels warpfold,raw
mpirun -np 4 warpfold bench combine)";

class MeasuringCommand : public Command {
 public:
  ExternalFiles external() const override { return request_.common.run.external; }

 protected:
  MeasuringCommand(CLI::App& program, const char* name, const char* description, Measurer measurer)
      : Command(program, name, description), measurer_(measurer) {
    request_.command = name;
  }

  template <std::size_t Count>
  void add_what(const Choice<Measurement> (&choices)[Count]) {
    std::string words;
    for (const auto& [word, meaning] : choices)
      words += (words.empty() ? "" : ", ") + std::string(word);
    add_argument("WHAT", what_, words.c_str())->required()->type_name(words_of(choices));
  }

  void add_types(const char* help) {
    add("--types", "NAME,...", help, settings_.types, parse_names);
  }

  void add_kernels(const char* help) {
    add("--kernels", "NAME,...", help, settings_.kernels, parse_names);
  }

  void add_iterations(const char* help) {
    add("--iterations", "N", help, settings_.iterations, parse_integer, 1U, 1'000'000U);
  }

  void refuse_cpu_backend() const {
    if (request_.common.run.backend != BackendChoice::cpu) return;
    throw usage_error("'" + request_.command + " " + what_ + "' measures GPUs",
                      "--backend cpu was given",
                      "Omit it, or see warpfold_bench_host for the cpu backend.");
  }

  /// Measures and publishes the report. Throws Error on all ranks if one of them cannot measure.
  void measure(const Session& session) const {
    std::exception_ptr failure;
    if (measurer_ == nullptr)
      failure = std::make_exception_ptr(missing_measuring_program(request_.command));
    mpi::throw_on_all_ranks(failure, mpi::Communicator(session.communicator));
    measurer_(session, request_);
  }

  MeasuringRequest request_;
  std::string& what_ = request_.what;
  MeasuringSettings& settings_ = request_.settings;

 private:
  Measurer measurer_;
};

class BenchCommand : public MeasuringCommand {
 public:
  BenchCommand(CLI::App& program, Measurer measurer)
      : MeasuringCommand(program, "bench", "Benchmark kernels, communication, or a file end to end",
                         measurer) {
    add_what(measurements);
    add_argument("FILE", settings_.file, "ingest: an HDF5 file");
    add_argument("DATASET", settings_.dataset, "ingest: a dataset in it");
    add_options();
    add_common_options(application(), request_.common);
    show_examples(bench_examples);
  }

  void run(const Session& session) override {
    request_.measurement = parse_choice("measurement", what_, measurements);
    check_arguments();
    measure(session);
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
                        "Omit it, or see 'bench ingest'.");
    if (!settings_.output.empty())
      throw usage_error("'bench " + what_ + "' writes no file", "--scan was given",
                        "Omit it, or see 'bench ingest'.");
    if (!settings_.where.empty() || !settings_.mask.empty() || !settings_.weights.empty())
      throw usage_error("'bench " + what_ + "' reads no dataset",
                        "--where, --mask or --weights was given",
                        "Omit it, or see 'bench ingest'.");
    if (what_ != "combine") refuse_cpu_backend();
  }

  void add_options() {
    add("--sizes", "LEAST:GREATEST|SIZE,...",
        "Bytes of a rank's larger array. Default: the powers of 4 from 1K (collectives: "
        "64K) to 4G; histogram, select, axes and labels: 16M, 256M and 4G",
        settings_.sizes, parse_sizes);
    add_types("Element types, i8 to f64. Scans also take u8:u64 and the like");
    add("--ops", "NAME,...",
        "Operations of the kernels. reduce: sum, statistics, extrema; scan: inclusive, "
        "exclusive, min, max; histogram: few, many; select: tenth, half, most; axes: "
        "first, last, scan-first, scan-last; labels: few, many, few-skewed, many-skewed, "
        "few-runs, many-runs; collectives: sum, statistics, inclusive, exclusive",
        settings_.operations, parse_names);
    add("--data", "NAME,...",
        "Distributions of the floats. reduce and scan: uniform, walk, wide, drift, fill, "
        "cancel, subnormal, largest, tails",
        settings_.data, parse_names);
    add_kernels(
        "Kernels to compare. reduce: fold, CUB, CUB gpu_to_gpu, read, copy; scan: "
        "registers, reproducible, CUB, CUB run_to_run, copy; histogram, select and axes: "
        "warpfold, CUB, read, copy; labels: warpfold, atomics, read, copy; collectives: "
        "reduce, scan, fast, copy; ingest: H5Dread, warpfold, attributes, where, mask, "
        "weights, shared, raw, inflate, cp");
    add("--where", "CONDITION", "ingest: also reduce with this condition",
        [this](const std::string& text) { settings_.where = {text}; });
    add("--mask", "[FILE::]DATASET", "ingest: also reduce with this mask",
        [this](const std::string& text) { settings_.mask = text; });
    add("--weights", "[FILE::]DATASET|cos:DIMENSION", "ingest: also reduce with these weights",
        [this](const std::string& text) { settings_.weights = text; });
    add("--scan", "FILE", "ingest: also scan to this new file. It is removed afterwards",
        [this](const std::string& text) { settings_.output = text; });
    add_iterations("Measured runs of each. Default: 21 (ingest: 5)");
  }
};

class LadderCommand : public MeasuringCommand {
 public:
  LadderCommand(CLI::App& program, Measurer measurer)
      : MeasuringCommand(program, "ladder", "Benchmark kernels step by step, from naive to fast",
                         measurer) {
    add_what(ladders);
    add_types("Element types. reduce: u32, f32, f64; scan: i32; atomics: i32, u32");
    add("--elements", "N", "Elements of the array. Default: 2^28 u32, 10^8 floats, 2^26 i32",
        settings_.elements, parse_integer, 1U, std::uint64_t{1} << 40);
    application().add_flag("--article", settings_.article,
                           "Use the articles' sizes. 2^30 u32, which one core generates");
    add_kernels("Steps, and fold or scan, CUB and copy. Default: all");
    add_iterations("Measured runs of each. Default: 21");
    add_common_options(application(), request_.common);
    show_examples("warpfold ladder reduce --types f32");
  }

  void run(const Session& session) override {
    request_.measurement = parse_choice("ladder", what_, ladders);
    refuse_cpu_backend();
    measure(session);
  }
};

}  // namespace

std::unique_ptr<Command> make_bench_command(CLI::App& program, Measurer measurer) {
  return std::make_unique<BenchCommand>(program, measurer);
}

std::unique_ptr<Command> make_ladder_command(CLI::App& program, Measurer measurer) {
  return std::make_unique<LadderCommand>(program, measurer);
}

}  // namespace warpfold::cli
