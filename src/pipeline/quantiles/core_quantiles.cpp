#include "pipeline/quantiles/quantile_job.hpp"
#include "pipeline/regions/staging.hpp"

namespace warpfold::pipeline {
namespace {

class CoreTileConsumer final : public TileConsumer {
 public:
  CoreTileConsumer(QuantileJob& job, PassThread& thread)
      : TileConsumer(job, thread, io::Compressed::undone, stage::reduce),
        staging_(staging_bytes(job.tiling, job.source)),
        finder_(cpu::make_quantile_finder(job.view.info().format, job.view.decoding,
                                          job.wanted.spec)) {}

 private:
  void gather(const TileItems::Item& item, const Hyperslab& box) override {
    const std::vector<std::uint64_t> strides = row_major_strides(box.count);
    const StagedChunks slab = reader_.read(box, strides, staging_.span());
    const BoxIndices indices = box_indices(job_.tiling.box_in_tile(item.tile, *item.box), strides,
                                           job_.tiling.tile_shape(item.tile));
    working_.time(box.elements() * size_of(job_.view.info().format.type),
                  [&] { finder_->gather(slab, staging_.span().data(), indices, table(item)); });
  }

  void find(const TileItems::Item& item, std::byte* quantiles) override {
    const cpu::LineLayout layout(job_.tiling.tile_shape(item.tile), job_.tiling.array().along);
    finder_->find(table(item), layout, *item.lines, quantiles);
  }

  cpu::ValueTable table(const TileItems::Item& item) const {
    return job_.tables->from(item.number % job_.items.tables() * job_.tile_elements);
  }

  cpu::PageBuffer staging_;
  std::unique_ptr<cpu::QuantileFinder> finder_;
};

}  // namespace

std::unique_ptr<Consumer> make_core_consumer(QuantileJob& job, PassThread& thread) {
  return std::make_unique<CoreTileConsumer>(job, thread);
}

}  // namespace warpfold::pipeline
