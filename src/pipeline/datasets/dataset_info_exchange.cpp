#include "pipeline/datasets/dataset_info_exchange.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/run/collective.hpp"

namespace warpfold {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElementFormat, type, order)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Slice, start, count, step, dropped)

namespace io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Filter, id, name, available, parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DatasetInfo, file, name, stored_file, format, stored_type,
                                   marked_unsigned, taken_as_unsigned, stored_shape, selection,
                                   shape, elements, layout, chunk_shape, filters, stored_bytes,
                                   fill, partial_edge_chunks_filtered, path, path_reason)

}  // namespace io

namespace pipeline {
namespace {

using nlohmann::json;

std::string packed(const io::DatasetInfo& info) {
  json document = info;
  if (info.file_offset) document["file_offset"] = *info.file_offset;
  std::string bytes;
  json::to_msgpack(document, bytes);
  return bytes;
}

io::DatasetInfo unpacked(const std::string& bytes) {
  const json document = json::from_msgpack(bytes);
  auto info = document.get<io::DatasetInfo>();
  if (document.contains("file_offset")) document["file_offset"].get_to(info.file_offset.emplace());
  return info;
}

}  // namespace

io::DatasetInfo share_from_root(const io::DatasetInfo& info,
                                const mpi::Communicator& communicator) {
  return unpacked(mpi::broadcast(communicator.is_root() ? packed(info) : "", communicator));
}

io::Dataset open_everywhere(const std::string& file, const std::string& name,
                            const mpi::Communicator& communicator, ReadPath path) {
  return open_everywhere([&] { return io::Dataset(file, name, path); }, communicator);
}

io::Dataset open_everywhere(const std::function<io::Dataset()>& open,
                            const mpi::Communicator& communicator) {
  std::optional<io::Dataset> dataset;
  run_on_root(communicator, [&] { dataset.emplace(open()); });
  const io::DatasetInfo info =
      share_from_root(dataset ? dataset->info() : io::DatasetInfo{}, communicator);
  run_on_all(communicator, [&] {
    if (!dataset) dataset.emplace(info);
  });
  return *std::move(dataset);
}

}  // namespace pipeline
}  // namespace warpfold
