#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "core/results/summarize.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/engines/backend.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/device_reduce.hpp"
#include "warpfold/device_scan.hpp"

/// Requirements on arrays spread over the ranks, wherever they are. `Arrays` holds one rank's side:
/// missing() says why it can't run here; reduce() and scan<Out>() take this rank's elements.
namespace warpfold {

template <class T>
std::vector<T> made_up(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> elements(count);
  for (T& element : elements) {
    if constexpr (std::is_integral_v<T>)
      element = static_cast<T>(random());
    else
      element = static_cast<T>(std::uniform_real_distribution<double>(-1e6, 1e6)(random));
  }
  return elements;
}

/// Partitions of all sizes, some of them empty.
inline std::vector<ElementRange> uneven_cut(std::uint64_t elements, int ranks) {
  std::vector<ElementRange> cut;
  std::uint64_t first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t left = elements - first;
    const std::uint64_t share = rank == ranks - 1 ? left : rank % 3 == 1 ? 0 : left / 3 + 1;
    cut.push_back({first, std::min(share, left)});
    first = cut.back().end();
  }
  return cut;
}

template <class T>
std::vector<T> part_of(const std::vector<T>& elements, const ElementRange& range) {
  const auto first = elements.begin() + static_cast<std::ptrdiff_t>(range.first);
  return {first, first + static_cast<std::ptrdiff_t>(range.count)};
}

/// The whole array's reduce and scan by the cpu backend, in one process.
template <class T>
Summary reduced_at_once(const std::vector<T>& elements, const DeviceReduceOptions& options) {
  const ElementFormat format{element_type_of<T>(), native_byte_order};
  const auto backend = cpu::make_backend(1);
  const auto engine =
      backend->make_reduce_engine({format, {}, std::max<std::size_t>(elements.size(), 1)},
                                  needs_of(options.statistics, format.type));
  const Ticket ticket = engine->take(0);
  std::ranges::copy(std::as_bytes(std::span(elements)), ticket.memory.begin());
  engine->submit(ticket, staged_run({}, {0, elements.size()}));
  return summarize(engine->finish(), format.type, options.statistics, options.summary);
}

template <class Out, class T>
std::vector<Out> scanned_at_once(const std::vector<T>& elements, const DeviceScanOptions& options) {
  ScanSpec spec{{element_type_of<T>(), native_byte_order},
                options.operation,
                options.exclusive,
                element_type_of<Out>(),
                options.overflow};
  const std::uint64_t block = round_up(elements.size(), scan_order::tile_elements);
  const auto backend = cpu::make_backend(1);
  const auto engine =
      backend->make_scan_engine({{spec.input, {}, block, 0, Staging::packed}, block}, spec);
  const Ticket ticket = engine->take(0, 0, {0, elements.size()});
  std::ranges::copy(std::as_bytes(std::span(elements)), ticket.memory.begin());
  engine->submit(ticket, staged_run({}, {0, elements.size()}));
  engine->total(0, 0, elements.size());
  engine->scan(0, 0, elements.size(), Accumulator::empty());
  const auto bytes = engine->output(0, 0, 0, elements.size());
  std::vector<Out> prefixes(elements.size());
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(prefixes)).begin());
  return prefixes;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

