#pragma once

#include "core/scan/scan_spec.hpp"
#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/scan/scan_pipeline.hpp"

namespace warpfold::pipeline {

/// Scans the lines of a dataset that has elements, each on its own: threads go along the axis box
/// after box, each through tiles of its own, or all together through one after another. Collective;
/// throws the same Error on every rank: where prefixes are beyond the output type it names the
/// least flat index.
ScanOutcome scan_lines(DatasetView& view, const ScanSpec& spec, const AxisShape& lines,
                       io::ContiguousWriter& writer, Run& run);

}  // namespace warpfold::pipeline
