#include "cuda/runtime/span_timer.hpp"

#include <algorithm>
#include <utility>

namespace warpfold::cuda {
namespace {

/// Seconds after `from` that any of the spans cover; afterwards `from` is where they end.
double covered_seconds(std::vector<Span>& spans, double& from) {
  std::ranges::sort(spans, {}, &Span::begin);
  double seconds = 0;
  for (const Span& span : spans) {
    seconds += std::max(span.end - std::max(span.begin, from), 0.0);
    from = std::max(from, span.end);
  }
  return seconds;
}

}  // namespace

TimedEvent make_time_origin() {
  const Stream stream;
  TimedEvent time_origin;
  time_origin.record(stream.get());
  stream.synchronize();
  return time_origin;
}

void SpanTimer::begin(cudaStream_t stream) {
  collect();
  begin_.record(stream);
}

void SpanTimer::end(cudaStream_t stream, std::uint64_t bytes) {
  end_.record(stream);
  bytes_ += bytes;
  pending_bytes_ = bytes;
  pending_ = true;
}

const std::vector<Span>& SpanTimer::spans() {
  collect();
  return spans_;
}

void SpanTimer::collect() {
  if (!pending_) return;
  end_.wait();
  const double since = spans_.empty() ? 0 : spans_.back().end;
  const double begin = since + begin_.seconds_since(spans_.empty() ? time_origin_ : last_end_);
  spans_.push_back({begin, begin + end_.seconds_since(begin_)});
  std::swap(end_, last_end_);
  pending_ = false;
  if (stage_ != nullptr) stage_->add(spans_.back(), pending_bytes_);
}

TimedStage::TimedStage(std::string name, std::vector<SpanTimer*> timers, StageRegistry* registry)
    : name_(std::move(name)), timers_(std::move(timers)), entry_(registry, *this) {
  if (registry == nullptr) return;
  for (SpanTimer* timer : timers_) timer->tell(this);
}

TimedStage::~TimedStage() {
  for (SpanTimer* timer : timers_) timer->tell(nullptr);
}

StageTiming TimedStage::timing() const {
  StageTiming timing{.stage = name_};
  std::vector<Span> spans;
  for (SpanTimer* timer : timers_) {
    timing.bytes += timer->bytes();
    spans.insert(spans.end(), timer->spans().begin(), timer->spans().end());
  }
  double start = 0;
  timing.seconds = covered_seconds(spans, start);
  return timing;
}

void TimedStage::add(Span span, std::uint64_t bytes) {
  constexpr std::size_t most_recent = 4096;
  const std::lock_guard lock(mutex_);
  recent_.push_back(span);
  bytes_ += bytes;
  if (recent_.size() == most_recent) count_recent();
}

StageProgress TimedStage::progress() const {
  const std::lock_guard lock(mutex_);
  count_recent();
  return {name_, 1, true, busy_, bytes_};
}

void TimedStage::count_recent() const {
  busy_ += covered_seconds(recent_, busy_to_);
  recent_.clear();
}

std::vector<StageTiming> timings_of(const std::vector<std::unique_ptr<TimedStage>>& stages) {
  std::vector<StageTiming> timings;
  for (const auto& stage : stages) timings.push_back(stage->timing());
  return timings;
}

}  // namespace warpfold::cuda