/// NaN is the same as NaN.
inline bool same_value(const Value& a, const Value& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

template <class Arrays>
class DeviceArraysOfRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Arrays::missing(); !missing.empty()) GTEST_SKIP() << missing;
    arrays_.emplace(communicator_);
  }

  int rank() const { return communicator_.rank(); }
  int ranks() const { return communicator_.size(); }
  const ElementRange& mine(const std::vector<ElementRange>& cut) const {
    return cut[static_cast<std::size_t>(rank())];
  }

  template <class T>
  void expect_reduced(const std::vector<T>& whole, const DeviceReduceOptions& options) {
    const Summary expected = reduced_at_once(whole, options);
    const auto cut = uneven_cut(whole.size(), ranks());
    const Summary summary = arrays_->reduce(part_of(whole, mine(cut)), options);
    ASSERT_EQ(summary.size(), expected.size());
    for (std::size_t i = 0; i < summary.size(); ++i) {
      EXPECT_EQ(summary[i].first, expected[i].first);
      EXPECT_TRUE(same_value(summary[i].second, expected[i].second)) << name_of(summary[i].first);
    }
  }

  template <class Out, class T>
  void expect_scanned(const std::vector<T>& whole, const std::vector<ElementRange>& cut,
                      DeviceScanOptions options) {
    options.output_type = element_type_of<Out>();
    const auto expected = scanned_at_once<Out>(whole, options);
    const auto prefixes = arrays_->template scan<Out>(part_of(whole, mine(cut)), options);
    EXPECT_TRUE(same_bits(prefixes, part_of(expected, mine(cut))));
  }

  /// The Error's text, which must be there.
  template <class Call>
  std::string error_of(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "did not throw";
    return "";
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  std::optional<Arrays> arrays_;
};

inline DeviceReduceOptions everything() {
  DeviceReduceOptions options;
  options.statistics.assign(std::begin(all_statistics), std::end(all_statistics));
  return options;
}

inline DeviceScanOptions scan_of(ScanOperation operation, bool exclusive = false) {
  DeviceScanOptions options;
  options.operation = operation;
  options.exclusive = exclusive;
  return options;
}

TYPED_TEST_SUITE_P(DeviceArraysOfRanks);

TYPED_TEST_P(DeviceArraysOfRanks, ReduceLikeOneArray) {
  for (const std::uint64_t count : {1u, 31u, 1000u, 100003u}) {
    this->expect_reduced(made_up<double>(count, count), everything());
    this->expect_reduced(made_up<float>(count, count), everything());
    this->expect_reduced(made_up<std::int16_t>(count, count), everything());
    this->expect_reduced(made_up<std::uint64_t>(count, count), everything());
  }
}

TYPED_TEST_P(DeviceArraysOfRanks, ReduceWithFlatIndicesOfExtremaAndNaN) {
  std::vector<double> whole(5000, 1.0);
  whole[1700] = whole[4200] = -7.0;
  whole[2900] = whole[4999] = 9.0;
  this->expect_reduced(whole, everything());
  whole[3100] = std::numeric_limits<double>::quiet_NaN();
  whole[4100] = std::numeric_limits<double>::quiet_NaN();
  this->expect_reduced(whole, everything());
  DeviceReduceOptions options;
  options.statistics = {Statistic::argmin, Statistic::argmax};
  const Summary summary =
      this->arrays_->reduce(part_of(whole, this->mine(uneven_cut(5000, this->ranks()))), options);
  EXPECT_EQ(std::get<int128>(value_of(summary, Statistic::argmin)), 3100);
  EXPECT_EQ(std::get<int128>(value_of(summary, Statistic::argmax)), 3100);
  options = everything();
  options.summary.nan = NanPolicy::skip;
  this->expect_reduced(whole, options);
}

TYPED_TEST_P(DeviceArraysOfRanks, ReduceNothing) {
  this->expect_reduced(std::vector<float>{}, everything());
  this->expect_reduced(std::vector<std::uint8_t>{}, everything());
}

TYPED_TEST_P(DeviceArraysOfRanks, ScanIntegersLikeOneArray) {
  for (const std::uint64_t count : {1u, 1000u, 100003u}) {
    const auto cut = uneven_cut(count, this->ranks());
    const auto whole = made_up<std::int32_t>(count, count);
    for (const bool exclusive : {false, true}) {
      this->template expect_scanned<std::int64_t>(whole, cut,
                                                  scan_of(ScanOperation::sum, exclusive));
      this->template expect_scanned<std::int32_t>(whole, cut,
                                                  scan_of(ScanOperation::min, exclusive));
      this->template expect_scanned<std::int32_t>(whole, cut,
                                                  scan_of(ScanOperation::max, exclusive));
    }
  }
}

