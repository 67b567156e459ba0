#pragma once

#include <chrono>
#include <utility>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/reduce_task.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// A view whose elements are to be reduced to numbers.
struct NumberReduction {
  ToNumbers task;
  DatasetView view;
  ReduceOptions options;
};

inline NumberReduction prepare(const ToNumbers& task, DatasetView view, ReduceOptions options,
                               Run&) {
  return {task, std::move(view), std::move(options)};
}

/// Collective; the result counts on the root alone. Throws the same Error on every rank.
ReduceResult reduce(NumberReduction& work, Run& run, OutputFile& no_output,
                    std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
