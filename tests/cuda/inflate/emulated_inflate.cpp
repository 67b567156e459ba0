#include <algorithm>
#include <array>

#include "cuda/inflate/emulated_warp.hpp"
#include "cuda/inflate/inflate_streams.hpp"
#include "cuda/inflate/inflated.hpp"

namespace warpfold::cuda::inflate {

std::string why_not_inflated() { return ""; }

std::vector<Inflated> inflated(const std::vector<Stored>& all, std::uint32_t active) {
  constexpr std::size_t margin = 64;
  constexpr std::uint8_t untouched = 0xa5;
  std::vector<std::vector<std::uint32_t>> words;
  std::vector<Inflated> results;
  std::vector<InflateStream> streams;
  for (const Stored& each : all) {
    const std::size_t first = words.size() % 4;
    words.emplace_back((first + each.stream.size() + 3) / 4, 0xddddddddU);
    std::copy(each.stream.begin(), each.stream.end(),
              reinterpret_cast<std::uint8_t*>(words.back().data()) + first);
    results.push_back({{}, Bytes(each.out_bytes + margin, untouched)});
    streams.push_back({words.back().data(), results.back().out.data(),
                       static_cast<std::uint32_t>(first),
                       static_cast<std::uint32_t>(each.stream.size()),
                       static_cast<std::uint32_t>(each.out_bytes)});
  }
  std::vector<InflateOutcome> outcomes(all.size());
  std::uint32_t next = 0;
  std::array<CodeTables, groups> tables{};
  const InflateWork work{streams.data(), outcomes.data(), static_cast<std::uint32_t>(all.size()),
                         &next};
  testing::EmulatedWarp::run(
      [&] { inflate_streams<testing::EmulatedWarp>(tables.data(), work, active); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    Inflated& result = results[i];
    result.outcome = outcomes[i];
    result.is_overrun = std::any_of(result.out.end() - margin, result.out.end(),
                                    [](std::uint8_t byte) { return byte != untouched; });
    result.out.resize(all[i].out_bytes);
  }
  return results;
}

}  // namespace warpfold::cuda::inflate
