#include "pipeline/output/staged_dataset.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "core/base/text.hpp"
#include "core/layout/partition.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/value_element.hpp"
#include "mpi/combine.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::pipeline {
namespace {

/// Stands for "no offset" on the way between ranks; no dataset starts there.
constexpr std::uint64_t nowhere = 0;

constexpr std::uint64_t chosen_chunk_bytes = std::uint64_t{4} << 20;

bool is_chunked(const io::OutputSpec& spec) { return !spec.storage.chunk_shape.empty(); }

/// Describes a file of the elements alone, under the same name.
io::OutputSpec contiguous(io::OutputSpec spec) {
  spec.storage = {};
  for (io::OutputDataset& other : spec.others) other.storage = {};
  spec.force = true;
  spec.keeps_others = false;
  spec.attributes_from.reset();
  spec.text_attributes.clear();
  spec.history.clear();
  return spec;
}

}  // namespace

io::OutputSpec describe_output(const OutputOptions& options) {
  io::OutputSpec output;
  output.path = options.path;
  output.dataset = options.dataset;
  output.force = options.force;
  output.keeps_others = options.append;
  output.history = options.command;
  output.text_attributes = {{"warpfold_command", options.command},
                            {"warpfold_version", std::string(version())}};
  return output;
}

io::OutputSpec describe_output(const OutputOptions& options, const io::DatasetInfo& input,
                               std::vector<std::string> dropped, Run& run) {
  io::OutputSpec output = describe_output(options);
  output.keeps_others |= options.force && !options.dataset.empty();
  if (output.dataset.empty()) output.dataset = input.name;
  output.inputs = io::input_files(input);
  output.attributes_from = {input.file, input.name};
  for (const Slice& selected : io::selection_of(input)) output.dimensions.push_back({selected});
  if (!input.files.empty()) output.dimensions[input.concatenated_along].files = input.files;
  output.dropped_attributes = std::move(dropped);
  output.note = [&run](const std::string& text) { run.note(text); };
  const std::string file = input.files.empty() ? input.file : joined(input.files, ",");
  output.text_attributes.emplace_back("warpfold_input", file + ":" + input.name);
  return output;
}

void merge_dimensions(io::OutputSpec& output, const std::string& suffix) {
  output.merged_name = output.dataset.substr(output.dataset.rfind('/') + 1) + suffix;
  for (io::CarriedDimension& dimension : output.dimensions)
    if (!dimension.selected.dropped) dimension.fate = io::CarriedDimension::Fate::merged;
}

StorageOptions with_chunk_shape(StorageOptions storage, std::span<const std::uint64_t> shape,
                                std::size_t element_bytes) {
  if (!storage.choose_chunk_shape && (storage.chunked() || !storage.filtered())) return storage;
  storage.choose_chunk_shape = false;
  storage.chunk_shape.resize(shape.size());
  std::uint64_t room = chosen_chunk_bytes / element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    storage.chunk_shape[d] = std::clamp<std::uint64_t>(shape[d], 1, room);
    room /= storage.chunk_shape[d];
  }
  return storage;
}

void set_shape(io::OutputSpec& output, const std::vector<std::uint64_t>& shape,
               const StorageOptions& storage) {
  const auto set = [&](io::OutputDataset& dataset) {
    dataset.shape = shape;
    dataset.storage = with_chunk_shape(storage, shape, size_of(dataset.format.type));
    io::require_valid_storage(dataset);
  };
  set(output);
  std::ranges::for_each(output.others, set);
}

void OutputFile::commit(RunReport& report, StageRegistry& stages) {
  StageTimer timer(stages, stage::sync);
  timer.time(0, [&] {
    run_on_all(communicator_, [&] {
      if (written_) written_->sync();
    });
    run_on_root(communicator_, [&] { file_->commit(); });
  });
  const std::vector<StageTiming> sync = busiest({timer.timing()}, communicator_);
  add_up(report.stages, sync);
  report.seconds += sync.front().seconds;
}

