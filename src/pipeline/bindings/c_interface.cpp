#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/bindings/status.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/host_collectives.hpp"
#include "warpfold/warpfold.h"

struct warpfold_collectives {
  warpfold::HostCollectives host;
};

namespace warpfold {
namespace {

HostCollectives& host_of(warpfold_collectives* collectives) {
  if (collectives == nullptr)
    throw usage_error("the collectives are null", "", "Pass what warpfold_create() made.");
  return collectives->host;
}

/// Throws on every rank where one passes an unknown type.
ElementType element_type(int type, HostCollectives& host) {
  switch (type) {
    case WARPFOLD_F32:
      return ElementType::f32;
    case WARPFOLD_F64:
      return ElementType::f64;
    case WARPFOLD_I32:
      return ElementType::i32;
    case WARPFOLD_I64:
      return ElementType::i64;
    default:
      host.refuse(usage_error("there is no type " + std::to_string(type), "",
                              "Pass WARPFOLD_F32, WARPFOLD_F64, WARPFOLD_I32 or WARPFOLD_I64."));
  }
}

/// Stores a result of elements of `type` in place `i` of a caller's results.
void store(const Value& value, ElementType type, void* results, std::size_t i) {
  if (std::holds_alternative<std::monostate>(value))
    throw Error("no element is selected", "", "Select at least one on any rank.");
  if (is_floating(type)) {
    static_cast<double*>(results)[i] = std::get<double>(value);
    return;
  }
  using Limits = std::numeric_limits<std::int64_t>;
  const int128 integer = std::get<int128>(value);
  if (integer < Limits::min() || integer > Limits::max())
    throw Error("a sum exceeds int64_t", "", "Sum fewer or smaller integers, or doubles.");
  static_cast<std::int64_t*>(results)[i] = static_cast<std::int64_t>(integer);
}

Array field_of(const void* x, ElementType type, std::uint64_t i, std::uint64_t n) {
  if (x == nullptr) return {nullptr, n, type};
  return {static_cast<const std::byte*>(x) + i * n * size_of(type), n, type};
}

int sum_fields(warpfold_collectives* collectives, int type_code, std::uint64_t fields,
               const void* x, const void* const* y, std::uint64_t n, const unsigned char* mask,
               void* sums) {
  return status_of([&] {
    HostCollectives& host = host_of(collectives);
    const ElementType type = element_type(type_code, host);
    std::vector<Field> parts;
    for (std::uint64_t i = 0; i < fields; ++i) {
      Field field{field_of(x, type, i, n), {}, mask};
      if (y != nullptr) field.factors = field_of(*y, type, i, n);
      parts.push_back(field);
    }
    const std::vector<Value> values = host.sums(parts);
    for (std::size_t i = 0; i < values.size(); ++i) store(values[i], type, sums, i);
  });
}

int find_extremum(warpfold_collectives* collectives, Statistic statistic, int type_code,
                  const void* x, std::uint64_t n, const unsigned char* mask, void* extremum) {
  return status_of([&] {
    HostCollectives& host = host_of(collectives);
    const ElementType type = element_type(type_code, host);
    const Summary summary =
        host.reduce({x, n, type}, {.statistics = {statistic}, .summary = {}}, mask);
    store(value_of(summary, statistic), type, extremum, 0);
  });
}

}  // namespace
}  // namespace warpfold

using warpfold::status_of;

int warpfold_create(MPI_Comm communicator, warpfold_collectives** made) {
  return status_of([&] {
    *made = nullptr;
    *made = new warpfold_collectives{warpfold::HostCollectives(communicator)};
  });
}

int warpfold_create_f(MPI_Fint communicator, warpfold_collectives** made) {
  return warpfold_create(MPI_Comm_f2c(communicator), made);
}

int warpfold_free(warpfold_collectives** collectives) {
  return status_of([&] {
    delete *collectives;
    *collectives = nullptr;
  });
}

const char* warpfold_error_message(void) { return warpfold::last_error.c_str(); }

int warpfold_sum(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* sum) {
  return warpfold::sum_fields(collectives, type, 1, x, nullptr, n, mask, sum);
}

int warpfold_sums(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  uint64_t n, const unsigned char* mask, void* sums) {
  return warpfold::sum_fields(collectives, type, fields, x, nullptr, n, mask, sums);
}

int warpfold_dot(warpfold_collectives* collectives, int type, const void* x, const void* y,
                 uint64_t n, const unsigned char* mask, void* sum) {
  return warpfold::sum_fields(collectives, type, 1, x, &y, n, mask, sum);
}

int warpfold_dots(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  const void* y, uint64_t n, const unsigned char* mask, void* sums) {
  return warpfold::sum_fields(collectives, type, fields, x, &y, n, mask, sums);
}

int warpfold_min(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* minimum) {
  return warpfold::find_extremum(collectives, warpfold::Statistic::min, type, x, n, mask, minimum);
}

int warpfold_max(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* maximum) {
  return warpfold::find_extremum(collectives, warpfold::Statistic::max, type, x, n, mask, maximum);
}

int warpfold_scan(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                  int exclusive, void* prefixes) {
  return status_of([&] {
    warpfold::HostCollectives& host = warpfold::host_of(collectives);
    warpfold::ArrayScanOptions options;
    options.exclusive = exclusive != 0;
    host.scan({x, n, warpfold::element_type(type, host)}, prefixes, options);
  });
}

int warpfold_refuse(warpfold_collectives* collectives, const char* problem) {
  return status_of(
      [&] { warpfold::host_of(collectives).refuse(warpfold::usage_error(problem, "", "")); });
}
