#include "cli/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/text.hpp"

namespace warpfold::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;
constexpr auto terminal_interval = 200ms;
constexpr auto log_interval = 5s;
constexpr std::string_view erase_line = "\r\x1b[K";

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          double seconds) {
  constexpr std::size_t width = 24;
  const double share =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0.0;
  std::string line =
      fmt::format("{} [{}{}] {:.0f}%  {} of {}  {:.2f} GB/s", label, std::string(filled, '#'),
                  std::string(width - filled, ' '), std::floor(100.0 * share), bytes_text(done),
                  bytes_text(total), rate / 1e9);
  if (rate > 0 && done < total)
    line += fmt::format("  {:.0f} s left", std::ceil(static_cast<double>(total - done) / rate));
  return line;
}

ProgressBar::ProgressBar(std::string label, ProgressWhen when, int ranks)
    : label_(std::move(label)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      wanted_(when == ProgressWhen::always || (when == ProgressWhen::automatic && terminal_)),
      ranks_(static_cast<std::uint64_t>(ranks)),
      next_(when == ProgressWhen::always ? start_ : start_ + patience) {}

ProgressBar::~ProgressBar() {
  if (shown_ && terminal_) show(erase_line);
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  const auto now = Clock::now();
  if (!wanted_ || now < next_) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line = progress_line(label_, ranks_ * done, ranks_ * total, seconds);
  if (terminal_)
    show(std::string(erase_line) + line);
  else
    show("warpfold: " + line + "\n");
  shown_ = true;
  next_ = now + (terminal_ ? std::chrono::milliseconds(terminal_interval)
                           : std::chrono::milliseconds(log_interval));
}

}  // namespace warpfold::cli
