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

void add_report_options(CLI::App& command, CommonOptions& options) {
  const OptionGroup group(command, "Reporting");
  add_option(command, "--json", "FILE", "Write a JSON report. - is standard output", options.json,
             report_target);
  add_option(command, "--csv", "FILE", "Write a CSV report. - is standard output", options.csv,
             report_target);
  command.add_flag("--quiet", options.quiet, "Print no table and no notes");
  command.add_flag("--timings", options.timings, "Show each stage's time and rate");
  add_option(command, "--progress", progress_choices,
             "Show a progress bar on standard error. It includes the stages' rates. auto shows "
             "it on a terminal, after two seconds",
             options.progress);
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& run) {
  const OptionGroup group(command, "Running");
  add_option(command, "--backend", backends,
             "Compute on a GPU or on cores. auto uses the GPU if there is one and it is faster",
             run.backend);
  add_option(command, "--threads", "N",
             "Number of threads per rank. They read, decompress and compute on the CPU. "
             "Default: chosen from the rank's share of the cores",
             run.threads, parse_integer, 1U, max_threads);
  add_option(command, "--slab", "SIZE",
             "Bytes that a thread reads at a time. 4K to 1G; chosen by default", run.slab_bytes,
             parse_size);
  add_option(command, "--read-path", read_paths,
             "Read byte ranges, chunks, or by HDF5. auto chooses the fastest path "
             "that the dataset allows",
             run.read_path);
  add_option(command, "--file-cache", file_caches,
             "Read through the system's cache or bypass it. auto bypasses it if that is faster",
             run.file_cache);
  add_option(command, "--external", external_files,
             "Restrict the files that FILE may refer to. These are raw files, sources of "
             "virtual datasets and targets of external links. same-folder allows those in the "
             "folder of the file that refers to them. Default: any",
             run.external);
  add_option(command, "--device-memory", "SIZE",
             "Limit the GPU memory of a rank. Default: 80% of the free memory",
             run.device_memory_bytes, parse_size);
  command.add_flag("--share-gpu", run.share_gpu, "Allow several ranks on one GPU");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_run_options(command, options.run);
  add_report_options(command, options);
}

void add_data_options(CLI::App& command, CommonOptions& options) {
  add_common_options(command, options);
  const OptionGroup group(command, "Reporting");
  add_option(command, "--metrics", "FILE",
             "Write a JSON line every second. It has progress, throughput and remaining time. "
             "- is standard output",
             options.metrics, report_target);
}

}  // namespace warpfold::cli
