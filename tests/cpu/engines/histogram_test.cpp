#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/numeric/rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/results/histogram_bins.hpp"
#include "core/results/order_search.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu::testing {
namespace {

/// Edges that are even, uneven, crowded into one place, few, or beyond most values.
const std::vector<std::vector<double>> all_edges = {
    equal_edges(0, 1, 10),
    equal_edges(-100, 100, 3000),
    equal_edges(-1e300, 1e300, 7),
    {-infinity, -1, 0, 1e-300, 1e-200, 1e-100, 1e-9, 1, 10, 1e100, infinity},
    {0, 0x1p-1074},
    {1e200, 1e201},
    {-infinity, infinity}};

/// Counts each element alone, by binary search among the edges.
template <class T>
HistogramCounts expected_counts(const std::vector<std::uint64_t>& keys,
                                const std::vector<T>& elements) {
  HistogramCounts counts;
  counts.bins.resize(keys.size() - 1);
  for (const T element : elements) {
    const double wide = widened(element);
    if (wide != wide) {
      ++counts.nan;
      continue;
    }
    const auto region = std::upper_bound(keys.begin(), keys.end(), ordered_key(element));
    const auto passed = static_cast<std::size_t>(region - keys.begin());
    ++(passed == 0 ? counts.below : passed == keys.size() ? counts.above : counts.bins[passed - 1]);
  }
  return counts;
}

void expect_equal(const HistogramCounts& found, const HistogramCounts& expected) {
  EXPECT_EQ(found.bins, expected.bins);
  EXPECT_EQ(found.below, expected.below);
  EXPECT_EQ(found.above, expected.above);
  EXPECT_EQ(found.nan, expected.nan);
}

template <class T>
class Histogram : public ::testing::Test {
 protected:
  static constexpr ElementType type = element_type_of<T>();

  /// In slabs of 1000 elements by three threads.
  static HistogramCounts counted(const Kernels& kernels, const std::vector<std::uint64_t>& keys,
                                 const std::vector<T>& elements, ByteOrder order) {
    constexpr std::uint64_t slab = 1000;
    const StagingPlan plan{{type, order}, {}, slab, 0, Staging::run, 3};
    const auto engine = make_backend(2, kernels)->make_histogram_engine(plan, keys);
    std::vector<std::byte> bytes(elements.size() * sizeof(T));
    put_elements(elements, order, bytes.data());
    int thread = 0;
    for (std::uint64_t first = 0; first < elements.size(); first += slab) {
      const std::uint64_t count = std::min<std::uint64_t>(slab, elements.size() - first);
      const Ticket ticket = engine->take(thread);
      std::memcpy(ticket.memory.data(), bytes.data() + first * sizeof(T), count * sizeof(T));
      engine->submit(ticket, staged_run({}, {0, count}, first));
      thread = (thread + 1) % engine->threads();
    }
    return engine->finish();
  }
};

using Types =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(Histogram, Types);

TYPED_TEST(Histogram, EveryElementIsCountedInItsBin) {
  for (const Kind kind : all_kinds) {
    const auto elements = make_elements<TypeParam>(kind, 5003);
    for (const auto& edges : all_edges) {
      const HistogramBins bins(edges, this->type);
      const HistogramCounts expected = expected_counts(bins.keys(), elements);
      for (const Kernels* kernels : available_kernels()) {
        SCOPED_TRACE(std::string(kernels->name) + ", kind " +
                     std::to_string(static_cast<int>(kind)) + ", " + std::to_string(edges.size()) +
                     " edges from " + std::to_string(edges.front()));
        for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
          expect_equal(this->counted(*kernels, bins.keys(), elements, order), expected);
      }
    }
  }
}

TYPED_TEST(Histogram, ValuesNextToEdgesAreCountedInTheirBins) {
  for (std::vector<double> edges :
       {equal_edges(0, 1, 100), equal_edges(0.1, 0.9, 1000), equal_edges(-50, 50, 100),
        equal_edges(273.15, 313.15, 400), equal_edges(0, 100, 37), equal_edges(-0.5, 99.5, 50)}) {
    round_edges(edges, this->type);
    const HistogramBins bins(edges, this->type);
    std::vector<TypeParam> elements;
    for (const std::uint64_t key : bins.keys()) {
      const std::uint64_t bits = bits_of_key(key, this->type);
      Word<TypeParam> place;
      if constexpr (is_floating_element<TypeParam>)
        place = dense_key(output_element<TypeParam>(std::bit_cast<double>(bits)));
      else
        place = dense_key(static_cast<TypeParam>(bits));
      for (const int step : {-2, -1, 0, 1, 2}) {
        const auto moved = place + static_cast<Word<TypeParam>>(step);
        elements.push_back(element_of_dense_key<TypeParam>(static_cast<Word<TypeParam>>(moved)));
      }
    }
    const HistogramCounts expected = expected_counts(bins.keys(), elements);
    for (const Kernels* kernels : available_kernels()) {
      SCOPED_TRACE(std::string(kernels->name) + ", from " + std::to_string(edges.front()));
      expect_equal(this->counted(*kernels, bins.keys(), elements, ByteOrder::little), expected);
    }
  }
}

/// Bins of equally many values, of all there are and then around some that are apart.
template <class T>
std::vector<std::vector<std::uint64_t>> keys_of_searches(const std::vector<T>& elements) {
  std::vector<std::vector<std::uint64_t>> keys;
  const std::vector<std::vector<std::uint64_t>> searches{{elements.size() / 2},
                                                         {1, elements.size() / 3}};
  for (const auto& orders : searches) {
    OrderSearch search(element_type_of<T>(), elements.size());
    for (int pass = 0; pass < 3 && !search.open().empty(); ++pass) {
      keys.push_back(search.bin_keys());
      const HistogramCounts counts = expected_counts(keys.back(), elements);
      if (counts.nan > elements.size() / 3) break;
      search.narrow(counts, orders);
    }
  }
  return keys;
}

TYPED_TEST(Histogram, EveryElementIsCountedAmongAsManyValues) {
  for (const Kind kind : all_kinds) {
    const auto elements = make_elements<TypeParam>(kind, 5003);
    for (const auto& keys : keys_of_searches(elements)) {
      const HistogramCounts expected = expected_counts(keys, elements);
      for (const Kernels* kernels : available_kernels()) {
        SCOPED_TRACE(std::string(kernels->name) + ", kind " +
                     std::to_string(static_cast<int>(kind)) + ", " + std::to_string(keys.size()) +
                     " edges from " + std::to_string(keys.front()));
        expect_equal(this->counted(*kernels, keys, elements, ByteOrder::big), expected);
      }
    }
  }
}

TYPED_TEST(Histogram, NothingIsCountedWithoutElements) {
  const HistogramBins bins(all_edges[0], this->type);
  expect_equal(this->counted(*available_kernels().front(), bins.keys(), {}, ByteOrder::little),
               expected_counts<TypeParam>(bins.keys(), {}));
}

}  // namespace
}  // namespace warpfold::cpu::testing
