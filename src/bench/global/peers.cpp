#include "bench/global/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/numeric/double_pair.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::bench::global {
namespace {

/// Adds a pair to a sum of pairs.
DoublePair sum_of(DoublePair a, DoublePair b) {
  const DoublePair sum = two_sum(a.high, b.high);
  return two_sum(sum.high, sum.low + a.low + b.low);
}

/// Adds to several sums in turn, which processors do at the same time.
template <class Sum, class Add>
auto in_columns(const double* x, std::uint64_t n, Sum zero, Add&& add) {
  constexpr std::size_t columns = 16;
  std::array<Sum, columns> sums;
  sums.fill(zero);
  std::uint64_t i = 0;
  for (; i + columns <= n; i += columns)
    for (std::size_t c = 0; c < columns; ++c) add(sums[c], x[i + c]);
  for (; i < n; ++i) add(sums[0], x[i]);
  return sums;
}

void add_pairs(void* incoming, void* merged, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const DoublePair*>(incoming);
  auto* into = static_cast<DoublePair*>(merged);
  for (int i = 0; i < *count; ++i) into[i] = sum_of(into[i], from[i]);
}

constexpr std::size_t digits = 6;
constexpr int digit_bits = 46;
constexpr std::uint64_t additions_before_carry = std::uint64_t{1} << 16;

using Digits = std::array<std::int64_t, digits>;

/// Returns the weight of digit `d`, of which the first three are before the point.
double weight_of(std::size_t d) { return std::ldexp(1.0, digit_bits * (2 - static_cast<int>(d))); }

void carry(Digits& sum) {
  for (std::size_t d = digits - 1; d > 0; --d) {
    const std::int64_t over = sum[d] >> digit_bits;
    sum[d] -= over << digit_bits;
    sum[d - 1] += over;
  }
}

/// Returns whether all elements are in range.
bool add_field(const double* x, std::uint64_t n, Digits& sum) {
  std::array<double, digits> weights{};
  std::array<double, digits> inverses{};
  for (std::size_t d = 0; d < digits; ++d) {
    weights[d] = weight_of(d);
    inverses[d] = 1.0 / weights[d];
  }
  const double end = std::ldexp(1.0, digit_bits * 3 - 1);
  bool fits = true;
  for (std::uint64_t first = 0; first < n; first += additions_before_carry) {
    const std::uint64_t last = std::min(n, first + additions_before_carry);
    for (std::uint64_t i = first; i < last; ++i) {
      double rest = x[i];
      fits &= std::fabs(rest) < end;
      for (std::size_t d = 0; d < digits; ++d) {
        const auto digit = static_cast<std::int64_t>(rest * inverses[d]);
        sum[d] += digit;
        rest -= static_cast<double>(digit) * weights[d];
      }
    }
    carry(sum);
  }
  return fits;
}

/// Adds the digits from the lowest on, so that little is lost.
double value_of(Digits sum) {
  carry(sum);
  DoublePair value{0.0, 0.0};
  for (std::size_t d = digits; d-- > 0;)
    value = sum_of({static_cast<double>(sum[d]) * weight_of(d), 0.0}, value);
  return value.high;
}

}  // namespace

std::vector<double> plain_sums(const Fields& fields, MPI_Comm communicator) {
  std::vector<double> sums(fields.fields);
  for (std::uint64_t f = 0; f < fields.fields; ++f) {
    const auto add = [](double& sum, double x) { sum += x; };
    for (const double column : in_columns(fields.field(f), fields.elements, 0.0, add))
      sums[f] += column;
  }
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE,
                           MPI_SUM, communicator),
             "MPI_Allreduce");
  return sums;
}

PairSums::PairSums() {
  mpi::check(MPI_Type_contiguous(2, MPI_DOUBLE, &type_), "MPI_Type_contiguous");
  mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
  mpi::check(MPI_Op_create(&add_pairs, 1, &operation_), "MPI_Op_create");
}

PairSums::~PairSums() {
  MPI_Op_free(&operation_);
  MPI_Type_free(&type_);
}

std::vector<double> PairSums::operator()(const Fields& fields, MPI_Comm communicator) const {
  std::vector<DoublePair> sums(fields.fields);
  for (std::uint64_t f = 0; f < fields.fields; ++f) {
    const auto add = [](DoublePair& sum, double x) { sum = sum_of(sum, {x, 0.0}); };
    sums[f] = {0.0, 0.0};
    for (const DoublePair& column :
         in_columns(fields.field(f), fields.elements, DoublePair{0.0, 0.0}, add))
      sums[f] = sum_of(sums[f], column);
  }
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), type_,
                           operation_, communicator),
             "MPI_Allreduce");
  std::vector<double> rounded;
  for (const DoublePair& sum : sums) rounded.push_back(sum.high);
  return rounded;
}

std::vector<double> digit_sums(const Fields& fields, MPI_Comm communicator) {
  // A digit that counts what is out of range goes with each sum.
  std::vector<std::int64_t> words;
  for (std::uint64_t f = 0; f < fields.fields; ++f) {
    Digits sum{};
    const bool fits = add_field(fields.field(f), fields.elements, sum);
    words.insert(words.end(), sum.begin(), sum.end());
    words.push_back(fits ? 0 : 1);
  }
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T,
                           MPI_SUM, communicator),
             "MPI_Allreduce");
  std::vector<double> sums;
  for (auto word = words.begin(); word != words.end(); word += digits + 1) {
    Digits sum{};
    std::copy_n(word, digits, sum.begin());
    sums.push_back(word[digits] == 0 ? value_of(sum) : std::numeric_limits<double>::quiet_NaN());
  }
  return sums;
}

}  // namespace warpfold::bench::global
