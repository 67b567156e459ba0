#include "pipeline/datasets/dataset_info_exchange.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {
namespace {

using nlohmann::json;

std::string packed(const io::DatasetInfo& info) {
  json filters = json::array();
  for (const io::Filter& filter : info.filters)
    filters.push_back({filter.id, filter.name, filter.available, filter.parameters});
  json slices = json::array();
  for (const Slice& slice : info.selection)
    slices.push_back({slice.start, slice.count, slice.step, slice.dropped});
  const json document = {info.file,
                         info.name,
                         info.stored_file,
                         info.format.type,
                         info.format.order,
                         info.stored_type,
                         info.stored_shape,
                         slices,
                         info.shape,
                         info.elements,
                         info.layout,
                         info.chunk_shape,
                         filters,
                         info.stored_bytes,
                         std::bit_cast<std::uint64_t>(info.fill),
                         info.partial_edge_chunks_filtered,
                         info.path,
                         info.path_reason,
                         info.file_offset ? json(*info.file_offset) : json()};
  const std::vector<std::uint8_t> bytes = json::to_msgpack(document);
  return {bytes.begin(), bytes.end()};
}

io::DatasetInfo unpacked(const std::string& text) {
  const json document = json::from_msgpack(text.begin(), text.end());
  std::size_t next = 0;
  const auto take = [&](auto& field) { document[next++].get_to(field); };
  io::DatasetInfo info;
  take(info.file);
  take(info.name);
  take(info.stored_file);
  take(info.format.type);
  take(info.format.order);
  take(info.stored_type);
  take(info.stored_shape);
  for (const json& slice : document[next++])
    info.selection.push_back({slice[0].get<std::uint64_t>(), slice[1].get<std::uint64_t>(),
                              slice[2].get<std::uint64_t>(), slice[3].get<bool>()});
  take(info.shape);
  take(info.elements);
  take(info.layout);
  take(info.chunk_shape);
  for (const json& filter : document[next++])
    info.filters.push_back({filter[0].get<int>(), filter[1].get<std::string>(),
                            filter[2].get<bool>(), filter[3].get<std::vector<unsigned>>()});
  take(info.stored_bytes);
  info.fill = std::bit_cast<std::array<std::byte, 8>>(document[next++].get<std::uint64_t>());
  take(info.partial_edge_chunks_filtered);
  take(info.path);
  take(info.path_reason);
  if (!document[next].is_null()) info.file_offset = document[next].get<std::uint64_t>();
  return info;
}

}  // namespace

io::DatasetInfo share_from_root(const io::DatasetInfo& info,
                                const mpi::Communicator& communicator) {
  return unpacked(mpi::broadcast(communicator.is_root() ? packed(info) : "", communicator));
}

io::Dataset open_everywhere(const std::string& file, const std::string& name,
                            const mpi::Communicator& communicator, ReadPath path) {
  std::optional<io::Dataset> dataset;
  run_on_root(communicator, [&] { dataset.emplace(file, name, path); });
  const io::DatasetInfo info =
      share_from_root(dataset ? dataset->info() : io::DatasetInfo{}, communicator);
  run_on_all(communicator, [&] {
    if (!dataset) dataset.emplace(info);
  });
  return *std::move(dataset);
}

}  // namespace warpfold::pipeline
