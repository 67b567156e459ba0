#include "pipeline/quantiles/quantile_job.hpp"

namespace warpfold::pipeline {
namespace {

class EngineTileConsumer final : public TileConsumer {
 public:
  EngineTileConsumer(QuantileJob& job, PassThread& thread)
      : TileConsumer(job, thread,
                     job.engine->decompresses() ? io::Compressed::left : io::Compressed::undone,
                     stage::finish) {}

 private:
  void gather(const TileItems::Item& item, const Hyperslab& box) override {
    job_.engine->fill(thread_.number, item.number, job_.tiling.outputs(item.tile).elements());
    const Ticket ticket = job_.engine->take(thread_.number);
    job_.engine->submit(ticket, reader_.read(box, job_.tiling.matrix_strides(box), ticket.memory));
  }

  void search(const TileItems::Item& item) override { job_.engine->search(item.number); }

  void find(const TileItems::Item& item, std::byte* quantiles) override {
    job_.engine->find(thread_.number, item.number, *item.lines, quantiles);
  }
};

}  // namespace

std::unique_ptr<Consumer> make_engine_consumer(QuantileJob& job, PassThread& thread) {
  return std::make_unique<EngineTileConsumer>(job, thread);
}

}  // namespace warpfold::pipeline
