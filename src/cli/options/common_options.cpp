#include "cli/options/common_options.hpp"

#include <string_view>

#include "cli/options/option_values.hpp"

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
  add_target(command, "--json", "Write a JSON report; - is standard output", options.json);
  add_target(command, "--csv", "Write a CSV report; - is standard output", options.csv);
  command.add_flag("--quiet", options.quiet, "No table, no notes")->group("Reporting");
  command.add_flag("--timings", options.timings, "Show each stage's time and rate")
      ->group("Reporting");
  add_text_option(command, "--progress", "auto|always|never",
                  "A progress bar on standard error, with the stages' rates; auto: on a terminal, "
                  "after two seconds",
                  [&options](const std::string& text) {
                    options.progress = parse_choice("--progress", text, progress_choices);
                  })
      ->group("Reporting");
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& run) {
  const auto add = [&](const char* name, const char* type, const char* help, auto&& take) {
    add_text_option(command, name, type, help, take)->group("Running");
  };
  add("--backend", "auto|cuda|cpu", "Where to compute; auto takes the GPU where there is one",
      [&run](const std::string& text) { run.backend = parse_choice("--backend", text, backends); });
  add("--threads", "N",
      "Threads a rank, to read, decompress and compute on the CPU; chosen from its share of the "
      "cores if not given",
      [&run](const std::string& text) {
        run.threads = static_cast<int>(parse_integer("--threads", text, 1, max_threads));
      });
  add("--slab", "SIZE", "Bytes that a thread reads at a time, 4K to 1G; chosen if not given",
      [&run](const std::string& text) { run.slab_bytes = parse_size("--slab", text); });
  add("--read-path", "auto|direct|chunk|library",
      "Byte ranges of the file, its chunks, or the HDF5 library; auto takes the quickest that the "
      "dataset allows",
      [&run](const std::string& text) {
        run.read_path = parse_choice("--read-path", text, read_paths);
      });
  add("--file-cache", "auto|through|past",
      "Read through the system's file cache or past it; auto goes past it where that is quicker",
      [&run](const std::string& text) {
        run.file_cache = parse_choice("--file-cache", text, file_caches);
      });
  add("--device-memory", "SIZE", "The most GPU memory to use a rank",
      [&run](const std::string& text) {
        run.device_memory_bytes = parse_size("--device-memory", text);
      });
  command.add_flag("--share-gpu", run.share_gpu, "Allow several ranks on one GPU")
      ->group("Running");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_run_options(command, options.run);
  add_report_options(command, options);
}

void add_data_options(CLI::App& command, CommonOptions& options) {
  add_common_options(command, options);
  add_target(command, "--metrics",
             "Write a JSON line a second while it runs: how far, how fast, how long yet; - is "
             "standard output",
             options.metrics);
}

}  // namespace warpfold::cli