StagedDataset::StagedDataset(const io::OutputSpec& spec, OutputFile& file)
    : file_(file), writers_(1 + spec.others.size()) {
  const mpi::Communicator& communicator = file.communicator_;
  std::optional<io::StagedFile>& root_file = file.file_;
  data_offsets_.assign(writers_.size(), nowhere);
  run_on_root(communicator, [&] {
    if (root_file)
      root_file->stage(spec);
    else
      root_file.emplace(spec);
    temporary_path_ = root_file->temporary_path();
    for (std::size_t i = 0; i < writers_.size(); ++i)
      data_offsets_[i] = root_file->data_offset(i).value_or(nowhere);
  });
  for (std::uint64_t& offset : data_offsets_) offset = mpi::broadcast(offset, communicator);
  temporary_path_ = mpi::broadcast(temporary_path_, communicator);
  run_on_all(communicator, [&] {
    for (std::size_t i = 0; i < writers_.size(); ++i)
      if (data_offsets_[i] != nowhere)
        writers_[i].emplace(temporary_path_, data_offsets_[i], spec.path);
    if (is_chunked(spec))
      chunk_writer_.emplace(temporary_path_, 0, spec.path, io::SharedPages::some);
    // Open from the first write on, it reports all that could not be stored.
    const bool writes =
        chunk_writer_ ||
        std::ranges::any_of(writers_, &std::optional<io::ContiguousWriter>::has_value);
    if (writes && !communicator.is_root() && !file.written_)
      file.written_.emplace(temporary_path_, 0, spec.path);
  });
}

StagedDataset::~StagedDataset() {
  if (file_.file_ && !is_finished_) file_.file_->drop();
}

void StagedDataset::finish() {
  run_on_root(file_.communicator_, [&] { file_.file_->finish(); });
  is_finished_ = true;
}

ArrayOutput::ArrayOutput(const io::OutputSpec& spec, OutputFile& file,
                         const mpi::Communicator& communicator)
    : communicator_(communicator), spec_(spec), scratch_(communicator) {
  if (!spec.path.empty()) {
    staged_.emplace(spec, file);
    return;
  }
  arrays_.resize(1 + spec.others.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const io::OutputDataset& dataset = spec.dataset_at(i);
    arrays_[i].words.resize(
        ceil_div(product(dataset.shape) * size_of(dataset.format.type), sizeof(std::uint64_t)));
    arrays_[i].writer.emplace(std::as_writable_bytes(std::span(arrays_[i].words)));
  }
}

io::ContiguousWriter* ArrayOutput::writer(std::size_t dataset) {
  if (!staged_) return &*arrays_[dataset].writer;
  if (!is_chunked()) return staged_->writer(dataset);
  if (!contiguous_) contiguous_.emplace(contiguous(spec_), scratch_);
  return contiguous_->writer(dataset);
}

std::vector<StageTiming> ArrayOutput::finish(ProgressMonitor& monitor, int threads) {
  std::vector<StageTiming> timings;
  for (Array& array : arrays_) array.words = mpi::sum(std::move(array.words), communicator_);
  if (contiguous_ && contiguous_->writer() != nullptr) {
    const StageTiming sync =
        sync_on_all_ranks([&] { contiguous_->writer()->sync(); }, monitor.stages(), communicator_);
    for (std::size_t dataset = 0; dataset <= spec_.others.size(); ++dataset)
      add_up(timings, pack(dataset, monitor, threads));
    append(timings, {sync});
  }
  if (staged_) staged_->finish();
  return timings;
}

std::vector<Value> ArrayOutput::values(std::size_t dataset) const {
  const io::OutputDataset& spec = spec_.dataset_at(dataset);
  std::vector<Value> values(product(spec.shape));
  const auto* const bytes = reinterpret_cast<const std::byte*>(arrays_[dataset].words.data());
  visit_element_type(spec.format.type, [&](auto element) {
    const auto value_of = [&](auto each) {
      return value_of_bits(value_bits(each), spec.format.type);
    };
    Value fill;
    if (spec.fill_value != fill) fill = value_of(element_of<decltype(element)>(spec.fill_value));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(static_cast<void*>(&element), bytes + i * sizeof(element), sizeof(element));
      if (const Value value = value_of(element); value != fill) values[i] = value;
    }
  });
  return values;
}

std::vector<StageTiming> ArrayOutput::pack(std::size_t dataset, ProgressMonitor& monitor,
                                           int threads) {
  const io::OutputDataset& spec = spec_.dataset_at(dataset);
  const std::size_t element_bytes = size_of(spec.format.type);
  const auto make_source = [&]() -> StretchSource {
    const auto reader = std::make_shared<io::ContiguousReader>(
        contiguous_->temporary_path(), contiguous_->data_offset(dataset), spec_.path);
    return [reader, element_bytes](std::uint64_t, ElementRange range, std::span<std::byte> out) {
      reader->read(range.first * element_bytes, out);
    };
  };
  return pack_chunks({*staged_, spec.shape, spec.storage, element_bytes, make_source,
                      stage::read_back, threads, dataset},
                     monitor, communicator_);
}

}  // namespace warpfold::pipeline
