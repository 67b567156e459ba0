#include <algorithm>
#include <array>
#include <memory>

#include "cuda/inflate/emulated_warp.hpp"
#include "cuda/lz4/decoded.hpp"

namespace warpfold::cuda::lz4 {
namespace {

using testing::EmulatedWarp;

bool made(const Block& block, std::size_t bit_element_bytes, std::uint8_t* planes) {
  switch (bit_element_bytes) {
    case 0:
      return make<EmulatedWarp, 0>(block, planes);
    case 1:
      return make<EmulatedWarp, 1>(block, planes);
    case 2:
      return make<EmulatedWarp, 2>(block, planes);
    case 4:
      return make<EmulatedWarp, 4>(block, planes);
    default:
      return make<EmulatedWarp, 8>(block, planes);
  }
}

}  // namespace

std::string why_not_decoded() { return ""; }

std::vector<DecodedBlock> decoded(const std::vector<StoredBlock>& all,
                                  std::size_t bit_element_bytes) {
  constexpr std::size_t margin = 64;
  constexpr std::uint8_t untouched = 0xa5;
  std::vector<DecodedBlock> results;
  for (const StoredBlock& each : all) {
    // The exact size lets a sanitizer see accesses out of bounds.
    const auto stored = std::make_unique<std::uint8_t[]>(each.stored.size());
    std::ranges::copy(each.stored, stored.get());
    Bytes out(each.out_bytes + margin, untouched);
    const auto planes = std::make_unique<std::uint8_t[]>(max_bit_plane_bytes);
    const Block block{stored.get(),
                      out.data(),
                      static_cast<std::uint32_t>(each.stored.size()),
                      static_cast<std::uint32_t>(each.out_bytes),
                      0,
                      each.form};
    std::array<bool, EmulatedWarp::lanes> good{};
    EmulatedWarp::run(
        [&] { good[EmulatedWarp::lane()] = made(block, bit_element_bytes, planes.get()); });
    DecodedBlock result;
    result.is_good = good[0];
    result.is_overrun = std::any_of(out.end() - margin, out.end(),
                                    [](std::uint8_t byte) { return byte != untouched; });
    out.resize(each.out_bytes);
    result.out = std::move(out);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace warpfold::cuda::lz4
