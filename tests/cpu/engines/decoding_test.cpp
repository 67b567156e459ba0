#include "core/values/decoding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/values/value_filters.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"
#include "cpu/engines/scalar_reduce.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;

constexpr ByteOrder both_orders[] = {ByteOrder::little, ByteOrder::big};

/// Elements that count, one after the other.
template <class Value>
struct Kept {
  std::vector<Value> values;
  std::vector<std::uint64_t> indices;
};

template <class Value, class Stored>
Kept<Value> kept_of(const std::vector<Stored>& elements, const Decoding& decoding) {
  Kept<Value> kept;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Value value;
    if (!decode(decoding, elements[i], value)) continue;
    kept.values.push_back(value);
    kept.indices.push_back(i);
  }
  return kept;
}

/// Leaves out single values, infinities and what lies below one of the elements.
template <class Stored>
Decoding any_decoding(const std::vector<Stored>& elements, bool unpacks,
                      ElementType unpacked_type) {
  Decoding decoding;
  if (!elements.empty()) {
    const std::uint64_t key = ordered_key(elements[elements.size() / 2]);
    decoding.stored.excluded[0] = key;
    decoding.stored.excluded_count = 1;
  }
  if (unpacks) decoding.unpacking = {true, unpacked_type, 0.5, -2.25};
  if (unpacks && is_integer(unpacked_type)) {
    decoding.unpacking.product = unpacked_type;
    decoding.unpacking.integer_scale = 3;
    decoding.unpacking.integer_offset = ~std::uint64_t{0};
  }
  const std::vector<std::string> conditions{"finite", ">=-10", "!=3"};
  decoding.values =
      filter_of_conditions(conditions, decoding.value_type(element_type_of<Stored>()));
  return decoding;
}

template <class Stored, class Value>
void expect_reduce(Backend& backend, const std::vector<Stored>& elements, ByteOrder order,
                   const Decoding& decoding) {
  StagingPlan plan;
  plan.format = {element_type_of<Stored>(), order};
  plan.slab_elements = std::max<std::size_t>(1, elements.size());
  plan.decoding = decoding;
  const auto engine = backend.make_reduce_engine(plan, {true, true, true, true});
  const Ticket ticket = engine->take(0);
  put_elements(elements, order, ticket.memory.data());
  engine->submit(ticket, staged_run({}, {0, elements.size()}));
  const Kept<Value> kept = kept_of<Value>(elements, decoding);
  Accumulator expected = Accumulator::empty();
  for (std::size_t i = 0; i < kept.values.size(); ++i)
    add_element(expected, kept.values[i], kept.indices[i]);
  expected.normalize();
  EXPECT_TRUE(same(engine->finish(), expected)) << name_of(plan.format.type);
}

template <class Stored, class Value>
void expect_compact(Backend& backend, const std::vector<Stored>& elements, ByteOrder order,
                    const Decoding& decoding) {
  constexpr std::uint64_t piece = 1000;
  const ElementFormat format{element_type_of<Stored>(), order};
  const BlockEnginePlan plan{{format, decoding, piece, 0, Staging::packed}, 30'000};
  const auto engine = backend.make_compact_engine(plan, true);
  Kept<Value> kept;
  for (std::uint64_t first = 0; first < elements.size(); first += engine->block_elements()) {
    const auto n = std::min<std::uint64_t>(engine->block_elements(), elements.size() - first);
    for (std::uint64_t place = 0; place < n; place += piece) {
      const std::uint64_t size = std::min(piece, n - place);
      const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(first + place);
      const Ticket ticket = engine->take(0, 1, {place, size});
      put_elements(std::vector<Stored>(begin, begin + static_cast<std::ptrdiff_t>(size)), order,
                   ticket.memory.data());
      engine->submit(ticket, staged_run({}, {place, size}, first));
    }
    const std::uint64_t count = engine->keep(1, first, n);
    for (std::uint64_t at = 0; at < count; at += piece) {
      const std::uint64_t size = std::min(piece, count - at);
      const auto values = engine->values(0, 1, at, size);
      const auto* typed = reinterpret_cast<const Value*>(values.data());
      kept.values.insert(kept.values.end(), typed, typed + size);
      const auto indices = engine->indices(0, 1, at, size);
      kept.indices.insert(kept.indices.end(), indices.begin(), indices.end());
    }
  }
  const Kept<Value> expected = kept_of<Value>(elements, decoding);
  EXPECT_EQ(kept.indices, expected.indices);
  ASSERT_EQ(kept.values.size(), expected.values.size());
  EXPECT_TRUE(kept.values.empty() || std::memcmp(kept.values.data(), expected.values.data(),
                                                 kept.values.size() * sizeof(Value)) == 0)
      << name_of(format.type);
}

/// Calls check(elements, their byte order, a decoding, a value of its type) for all of these.
template <class Check>
void for_all_decodings(Check&& check) {
  for (const ElementType type : all_element_types)
    visit_element_type(type, [&](auto element) {
      using Stored = decltype(element);
      for (const Kind kind : {Kind::all_bits, Kind::sprinkled})
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{40'001}})
          for (const ByteOrder order : both_orders) {
            const auto elements = make_elements<Stored>(kind, size);
            check(elements, order, any_decoding(elements, false, type), Stored{});
            check(elements, order, any_decoding(elements, true, ElementType::f32), float{});
            check(elements, order, any_decoding(elements, true, ElementType::f64), double{});
            if constexpr (std::is_integral_v<Stored>) {
              check(elements, order, any_decoding(elements, true, ElementType::i64),
                    std::int64_t{});
              check(elements, order, any_decoding(elements, true, ElementType::u64),
                    std::uint64_t{});
            }
          }
    });
}

TEST(Decoding, ReducesTakeTheValuesThatCount) {
  const auto backend = make_backend(1);
  for_all_decodings(
      [&](const auto& elements, ByteOrder order, const Decoding& decoding, auto value) {
        using Stored = typename std::decay_t<decltype(elements)>::value_type;
        expect_reduce<Stored, decltype(value)>(*backend, elements, order, decoding);
      });
}

TEST(Decoding, CompactionKeepsTheValuesThatCount) {
  const auto backend = make_backend(2);
  for_all_decodings(
      [&](const auto& elements, ByteOrder order, const Decoding& decoding, auto value) {
        using Stored = typename std::decay_t<decltype(elements)>::value_type;
        expect_compact<Stored, decltype(value)>(*backend, elements, order, decoding);
      });
}

}  // namespace
}  // namespace warpfold::cpu
