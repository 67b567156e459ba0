#include "core/engine/stage_registry.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace warpfold {
namespace {

constexpr std::array<std::string_view, 17> order_of_data = {stage::generate,
                                                            stage::read_back,
                                                            stage::read,
                                                            stage::decompress,
                                                            stage::reduce_on_cores,
                                                            stage::copy_to_gpu,
                                                            stage::decompress_on_gpu,
                                                            stage::reduce,
                                                            stage::scan,
                                                            stage::compact,
                                                            stage::exscan,
                                                            stage::combine,
                                                            stage::copy_from_gpu,
                                                            stage::finish,
                                                            stage::compress,
                                                            stage::write,
                                                            stage::sync};

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

StageRegistry::Entry::Entry(StageRegistry* registry, const Source& source)
    : registry_(registry), source_(source) {
  if (registry_ == nullptr) return;
  const std::lock_guard lock(registry_->mutex_);
  registry_->sources_.push_back(&source);
  const std::string name = source.progress().stage;
  const auto at_once = std::ranges::count_if(
      registry_->sources_, [&](const Source* each) { return each->progress().stage == name; });
  int& maximum = stage_of(registry_->ended_, name).threads;
  maximum = std::max(maximum, static_cast<int>(at_once));
}

StageRegistry::Entry::~Entry() {
  if (registry_ == nullptr) return;
  const StageProgress all = source_.progress();
  const std::lock_guard lock(registry_->mutex_);
  std::erase(registry_->sources_, &source_);
  add_to(registry_->ended_, all);
}

std::vector<StageProgress> StageRegistry::progress() const {
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
