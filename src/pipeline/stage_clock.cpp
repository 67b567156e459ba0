#include "pipeline/stage_clock.hpp"

namespace warpfold::pipeline {

std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator) {
  std::vector<double> figures;
  for (const StageTiming& stage : mine) {
    figures.push_back(stage.seconds);
    figures.push_back(static_cast<double>(stage.bytes));
  }
  figures = mpi::maximum(std::move(figures), communicator);
  std::vector<StageTiming> result;
  for (std::size_t i = 0; i < mine.size(); ++i)
    result.push_back(
        {mine[i].stage, figures[2 * i], static_cast<std::uint64_t>(figures[2 * i + 1])});
  return result;
}

}  // namespace warpfold::pipeline
