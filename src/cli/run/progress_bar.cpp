#include "cli/run/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/text.hpp"

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

std::string label_of(const std::string& command, const RunProgress& progress) {
  if (progress.datasets == 1) return command;
  return fmt::format("{} {} of {}", command, progress.number, progress.datasets);
}

/// Draws "[#####     ] ", the done share of so many places.
std::string bar(double share) {
  constexpr std::size_t places = 24;
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(places));
  return fmt::format("[{}{}] ", std::string(filled, '#'), std::string(places - filled, ' '));
}

std::string numbers(double share, const RunProgress& progress) {
  std::string text = fmt::format("{:.0f}%  {} of {}  {:.2f} GB/s", std::floor(100.0 * share),
                                 bytes_text(progress.done), bytes_text(progress.total),
                                 gigabytes_per_second(progress));
  const auto left = seconds_left(progress);
  if (left && *left > 0) text += fmt::format("  {:.0f} s left", std::ceil(*left));
  return text;
}

std::string stage_text(const StageRate& rate) {
  const std::string busy = fmt::format("{:.0f}%", std::round(100.0 * rate.busy));
  if (!rate.gigabytes_per_second) return rate.stage + " " + busy;
  return fmt::format("{} {:.1f} GB/s {}", rate.stage, *rate.gigabytes_per_second, busy);
}

std::string stages_text(const std::vector<StageRate>& stages) {
  std::string text;
  for (const StageRate& each : stages) text += (text.empty() ? "  " : ", ") + stage_text(each);
  return text;
}

/// Returns the stages that were busiest, as many as fit into so many columns, in their order.
std::vector<StageRate> busiest_that_fit(std::vector<StageRate> stages, std::size_t columns) {
  constexpr double shown_as_none = 0.005;
  std::erase_if(stages, [](const StageRate& each) { return each.busy < shown_as_none; });
  while (!stages.empty() && stages_text(stages).size() > columns)
    stages.erase(std::ranges::min_element(stages, {}, &StageRate::busy));
  return stages;
}

}  // namespace

std::string progress_line(const std::string& command, const RunProgress& progress,
                          const RunRates& lately, std::size_t columns) {
  if (columns == 0) columns = std::string::npos;
  const std::string label = label_of(command, progress);
  std::string line = fmt::format("{} starting, {:.0f} s", label, std::floor(progress.seconds));
  if (progress.pass > 0) {
    const double share = progress.total == 0 ? 1.0
                                             : static_cast<double>(progress.done) /
                                                   static_cast<double>(progress.total);
    line = label + " " + bar(share) + numbers(share, progress);
    if (line.size() > columns) line = label + " " + numbers(share, progress);
  }
  if (line.size() > columns) return line.substr(0, columns);
  return line + stages_text(busiest_that_fit(lately.stages, columns - line.size()));
}

std::size_t terminal_columns() {
  constexpr std::size_t usual = 80;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int number = columns == nullptr ? 0 : std::atoi(columns);
  return number > 0 ? static_cast<std::size_t>(number) : usual;
}

ProgressBar::ProgressBar(std::string command, ProgressWhen when)
    : command_(std::move(command)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      wanted_(when == ProgressWhen::always || (when == ProgressWhen::automatic && terminal_)),
      next_(when == ProgressWhen::always ? start_ : start_ + patience) {}

ProgressBar::~ProgressBar() {
  if (shown_ && terminal_) show(erase_line);
}

void ProgressBar::update(const RunProgress& progress, const RunRates& lately) {
  const auto now = Clock::now();
  if (!wanted_ || now < next_) return;
  if (terminal_)  // a line that fills the last column may break
    show(std::string(erase_line) +
         progress_line(command_, progress, lately, terminal_columns() - 1));
  else
    show("warpfold: " + progress_line(command_, progress, lately, 0) + "\n");
  shown_ = true;
  next_ = now + (terminal_ ? std::chrono::milliseconds(terminal_interval)
                           : std::chrono::milliseconds(log_interval));
}

}  // namespace warpfold::cli
