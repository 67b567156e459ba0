#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "core/engine/stream_engines.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/quantile_finder.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/quantiles/line_quantiles.hpp"
#include "pipeline/quantiles/tile_items.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

struct HostTables {
  HostTables(std::uint64_t elements, cpu::ValueTableBytes bytes)
      : element_bytes(bytes), values(elements * bytes.value), counted(elements * bytes.counted) {}

  /// Returns what begins at an element.
  cpu::ValueTable from(std::uint64_t element) const {
    return {values.span().data() + element * element_bytes.value,
            element_bytes.counted > 0 ? counted.span().data() + element : nullptr};
  }

  cpu::ValueTableBytes element_bytes;
  cpu::PageBuffer values;
  cpu::PageBuffer counted;
};

/// Bytes that a table has for each element, and for each output beside them.
struct TableBytes {
  std::uint64_t element;
  std::uint64_t output;
};

/// State shared by a rank's threads.
struct QuantileJob {
  QuantileJob(const WorkPlan& work, DatasetView& dataset, const AxisShape& array,
              const LineQuantiles& quantiles, const TableBytes& bytes, Run& run);

  const WorkPlan& plan;
  const WorkTiling& tiling;
  const DatasetView& view;
  const LineQuantiles& wanted;
  RegionSource source;
  std::vector<std::uint64_t> output_shape;
  std::uint64_t tile_elements;  ///< at most
  TileItems items;
  TileProgress progress;
  std::unique_ptr<QuantileEngine> engine = {};  ///< null: cores find them
  std::optional<HostTables> tables = {};        ///< tables of cores
};

/// Takes boxes and parts of tiles.
class TileConsumer : public Consumer {
 public:
  /// `work` is the stage of what the thread does with elements that it has read.
  TileConsumer(QuantileJob& job, PassThread& thread, io::Compressed compressed, const char* work);

  void take(const PassItem& taken) final;
  std::vector<StageTiming> timings() const final;

 protected:
  /// Brings the elements of a box to its tile's table.
  virtual void gather(const TileItems::Item& item, const Hyperslab& box) = 0;

  /// Has the quantiles of a tile looked for, all of whose boxes are gathered.
  virtual void search(const TileItems::Item&) {}

  /// Writes those of some of its outputs as QuantileEngine::find() does.
  virtual void find(const TileItems::Item& item, std::byte* quantiles) = 0;

  QuantileJob& job_;
  PassThread& thread_;
  RegionReader reader_;
  StageTimer working_;

 private:
  void take_box(const TileItems::Item& item);
  void take_part(const TileItems::Item& item);
  void write(const ElementRange& lines, const ElementRange& outputs, std::uint64_t index,
             std::span<const std::byte> quantiles);

  StageTimer writing_;
};

std::unique_ptr<Consumer> make_core_consumer(QuantileJob& job, PassThread& thread);
std::unique_ptr<Consumer> make_engine_consumer(QuantileJob& job, PassThread& thread);

}  // namespace warpfold::pipeline
