#include "cuda/span_timer.hpp"

#include <algorithm>

#include "cuda/stream.hpp"

namespace warpfold::cuda {
namespace {

double covered_seconds(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  double seconds = 0;
  double covered_to = 0;
  for (const Span& span : spans) {
    seconds += std::max(span.end - std::max(span.begin, covered_to), 0.0);
    covered_to = std::max(covered_to, span.end);
  }
  return seconds;
}

}  // namespace

void start_timing(TimedEvent& epoch) {
  const Stream stream;
  epoch.record(stream.get());
  stream.synchronize();
}

void SpanTimer::begin(cudaStream_t stream) {
  collect();
  begin_.record(stream);
}

void SpanTimer::end(cudaStream_t stream, std::uint64_t bytes) {
  end_.record(stream);
  bytes_ += bytes;
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
  const double begin = since + begin_.seconds_since(spans_.empty() ? epoch_ : last_end_);
  spans_.push_back({begin, begin + end_.seconds_since(begin_)});
  std::swap(end_, last_end_);
  pending_ = false;
}

EngineTiming timing_of(std::string stage, const std::vector<SpanTimer*>& timers) {
  EngineTiming timing{std::move(stage)};
  std::vector<Span> spans;
  for (SpanTimer* timer : timers) {
    timing.bytes += timer->bytes();
    spans.insert(spans.end(), timer->spans().begin(), timer->spans().end());
  }
  timing.seconds = covered_seconds(std::move(spans));
  return timing;
}

}  // namespace warpfold::cuda