TYPED_TEST_P(DeviceArraysOfRanks, ScanWithWrappingSums) {
  DeviceScanOptions options = scan_of(ScanOperation::sum);
  options.overflow = OverflowPolicy::wrap;
  const auto cut = uneven_cut(100003, this->ranks());
  this->template expect_scanned<std::uint8_t>(made_up<std::uint8_t>(100003, 1), cut, options);
  this->template expect_scanned<std::int64_t>(made_up<std::int64_t>(100003, 2), cut, options);
}

TYPED_TEST_P(DeviceArraysOfRanks, ScanFloatsToTheSameBits) {
  for (const std::uint64_t count : {1u, 4096u, 4097u, 100003u}) {
    const auto cut = uneven_cut(count, this->ranks());
    for (const bool exclusive : {false, true}) {
      const DeviceScanOptions options = scan_of(ScanOperation::sum, exclusive);
      this->template expect_scanned<double>(made_up<double>(count, count), cut, options);
      this->template expect_scanned<float>(made_up<float>(count, count), cut, options);
    }
  }
}

TYPED_TEST_P(DeviceArraysOfRanks, ScanNothing) {
  for (const ScanOperation operation : {ScanOperation::sum, ScanOperation::min})
    EXPECT_TRUE(
        this->arrays_->template scan<double>(std::vector<double>{}, scan_of(operation)).empty());
}

TYPED_TEST_P(DeviceArraysOfRanks, NameTheFirstPrefixThatOverflows) {
  std::vector<std::int32_t> whole(20000, 1);
  whole[12345] = std::numeric_limits<std::int32_t>::max() - 12345;
  DeviceScanOptions options = scan_of(ScanOperation::sum);
  options.output_type = ElementType::i32;
  const auto cut = uneven_cut(whole.size(), this->ranks());
  const std::string error = this->error_of([&] {
    this->arrays_->template scan<std::int32_t>(part_of(whole, this->mine(cut)), options);
  });
  EXPECT_EQ(error,
            "the scan overflows at index 12346: the prefix there exceeds i32. Use a wider "
            "`output_type`, or `overflow` wrap.");
}

TYPED_TEST_P(DeviceArraysOfRanks, RefuseFractionsAsIntegers) {
  DeviceScanOptions options = scan_of(ScanOperation::sum);
  options.output_type = ElementType::i64;
  EXPECT_THROW(this->arrays_->template scan<std::int64_t>(std::vector<double>(10, 0.5), options),
               Error);
}

TYPED_TEST_P(DeviceArraysOfRanks, RefuseRanksThatDiffer) {
  if (this->ranks() == 1) GTEST_SKIP() << "one rank can't differ";
  const std::string reason = "ranks make different calls on arrays";
  const auto reduce = [&] {
    if (this->rank() == 0)
      this->arrays_->reduce(std::vector<float>(10, 1.0f), {});
    else
      this->arrays_->reduce(std::vector<double>(10, 1.0), {});
  };
  EXPECT_TRUE(this->error_of(reduce).starts_with(reason));
  const auto scan = [&] {
    this->arrays_->template scan<std::int32_t>(std::vector<std::int32_t>(10, 1),
                                               scan_of(ScanOperation::min, this->rank() == 0));
  };
  EXPECT_TRUE(this->error_of(scan).starts_with(reason));
  this->expect_reduced(made_up<double>(1000, 1), everything());
}

REGISTER_TYPED_TEST_SUITE_P(DeviceArraysOfRanks, ReduceLikeOneArray,
                            ReduceWithFlatIndicesOfExtremaAndNaN, ReduceNothing,
                            ScanIntegersLikeOneArray, ScanWithWrappingSums, ScanFloatsToTheSameBits,
                            ScanNothing, NameTheFirstPrefixThatOverflows, RefuseFractionsAsIntegers,
                            RefuseRanksThatDiffer);

}  // namespace warpfold
