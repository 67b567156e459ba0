#include "pipeline/datasets/dataset_view.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/base/text.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/value_filters.hpp"
#include "io/hdf5/netcdf_variable.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/axis_times.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/meaning/coordinate.hpp"

namespace warpfold::pipeline {
namespace {

Value default_empty_value(const DatasetView& view) {
  if (!view.decoding.unpacking.active && !io::is_unpacked(view.info()))
    if (const auto fill = declared_fill_value(view.info())) return *fill;
  return value_for_nothing(view.value_type());
}

static_assert(std::is_trivially_copyable_v<Decoding>);

/// Returns the root's decoding on every rank.
Decoding share_from_root(const Decoding& decoding, const mpi::Communicator& communicator) {
  const std::string bytes = mpi::broadcast(
      std::string(reinterpret_cast<const char*>(&decoding), sizeof(decoding)), communicator);
  Decoding shared;
  std::memcpy(static_cast<void*>(&shared), bytes.data(), sizeof(shared));
  return shared;
}

}  // namespace

void interpret_everywhere(Interpretation& view, const io::DatasetInfo& info,
                          const ViewOptions& options, const mpi::Communicator& communicator) {
  run_on_root(communicator, [&] { view = interpret(info, options); });
  view.decoding = share_from_root(view.decoding, communicator);
}

namespace {

void add_notes(const io::DatasetInfo& info, Run& run) {
  for (const std::string& note : info.notes) run.note(note);
}

/// Notes chunks that were never written, where their elements count; each file has its own value.
void note_unwritten_chunks(const DatasetView& view, Run& run) {
  const io::DatasetInfo& whole = view.info();
  std::uint64_t chunks = 0;
  std::set<std::string> values;
  const auto add = [&](const io::DatasetInfo& info) {
    visit_element_type(info.format.type, [&](auto element) {
      std::memcpy(static_cast<void*>(&element), info.fill.data(), sizeof(element));
      if (info.format.order != native_byte_order) element = byte_swapped(element);
      visit_value_of<decltype(element)>(view.decoding.unpacking, [&](auto value) {
        if (info.unwritten_chunks == 0 || !decode(view.decoding, element, value)) return;
        chunks += info.unwritten_chunks;
        values.insert(coordinate_text(value_of_bits(value_bits(value), view.value_type())));
      });
    });
  };
  if (!whole.files.empty() && whole.parts && !io::is_unpacked(whole))
    std::ranges::for_each(whole.parts->infos, add);
  else
    add(whole);
  if (chunks == 0) return;
  run.note(std::to_string(chunks) + " chunks of '" + whole.name +
           "' were never written: their elements count as " +
           joined({values.begin(), values.end()}, ", ") + ".");
}

/// Notes a mask that leaves out more elements than it keeps: it may be one of bad ones.
std::string note_of_mask(const NamedCondition& mask, std::uint64_t kept, std::uint64_t elements) {
  const std::uint64_t left_out = elements - kept;
  if (left_out <= kept) return "";
  return "`mask` '" + mask.text + "' skips " + std::to_string(left_out) + " of " +
         std::to_string(elements) + " elements, more than it keeps.";
}

/// Leaves out elements by a condition on their times; returns false where it is on a dataset.
/// Collective; throws the same Error on every rank.
bool put_times(DatasetView& view, const NamedCondition& condition, DatasetMask& mask, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  std::optional<KeptTimes> kept;
  while_unchanged(view, communicator, [&] {
    run_on_root(communicator, [&] {
      kept = kept_times(condition, view.info(),
                        [&](const io::Dataset& line) { view.add_auxiliary(line, run); });
    });
  });
  if (mpi::broadcast(std::uint64_t{kept.has_value()}, communicator) == 0) return false;
  if (!kept) kept.emplace();
  for (const std::string& note : kept->notes) run.note(note);
  if (!kept->dimensions.empty()) view.kept_times.keep(kept->dimensions.front(), kept->words);
  mask.keep(mpi::broadcast(kept->words, communicator),
            dimensions_of_root(kept->dimensions, communicator), condition.text, run);
  return true;
}

/// Leaves out elements by one condition. Collective; throws the same Error on every rank.
void put_condition(DatasetView& view, const NamedCondition& condition, DatasetMask& mask,
                   Run& run) {
  if (put_times(view, condition, mask, run)) return;
  const mpi::Communicator& communicator = run.communicator;
  ViewOptions meets;
  const auto open = [&] {
    meets.where = {condition.condition};
    try {
      return open_mask(condition, view.info(), view.match);
    } catch (const Error& error) {
      throw advised_on_part(condition.dataset, error, condition.option);
    }
  };
  SharedDataset other = open_everywhere(open, communicator);
  view.add_auxiliary(other.dataset, run);
  Interpretation meaning;
  interpret_everywhere(meaning, other.dataset.info(), meets, communicator);
  while_unchanged(view, communicator, [&] {
    const std::uint64_t kept = mask.take(other.dataset, other.dimensions, meaning.decoding, run);
    if (condition.option == "mask")
      run.note(note_of_mask(condition, kept, other.dataset.info().elements));
  });
}

/// Leaves out elements as datasets beside the view tell. Collective; throws the same Error on every
/// rank.
void put_mask(DatasetView& view, const ViewOptions& options, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  std::vector<NamedCondition> conditions;
  run_on_root(communicator, [&] { conditions = conditions_beside(options, view.info().file); });
  conditions.resize(mpi::broadcast(std::uint64_t{conditions.size()}, communicator));
  const auto mask = std::make_shared<DatasetMask>(view.info().shape);
  for (const NamedCondition& each : conditions) put_condition(view, each, *mask, run);
  for (const auto& [dimension, words] : mask->indices().lines())
    view.dataset.need(selected_dimension(view.info(), static_cast<int>(dimension)).stored, words);
  view.mask = mask;
  view.decoding.mask = mask->bits();
}

}  // namespace

Value value_for_nothing(ElementType type) {
  return is_integer(type) ? io::netcdf_default_fill(type)
                          : Value(std::numeric_limits<double>::quiet_NaN());
}

Value empty_value(const DatasetView& view, const std::string& asked,
                  const mpi::Communicator& communicator) {
  const ElementType type = view.value_type();
  std::uint64_t bits = 0;
  run_on_root(communicator, [&] {
    const Value value = asked == "auto" ? default_empty_value(view) : parse_fill_value(asked, type);
    const auto* real = std::get_if<double>(&value);
    bits =
        real != nullptr ? value_bits(*real) : static_cast<std::uint64_t>(std::get<int128>(value));
  });
  return value_of_bits(mpi::broadcast(bits, communicator), type);
}

std::vector<std::string> element_attributes(const DatasetView& view) {
  std::vector<std::string> names{"scale_factor", "add_offset",    "_Unsigned",
                                 "_FillValue",   "missing_value", "valid_min",
                                 "valid_max",    "valid_range",   "actual_range"};
  if (view.packed) names.emplace_back("units");
  return names;
}

std::vector<std::string> packing_attributes(const DatasetView& view) {
  return view.decoding.unpacking.active || view.info().taken_as_unsigned ||
                 io::is_unpacked(view.info()) || view.of_several_packings
             ? element_attributes(view)
             : std::vector<std::string>{};
}

io::Dataset open_selected(const std::string& file, const std::string& name,
                          const ViewOptions& options, ReadPath path) {
  if (!options.files.empty() && options.files.front() != file)
    throw usage_error("the first of the view's files is not '" + file + "'", "",
                      "Begin with the file.");
  io::Dataset dataset = options.files.empty() ? io::Dataset(file, name, path)
                                              : open_concatenated(name, options, path);
  if (!options.raw) dataset.take_as_unsigned();
  const NotedSelection chosen = make_selection(options.select, dataset.info());
  dataset.add_note(chosen.note);
  dataset.select(chosen.selection);
  return dataset;
}

void DatasetView::add_auxiliary(const io::Dataset& other, Run& run) {
  add_notes(other.info(), run);
  auxiliary_files.merge(io::input_files(other.info()));
  require_unchanged_auxiliary.push_back(other.make_require_unchanged());
}

void DatasetView::require_unchanged() const {
  dataset.require_unchanged();
  for (const auto& require_other_unchanged : require_unchanged_auxiliary) require_other_unchanged();
}

DatasetView open_view(const std::string& file, const std::string& name, const ViewOptions& options,
                      Run& run) {
  DatasetView opened = run.opening.time(0, [&] {
    const mpi::Communicator& communicator = run.communicator;
    const auto open = [&] { return open_selected(file, name, options, run.options.read_path); };
    DatasetView view{{}, open_everywhere(open, communicator)};
    run_on_all(communicator, [&] { view.dataset.choose_cache(run.options.file_cache); });
    interpret_everywhere(view, view.info(), options, communicator);
    add_notes(view.info(), run);
    if (view.of_several_packings)
      run.note("files pack '" + view.info().name +
               "', or mark missing values, in different ways: outputs of stored numbers have no "
               "attributes about that.");
    note_unwritten_chunks(view, run);
    view.match = options.match;
    return view;
  });
  run.choose_backend_for(opened.info());
  if (!names_beside(options).empty()) run.opening.time(0, [&] { put_mask(opened, options, run); });
  return opened;
}

}  // namespace warpfold::pipeline
