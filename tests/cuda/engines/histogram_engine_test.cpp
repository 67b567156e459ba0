#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_decodings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

template <class T>
std::unique_ptr<HistogramEngine> engine_of(Backend& gpu, const std::vector<T>& edges,
                                           ElementFormat format, std::uint64_t slab_elements,
                                           const Decoding& decoding = {}) {
  std::vector<std::uint64_t> keys;
  for (const T edge : edges) keys.push_back(ordered_key(edge));
  return gpu.make_histogram_engine({format, decoding, slab_elements, 0, Staging::run, 3}, keys);
}

template <class T>
HistogramCounts counted(const std::vector<T>& edges, const std::vector<T>& elements) {
  HistogramCounts counts{std::vector<std::uint64_t>(edges.size() - 1)};
  std::vector<decltype(plain(T{}))> plain_edges;
  for (const T edge : edges) plain_edges.push_back(plain(edge));
  for (const T element : elements) {
    if (is_nan_element(element)) {
      ++counts.nan;
      continue;
    }
    const auto above = std::ranges::upper_bound(plain_edges, plain(element));
    if (above == plain_edges.begin())
      ++counts.below;
    else if (above == plain_edges.end())
      ++counts.above;
    else
      ++counts.bins[static_cast<std::size_t>(above - plain_edges.begin() - 1)];
  }
  return counts;
}

void expect_equal_counts(const HistogramCounts& one, const HistogramCounts& other,
                         const std::string& what) {
  EXPECT_TRUE(one.bins == other.bins) << what;
  EXPECT_EQ(one.below, other.below) << what;
  EXPECT_EQ(one.above, other.above) << what;
  EXPECT_EQ(one.nan, other.nan) << what;
}

/// Rising: of equal width between -0.75 and 0.75, or between those parts of an integer's range.
template <class T>
std::vector<T> even_edges(std::size_t bins) {
  std::vector<T> edges;
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = 1.5 * static_cast<double>(i) / static_cast<double>(bins) - 0.75;
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      edges.push_back(static_cast<T>(share * static_cast<double>(std::numeric_limits<T>::max())));
    else if constexpr (std::is_integral_v<T>)
      edges.push_back(
          static_cast<T>((share + 1) / 2 * static_cast<double>(std::numeric_limits<T>::max())));
    else
      edges.push_back(element_of<T>(share));
  }
  const auto same = [](T a, T b) { return ordered_key(a) == ordered_key(b); };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  return edges;
}

template <class T>
std::vector<T> uneven_edges(std::size_t bins, std::uint64_t seed) {
  auto edges = sample<T>(Sample::wide, bins + 1, seed);
  const auto before = [](T a, T b) { return ordered_key(a) < ordered_key(b); };
  std::ranges::sort(edges, before);
  const auto same = [](T a, T b) { return ordered_key(a) == ordered_key(b); };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  return edges;
}

template <class T>
HistogramCounts histogram_of(Backend& gpu, const std::vector<T>& edges,
                             const std::vector<T>& elements, ByteOrder order) {
  const auto engine = engine_of(gpu, edges, {element_type_of<T>(), order}, 70001);
  reduce_into(*engine, bytes_of(elements, order), sizeof(T));
  return engine->finish();
}

class CudaHistogram : public BothBackends {};

TEST_P(CudaHistogram, CountsEachElementOnce) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const std::size_t bins : {1u, 2u, 10u, 1000u, 100000u}) {
      for (const auto& edges : {even_edges<T>(bins), uneven_edges<T>(bins, bins)}) {
        for (const Sample kind : all_samples) {
          for (const std::size_t size : {0u, 1u, 31u, 33u, 4097u, 200003u}) {
            const auto elements = sample<T>(kind, size, size + bins);
            const ByteOrder order = size % 2 == 0 ? ByteOrder::little : ByteOrder::big;
            expect_equal_counts(histogram_of(*gpu_, edges, elements, order),
                                counted(edges, elements),
                                std::to_string(bins) + " bins, size " + std::to_string(size));
          }
        }
      }
    }
  });
}

TEST_P(CudaHistogram, CountsTheEdgesThemselves) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const auto& edges : {even_edges<T>(777), uneven_edges<T>(999, 2), even_edges<T>(30000)})
      expect_equal_counts(histogram_of(*gpu_, edges, edges, native_byte_order),
                          counted(edges, edges), std::to_string(edges.size()) + " edges");
  });
}

TEST_P(CudaHistogram, CountsDecodedValues) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const auto decoding = unpacking<T, float>();
    const auto elements = sample<T>(Sample::non_finite, 200003, 5);
    const std::vector<float> edges{3, 3.05f, 3.1f, 10, 1e3f, 1e6f};
    const auto engine = engine_of(*gpu_, edges, {GetParam()}, 50000, decoding.decoding);
    reduce_into(*engine, bytes_of(elements), sizeof(T));
    expect_equal_counts(engine->finish(), counted(edges, kept_of(decoding, elements).values),
                        "decoded");
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaHistogram, ::testing::ValuesIn(all_element_types), type_name);

using CudaHistogramEngine = GpuTest;

TEST_F(CudaHistogramEngine, CountsOnAfterAResult) {
  const std::vector<double> edges{0, 1, 2};
  const auto gpu = make_backend({});
  const auto engine = engine_of(*gpu, edges, {ElementType::f64}, 100);
  for (const std::uint64_t times : {1u, 2u}) {
    reduce_into(*engine, bytes_of(std::vector<double>{-1, 0, -0.0, 1, 2, std::nan("")}), 8);
    const HistogramCounts counts = engine->finish();
    EXPECT_EQ(counts.bins, (std::vector<std::uint64_t>{2 * times, times}));
    EXPECT_EQ(counts.below, times);
    EXPECT_EQ(counts.above, times);
    EXPECT_EQ(counts.nan, times);
  }
}

TEST_F(CudaHistogramEngine, NeedsNoBin) {
  const auto gpu = make_backend({});
  const auto engine = engine_of(*gpu, std::vector<int>{2}, {ElementType::i32}, 100);
  reduce_into(*engine, bytes_of(std::vector<int>{1, 2, 3}), 4);
  const HistogramCounts counts = engine->finish();
  EXPECT_TRUE(counts.bins.empty());
  EXPECT_EQ(counts.below, 1u);
  EXPECT_EQ(counts.above, 2u);
}

TEST_F(CudaHistogramEngine, BinsBeyondTheMemoryAreRefused) {
  const auto gpu = make_backend_with(std::uint64_t{1} << 20);
  EXPECT_NO_THROW(engine_of(*gpu, even_edges<double>(1000), {ElementType::f64}, 1000));
  EXPECT_THROW(engine_of(*gpu, even_edges<double>(100000), {ElementType::f64}, 1000), Error);
}

}  // namespace
}  // namespace warpfold::cuda
