#include "pipeline/datasets/dataset_view.hpp"

#include <cstring>
#include <type_traits>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/view_decoding.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {
namespace {

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

DatasetView open_view(const std::string& file, const std::string& name, const ViewOptions& options,
                      const Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  DatasetView view{open_everywhere(file, name, communicator, run.options.read_path), {}};
  run_on_all(communicator, [&] {
    view.dataset.select(parse_selection(options.select, view.info().stored_shape));
    view.dataset.choose_cache(run.options.file_cache);
  });
  Decoding decoding;
  run_on_root(communicator, [&] { decoding = view_decoding(view.info(), options); });
  view.decoding = share_from_root(decoding, communicator);
  return view;
}

}  // namespace warpfold::pipeline
