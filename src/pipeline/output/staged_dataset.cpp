#include "pipeline/output/staged_dataset.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "core/base/text.hpp"
#include "core/layout/partition.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/value_element.hpp"
#include "cpu/machine/host_memory.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::pipeline {
namespace {

/// Stands for "no offset" on the way between ranks; no dataset starts there.
constexpr std::uint64_t nowhere = 0;

constexpr std::uint64_t chosen_chunk_bytes = std::uint64_t{4} << 20;

/// Elements that wait to be packed take no more of the memory that a host's ranks may use.
constexpr std::uint64_t packed_memory_divisor = 8;

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
  if (!input.files.empty()) {
    io::CarriedDimension& joined = output.dimensions[input.concatenated_along];
    joined.files = input.files;
    joined.new_name = input.new_dimension;
  }
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

ArrayOutput::ArrayOutput(const io::OutputSpec& spec, OutputFile& file, Run& run,
                         std::optional<std::uint64_t> mine)
    : run_(run), spec_(spec), mine_(mine), scratch_(run.communicator) {
  if (!spec.path.empty()) staged_.emplace(spec, file);
}

io::ContiguousWriter* ArrayOutput::writer(std::size_t dataset) {
  if (staged_ && !is_chunked()) return staged_->writer(dataset);
  if (elements() == 0) return nullptr;
  if (stores_.empty() && !contiguous_) make_room();
  return contiguous_ ? contiguous_->writer(dataset) : &stores_[dataset].writer();
}

/// An array in memory is one chunk, the root's.
ChunkGrid ArrayOutput::grid(std::size_t dataset) const {
  if (staged_) return grid_of(spec_.shape, spec_.dataset_at(dataset).storage);
  const std::uint64_t all[] = {elements()};
  return chunk_grid(all, all);
}

/// Returns how much memory a rank needs for the datasets: for its chunks and, if there are other
/// ranks, for compressed chunks and for elements to be sent.
std::uint64_t ArrayOutput::memory_bytes() const {
  const mpi::Communicator& communicator = run_.communicator;
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i <= spec_.others.size(); ++i) {
    const ChunkGrid chunks = grid(i);
    std::uint64_t held = ChunkStore::share(chunks, communicator) * chunks.chunk_elements();
    if (ranks > 1) held += held + mine_.value_or(ceil_div(elements(), ranks));
    bytes += held * element_bytes(i);
  }
  return bytes;
}

void ArrayOutput::make_room() {
  const mpi::Communicator& communicator = run_.communicator;
  const bool fits = !staged_ || memory_bytes() <= cpu::memory_of_threads(packed_memory_divisor,
                                                                         run_.place.threads);
  if (mpi::minimum({fits ? 1U : 0U}, communicator).front() == 0) {
    contiguous_.emplace(contiguous(spec_), scratch_);
    return;
  }
  run_on_all(communicator, [&] {
    for (std::size_t i = 0; i <= spec_.others.size(); ++i)
      stores_.emplace_back(grid(i), element_bytes(i), communicator);
  });
}

std::vector<StageTiming> ArrayOutput::finish() {
  std::vector<StageTiming> timings;
  if (contiguous_)
    append(timings, {sync_on_all_ranks([&] { contiguous_->writer()->sync(); },
                                       run_.monitor.stages(), run_.communicator)});
  if (!stores_.empty() && run_.communicator.size() > 1) {
    StageTimer exchanging(run_.monitor.stages(), stage::combine);
    for (ChunkStore& store : stores_) exchanging.time(0, [&] { store.exchange(); });
    append(timings, {exchanging.timing()});
  }
  if (staged_ && (contiguous_ || !stores_.empty()))
    for (std::size_t i = 0; i <= spec_.others.size(); ++i) add_up(timings, pack(i));
  if (staged_) staged_->finish();
  return timings;
}

std::vector<Value> ArrayOutput::values(std::size_t dataset) const {
  const io::OutputDataset& spec = spec_.dataset_at(dataset);
  std::vector<Value> values(elements());
  std::vector<std::byte> bytes(values.size() * element_bytes(dataset));
  if (!stores_.empty()) stores_[dataset].read({0, values.size()}, bytes);
  visit_element_type(spec.format.type, [&](auto element) {
    const auto value_of = [&](auto each) {
      return value_of_bits(value_bits(each), spec.format.type);
    };
    Value fill;
    if (spec.fill_value != fill) fill = value_of(element_of<decltype(element)>(spec.fill_value));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(static_cast<void*>(&element), &bytes[i * sizeof(element)], sizeof(element));
      if (const Value value = value_of(element); value != fill) values[i] = value;
    }
  });
  return values;
}

std::vector<StageTiming> ArrayOutput::pack(std::size_t dataset) {
  const io::OutputDataset& spec = spec_.dataset_at(dataset);
  const std::size_t size = element_bytes(dataset);
  const auto make_source = [&]() -> StretchSource {
    if (!contiguous_)
      return [&store = stores_[dataset]](std::uint64_t, ElementRange range,
                                         std::span<std::byte> out) { store.read(range, out); };
    const auto reader = std::make_shared<io::ContiguousReader>(
        contiguous_->temporary_path(), contiguous_->data_offset(dataset), spec_.path);
    return [reader, size](std::uint64_t, ElementRange range, std::span<std::byte> out) {
      reader->read(range.first * size, out);
    };
  };
  PackJob job{*staged_,    spec.shape, spec.storage,       size,
              make_source, {},         run_.place.threads, dataset};
  if (contiguous_)
    job.source_stage = stage::read_back;
  else if (run_.communicator.size() > 1)
    job.turn_chunks = ChunkStore::share(job.grid(), run_.communicator);
  return pack_chunks(job, run_.monitor, run_.communicator);
}

}  // namespace warpfold::pipeline
