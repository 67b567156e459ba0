#include "cli/options/output_options.hpp"

#include <utility>

#include "cli/options/option_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* default_deflate_level = "6";

template <class Take>
CLI::Option* add(CLI::App& command, const char* name, const char* type, const char* help,
                 Take take) {
  return command.add_option_function<std::string>(name, take, help)->type_name(type);
}

}  // namespace

void add_output_options(CLI::App& command, OutputOptions& output, const std::string& more,
                        const std::string& group) {
  CLI::Option* name = command
                          .add_option_function<std::string>(
                              "-o,--output",
                              [&output](const std::string& text) {
                                OutputName named = parse_output_name("-o", text);
                                output.path = std::move(named.file);
                                output.dataset = std::move(named.dataset);
                              },
                              "The file to make, and the dataset in it (the last colon separates)" +
                                  more + "; the input's name if not given")
                          ->type_name("OUT[:DATASET]");
  CLI::Option* force = command.add_flag("--force", output.force, "Replace an existing output file");
  if (group.empty()) return;
  name->group(group);
  force->group(group);
}

void require_output(const OutputOptions& output, const std::string& why) {
  if (output.path.empty())
    throw usage_error("the output is missing", why, "Name it with -o OUT or -o OUT:DATASET.");
}

void add_storage_options(CLI::App& command, StorageOptions& storage) {
  add(command, "--chunks", "N,...|auto",
      "Chunk extents, or chunks of about 4 MiB; contiguous if not given",
      [&storage](const std::string& text) {
        storage.choose_chunk_shape = text == "auto";
        storage.chunk_shape.clear();
        if (!storage.choose_chunk_shape) storage.chunk_shape = parse_shape("--chunks", text);
      });
  add(command, "--deflate", "[LEVEL]", "Compress chunks as gzip does, 0 to 9; level 6 if not given",
      [&storage](const std::string& text) {
        const std::string level = text.empty() ? default_deflate_level : text;
        storage.deflate_level = static_cast<int>(parse_integer("--deflate", level, 0, 9));
      })
      ->expected(0, 1);
  command.add_flag("--shuffle", storage.shuffle, "Regroup the bytes of chunks");
  command.add_flag("--fletcher32", storage.fletcher32, "Add checksums to chunks");
}

void check_storage_options(const StorageOptions& storage) {
  if (storage.filtered() && !storage.chunked())
    throw usage_error("--deflate, --shuffle and --fletcher32 need chunks",
                      "HDF5 filters chunks, not contiguous datasets",
                      "Give their extents with --chunks, or --chunks auto.");
}

}  // namespace warpfold::cli
