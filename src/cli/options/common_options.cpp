#include "cli/options/common_options.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<BackendChoice> backends[] = {
    {"auto", BackendChoice::automatic}, {"cuda", BackendChoice::cuda}, {"cpu", BackendChoice::cpu}};

constexpr Choice<ReadPath> read_paths[] = {{"auto", ReadPath::automatic},
                                           {"direct", ReadPath::direct},
                                           {"chunk", ReadPath::chunk},
                                           {"library", ReadPath::library}};

constexpr Choice<FileCache> file_caches[] = {
    {"auto", FileCache::automatic}, {"through", FileCache::through}, {"past", FileCache::past}};

constexpr Choice<ExternalFiles> external_files[] = {{"any", ExternalFiles::any},
                                                    {"same-folder", ExternalFiles::same_folder},
                                                    {"none", ExternalFiles::none}};

constexpr Choice<ProgressWhen> progress_choices[] = {{"auto", ProgressWhen::automatic},
                                                     {"always", ProgressWhen::always},
                                                     {"never", ProgressWhen::never}};

constexpr std::uint64_t max_threads = 4096;

std::string report_target(const std::string& option, const std::string& text) {
  if (!text.empty()) return text;
  throw usage_error("bad " + option + " ''", "", "Name a file, or - for standard output.");
}

void add_target(CLI::App& command, const std::string& name, const char* help, std::string& target) {
  add_text_option(command, name, "FILE", help, [name, &target](const std::string& text) {
    target = report_target(name, text);
  })->group("Reporting");
}

void add_report_options(CLI::App& command, CommonOptions& options) {
  add_target(command, "--json", "Write a JSON report. - is standard output", options.json);
  add_target(command, "--csv", "Write a CSV report. - is standard output", options.csv);
  command.add_flag("--quiet", options.quiet, "Print no table and no notes")->group("Reporting");
  command.add_flag("--timings", options.timings, "Show each stage's time and rate")
      ->group("Reporting");
  add_choice_option(
      command, "--progress", progress_choices,
      "Show a progress bar on standard error. It includes the stages' rates. auto shows "
      "it on a terminal, after two seconds",
      options.progress)
      ->group("Reporting");
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& run) {
  const auto grouped = [](CLI::Option* option) { option->group("Running"); };
  grouped(add_choice_option(
      command, "--backend", backends,
      "Compute on a GPU or on cores. auto uses the GPU if there is one and it is faster",
      run.backend));
  grouped(add_text_option(
      command, "--threads", "N",
      "Number of threads per rank. They read, decompress and compute on the CPU. "
      "Default: chosen from the rank's share of the cores",
      [&run](const std::string& text) {
        run.threads = static_cast<int>(parse_integer("--threads", text, 1, max_threads));
      }));
  grouped(add_text_option(
      command, "--slab", "SIZE", "Bytes that a thread reads at a time. 4K to 1G; chosen by default",
      [&run](const std::string& text) { run.slab_bytes = parse_size("--slab", text); }));
  grouped(add_choice_option(command, "--read-path", read_paths,
                            "Read byte ranges, chunks, or by HDF5. auto chooses the fastest path "
                            "that the dataset allows",
                            run.read_path));
  grouped(add_choice_option(
      command, "--file-cache", file_caches,
      "Read through the system's cache or bypass it. auto bypasses it if that is faster",
      run.file_cache));
  grouped(add_choice_option(
      command, "--external", external_files,
      "Restrict the files that FILE may refer to. These are raw files, sources of "
      "virtual datasets and targets of external links. same-folder allows those in the "
      "folder of the file that refers to them. Default: any",
      run.external));
  grouped(add_text_option(command, "--device-memory", "SIZE",
                          "Limit the GPU memory of a rank. Default: 80% of the free memory",
                          [&run](const std::string& text) {
                            run.device_memory_bytes = parse_size("--device-memory", text);
                          }));
  grouped(command.add_flag("--share-gpu", run.share_gpu, "Allow several ranks on one GPU"));
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_run_options(command, options.run);
  add_report_options(command, options);
}

void add_data_options(CLI::App& command, CommonOptions& options) {
  add_common_options(command, options);
  add_target(command, "--metrics",
             "Write a JSON line every second. It has progress, throughput and remaining time. "
             "- is standard output",
             options.metrics);
}

}  // namespace warpfold::cli
