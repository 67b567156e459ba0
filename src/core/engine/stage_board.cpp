#include "core/engine/stage_board.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace warpfold {
namespace {

constexpr std::array<std::string_view, 14> order_of_data = {
    stage::generate,      stage::read_back, stage::read,    stage::decompress, stage::copy_to_gpu,
    stage::fold,          stage::scan,      stage::compact, stage::exscan,     stage::combine,
    stage::copy_from_gpu, stage::compress,  stage::write,   stage::sync};

StageProgress& stage_of(std::vector<StageProgress>& stages, const std::string& name) {
  const auto known = std::ranges::find(stages, name, &StageProgress::stage);
  if (known != stages.end()) return *known;
  return stages.emplace_back(StageProgress{name, 0, false, 0, 0});
}

void add_to(std::vector<StageProgress>& stages, const StageProgress& part) {
  StageProgress& stage = stage_of(stages, part.stage);
  stage.busy += part.busy;
  stage.bytes += part.bytes;
}

}  // namespace

StageBoard::Entry::Entry(StageBoard* board, const Source& source) : board_(board), source_(source) {
  if (board_ == nullptr) return;
  const std::lock_guard lock(board_->mutex_);
  board_->sources_.push_back(&source);
  const std::string name = source.progress().stage;
  const auto at_once = std::ranges::count_if(
      board_->sources_, [&](const Source* each) { return each->progress().stage == name; });
  int& most = stage_of(board_->ended_, name).threads;
  most = std::max(most, static_cast<int>(at_once));
}

StageBoard::Entry::~Entry() {
  if (board_ == nullptr) return;
  const StageProgress all = source_.progress();
  const std::lock_guard lock(board_->mutex_);
  std::erase(board_->sources_, &source_);
  add_to(board_->ended_, all);
}

std::vector<StageProgress> StageBoard::progress() const {
  std::vector<StageProgress> stages;
  {
    const std::lock_guard lock(mutex_);
    stages = ended_;
    for (const Source* source : sources_) {
      const StageProgress part = source->progress();
      add_to(stages, part);
      stage_of(stages, part.stage).running = true;
    }
  }
  std::ranges::stable_sort(stages, {}, [](const StageProgress& each) {
    return std::ranges::find(order_of_data, each.stage) - order_of_data.begin();
  });
  return stages;
}

}  // namespace warpfold
