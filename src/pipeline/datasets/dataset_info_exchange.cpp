#include "pipeline/datasets/dataset_info_exchange.hpp"

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "pipeline/run/collective.hpp"
#include "pipeline/run/same_files.hpp"

namespace warpfold {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementFormat, type, order)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Slice, start, count, step, dropped)

namespace io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NarrowElements, kind, order, bits, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Filter, id, name, available, parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DatasetInfo, file, name, problem, stored_file, format, narrow,
                                   stored_type, marked_unsigned, taken_as_unsigned, stored_shape,
                                   written_shape, missing_element, selection, shape, elements,
                                   layout, chunk_shape, filters, stored_bytes, fill,
                                   unwritten_chunks, has_default_fill, partial_edge_chunks_filtered,
                                   path, path_reason, files, concatenated_along, new_dimension,
                                   notes)

}  // namespace io

namespace pipeline {
namespace {

using nlohmann::json;

/// Returns the bytes of packings, which processes of one program share.
json packings_to_json(const std::vector<Packing>& packings) {
  static_assert(std::is_trivially_copyable_v<Packing>);
  std::vector<std::uint8_t> bytes(packings.size() * sizeof(Packing));
  std::memcpy(bytes.data(), packings.data(), bytes.size());
  return json::binary(std::move(bytes));
}

std::vector<Packing> packings_from_json(const json& document) {
  const std::vector<std::uint8_t>& bytes = document.get_binary();
  std::vector<Packing> packings(bytes.size() / sizeof(Packing));
  std::memcpy(static_cast<void*>(packings.data()), bytes.data(), bytes.size());
  return packings;
}

json to_json(const io::DatasetInfo& info) {
  json document = info;
  if (info.file_offset) document["file_offset"] = *info.file_offset;
  if (info.parts) {
    document["dimension"] = info.parts->dimension;
    document["is_new"] = info.parts->is_new;
    document["first"] = info.parts->first;
    document["unpacked"] = info.parts->unpacked.type;
    if (const auto& left_out = info.parts->unpacked.left_out) document["left_out"] = *left_out;
    if (!info.parts->packings.empty())
      document["packings"] = packings_to_json(info.parts->packings);
    for (const io::DatasetInfo& part : info.parts->infos)
      document["parts"].push_back(to_json(part));
  }
  return document;
}

io::DatasetInfo from_json(const json& document) {
  auto info = document.get<io::DatasetInfo>();
  if (document.contains("file_offset")) document["file_offset"].get_to(info.file_offset.emplace());
  if (document.contains("parts")) {
    const auto parts = std::make_shared<io::DatasetParts>();
    document["dimension"].get_to(parts->dimension);
    document["is_new"].get_to(parts->is_new);
    document["first"].get_to(parts->first);
    document["unpacked"].get_to(parts->unpacked.type);
    if (document.contains("left_out"))
      document["left_out"].get_to(parts->unpacked.left_out.emplace());
    if (document.contains("packings")) parts->packings = packings_from_json(document["packings"]);
    for (const json& part : document["parts"]) parts->infos.push_back(from_json(part));
    info.parts = parts;
  }
  return info;
}

std::string packed(const io::DatasetInfo& info) {
  std::string bytes;
  json::to_msgpack(to_json(info), bytes);
  return bytes;
}

}  // namespace

io::DatasetInfo share_from_root(const io::DatasetInfo& info,
                                const mpi::Communicator& communicator) {
  return from_json(
      json::from_msgpack(mpi::broadcast(communicator.is_root() ? packed(info) : "", communicator)));
}

io::Dataset open_everywhere(const std::string& file, const std::string& name,
                            const mpi::Communicator& communicator, ReadPath path) {
  return open_everywhere([&] { return io::Dataset(file, name, path); }, communicator);
}

SharedDataset open_everywhere(const std::function<SharedDataset()>& open,
                              const mpi::Communicator& communicator) {
  std::vector<std::size_t> dimensions;
  const auto open_dataset = [&] {
    SharedDataset opened = open();
    dimensions = std::move(opened.dimensions);
    return std::move(opened.dataset);
  };
  io::Dataset dataset = open_everywhere(open_dataset, communicator);
  return {std::move(dataset), dimensions_of_root(dimensions, communicator)};
}

io::Dataset open_everywhere(const std::function<io::Dataset()>& open,
                            const mpi::Communicator& communicator) {
  if (communicator.is_alone()) return open();
  std::optional<io::Dataset> dataset;
  run_on_root(communicator, [&] { dataset.emplace(open()); });
  const io::DatasetInfo info =
      share_from_root(dataset ? dataset->info() : io::DatasetInfo{}, communicator);
  run_on_all(communicator, [&] {
    if (!dataset) dataset.emplace(info);
  });
  require_same_files(info.problem, dataset->file_versions(), communicator);
  return *std::move(dataset);
}

}  // namespace pipeline
}  // namespace warpfold
