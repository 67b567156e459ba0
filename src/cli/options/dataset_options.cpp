#include "cli/options/dataset_options.hpp"

#include <utility>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

void check(const DatasetArguments& arguments) {
  const bool named = !arguments.datasets.names.empty();
  if (named && arguments.datasets.all)
    throw usage_error("both DATASET and --all are given", "", "Omit one of them.");
  if (!named && !arguments.datasets.all)
    throw usage_error("DATASET is required", "",
                      "Name datasets, a pattern of them, or --all; run 'warpfold info " +
                          arguments.file + "' to list them.");
}

}  // namespace

void add_dataset_arguments(CLI::App& command, DatasetArguments& arguments) {
  command.add_option("FILE", arguments.file, "An HDF5 file")->required()->type_name("");
  command
      .add_option("DATASET", arguments.datasets.names,
                  "Paths of datasets in it, or patterns: 'run*/temp'. With --concat, files come "
                  "before the dataset")
      ->type_name("");
  command.add_flag("--all", arguments.datasets.all,
                   "Process all datasets of the file. Those that can't be read are skipped");
  add_option(command, "--concat", "K|NAME|new:NAME",
             "Join files along this dimension, or a new one. FILE and all but the last DATASET are "
             "files, or patterns of files. The files' parts of the last DATASET are joined in this "
             "order",
             arguments.concat, parse_axis, "files go on along one dimension");
}

void take_files(DatasetArguments& arguments, ViewOptions& view,
                const mpi::Communicator& communicator) {
  check(arguments);
  if (arguments.concat) {
    std::vector<std::string>& names = arguments.datasets.names;
    std::vector<std::string> files{arguments.file};
    if (!names.empty()) {
      files.insert(files.end(), names.begin(), names.end() - 1);
      names.erase(names.begin(), names.end() - 1);
    }
    view.concat = *arguments.concat;
    view.files = pipeline::matching_files(files, communicator);
    arguments.file = view.files.front();
  }
  arguments.several = !pipeline::is_one_dataset(arguments.file, arguments.datasets, communicator);
  if (arguments.concat && arguments.several)
    throw usage_error("--concat takes one dataset", "several are named",
                      "Name files, then one dataset.");
}

constexpr Choice<Matching> matchings[] = {{"coordinates", Matching::coordinates},
                                          {"position", Matching::position}};

void add_view_options(CLI::App& command, ViewOptions& options) {
  const OptionGroup group(command, "Elements");
  add_option(command, "--select", "SLICE,...",
             "Select a part of the dataset: '10:20, ::2'. The notation is NumPy's. Or by "
             "names, 'time=2:5, lat=-30.:30.': whole numbers are indices, numbers with a point "
             "coordinates, '~46.2' the nearest one. Or by dates, 'time=2001-03', or by a text, "
             "'station=ulm'",
             [&options](const std::string& text) {
               if (text.empty())
                 throw usage_error("bad --select ''", "it selects nothing", "Try ':'.");
               options.select = text;
             });
  command
      .add_option("--where", options.where,
                  "Keep only elements that satisfy this: '>0'. Others: '<=1e3', '==0', '!=nan', "
                  "'finite', 'inf' and 'nan'. 'D > 0' is a condition on another dataset, as for "
                  "--mask; 'month==12,1,2', 'season==JJA' and 'hour<18' on times. Several "
                  "conditions must all hold")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--fill-value", options.fill_value,
                  "Skip elements stored as VALUE. none skips none, and auto (the default) those "
                  "that the dataset's _FillValue, missing_value and valid_* specify")
      ->type_name("auto|VALUE|none");
  command.add_flag("--raw", options.raw,
                   "Use the stored numbers. No attribute is applied, such as _FillValue, "
                   "scale_factor, add_offset or _Unsigned");
  add_option(command, "--mask", "[!][FILE::]DATASET[CONDITION]",
             "Skip elements where this dataset is 0. With ! where it is not 0; with a "
             "condition, 'D > 0.5', where it does not satisfy it. It has all or some "
             "dimensions of the dataset; D@0,2 names them",
             options.mask, parse_name);
  add_option(command, "--match", matchings,
             "Match other datasets by coordinates or position. coordinates compares names and "
             "coordinates of the dimensions of masks, weights, labels and joined files, if "
             "both sides have them",
             options.match);
}

void add_output_options(CLI::App& command, OutputOptions& output, const std::string& more) {
  add_option(command, "-o,--output", "OUT[:DATASET]",
             "Name the output file and its dataset. The last colon, or ::, separates them. By "
             "default the dataset has the input's name" +
                 more,
             [&output](const std::string& text) {
               OutputName named = parse_output_name("-o", text);
               output.path = std::move(named.file);
               output.dataset = std::move(named.dataset);
             });
  command.add_flag("--append", output.append,
                   "Add to an existing output file. A dataset that it already has is an error");
  command.add_flag("--force", output.force,
                   "Replace an existing output file. With --append only datasets in it");
}

void require_output(const OutputOptions& output, const std::string& why) {
  if (output.path.empty())
    throw usage_error("the output is missing", why, "Name it with -o OUT or -o OUT:DATASET.");
}

void add_storage_options(CLI::App& command, StorageOptions& storage) {
  const auto add_level = [&](const char* name, const char* help, std::optional<int>& level,
                             std::uint64_t least, std::uint64_t most, int usual) {
    add_option(command, name, "[LEVEL]", help, [=, &level](const std::string& text) {
      level = text.empty() ? usual : static_cast<int>(parse_integer(name, text, least, most));
    })->expected(0, 1);
  };
  add_option(command, "--chunks", "N,...|auto",
             "Store in chunks of these extents. auto makes chunks of about 4 MiB. Default: "
             "auto with a filter, contiguous without",
             [&storage](const std::string& text) {
               storage.choose_chunk_shape = text == "auto";
               storage.chunk_shape.clear();
               if (!storage.choose_chunk_shape) storage.chunk_shape = parse_shape("--chunks", text);
             });
  add_level("--deflate", "Compress chunks as gzip does. Levels are 0 to 9; default: 6",
            storage.deflate_level, 0, 9, 6);
  add_level("--zstd",
            "Compress chunks by Zstandard. Levels are 1 to 22; default: 3. Readers need "
            "HDF5's plugin for filter 32015",
            storage.zstd_level, 1, 22, 3);
  command.add_flag("--shuffle", storage.shuffle, "Regroup the bytes of chunks");
  command.add_flag("--fletcher32", storage.fletcher32, "Add checksums to chunks");
}

}  // namespace warpfold::cli
