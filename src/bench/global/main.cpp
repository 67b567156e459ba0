#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/global/peers.hpp"
#include "bench/harness/timing_loop.hpp"
#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "warpfold/core/int128.hpp"
#include "warpfold/host_collectives.hpp"

/// `mpirun -n RANKS warpfold_bench_sums [ROUNDS]`: global sums of fields beside those of other
/// ways, as lines "FIELDS ELEMENTS DATA WAY MICROSECONDS ERROR", of tabs between: elements of each
/// field on a rank; the least over rounds of the slowest rank; units in the last place of the
/// exact sum.
namespace warpfold::bench::global {
namespace {

enum class Data { anomalies, cancelling };

constexpr const char* name_of(Data data) {
  return data == Data::anomalies ? "anomalies" : "cancelling";
}

constexpr int fraction_bits = 30;

/// Fields and the integers whose sums, times 2^-30, are theirs.
struct Known {
  Fields fields;
  std::vector<std::int64_t> upper;  ///< sums of each integer without its lower 26 bits
  std::vector<std::int64_t> lower;
};

/// Numbers of either sign up to 2^22, multiples of 2^-30; where they are to cancel, nine in ten are
/// numbers of up to 2^122 instead, each with its negative.
Known known_fields(std::uint64_t count, std::uint64_t elements, Data data, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  Known known{{count, elements, std::vector<double>(count * elements)},
              std::vector<std::int64_t>(count),
              std::vector<std::int64_t>(count)};
  for (std::uint64_t f = 0; f < count; ++f) {
    double* const x = known.fields.values.data() + f * elements;
    const std::uint64_t half = elements / 2;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::int64_t integer = static_cast<std::int64_t>(random()) >> 11;
      if (data == Data::cancelling && i % half % 10 != 0 && i < 2 * half) {
        const int exponent = static_cast<int>(random() % 141) - 40 - fraction_bits;
        x[i] = i < half ? std::ldexp(static_cast<double>(integer), exponent) : -x[i - half];
        continue;
      }
      x[i] = std::ldexp(static_cast<double>(integer), -fraction_bits);
      known.upper[f] += integer >> 26;
      known.lower[f] += integer & ((std::int64_t{1} << 26) - 1);
    }
  }
  return known;
}

std::vector<double> exact_sums(Known known, MPI_Comm communicator) {
  std::vector<double> sums;
  for (std::vector<std::int64_t>* part : {&known.upper, &known.lower})
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, part->data(), static_cast<int>(part->size()),
                             MPI_INT64_T, MPI_SUM, communicator),
               "MPI_Allreduce");
  for (std::size_t f = 0; f < known.upper.size(); ++f) {
    const int128 integer = int128{known.upper[f]} * (1 << 26) + known.lower[f];
    sums.push_back(std::ldexp(static_cast<double>(integer), -fraction_bits));
  }
  return sums;
}

double largest_error(const std::vector<double>& found, const std::vector<double>& exact) {
  double largest = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double size = std::fabs(exact[i]);
    const double unit = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
    const double error = std::fabs(found[i] - exact[i]) / unit;
    largest = std::isnan(error) ? error : std::max(largest, error);
  }
  return largest;
}

std::vector<double> warpfold_sums(const Fields& fields, HostCollectives& collectives) {
  std::vector<Field> parts;
  for (std::uint64_t f = 0; f < fields.fields; ++f)
    parts.push_back({array_of(fields.field(f), fields.elements)});
  std::vector<double> sums;
  for (const Value& sum : collectives.sums(parts)) sums.push_back(std::get<double>(sum));
  return sums;
}

struct Way {
  const char* name;
  std::function<std::vector<double>(const Fields&)> sums;
};

void measure_and_print(const Known& known, Data data, const std::vector<Way>& ways, int rounds,
                       const mpi::Communicator& communicator) {
  const std::vector<double> exact = exact_sums(known, communicator.get());
  std::vector<Candidate> candidates;
  for (const Way& way : ways) {
    Candidate candidate;
    candidate.row.kernel = way.name;
    candidate.row.error_ulps = largest_error(way.sums(known.fields), exact);
    candidate.run = [&](std::uint64_t) { way.sums(known.fields); };
    candidates.push_back(std::move(candidate));
  }
  const RunOptions options;
  const std::vector<Row> rows = measure(std::move(candidates), {.measured = rounds},
                                        timed_on_all_ranks(options, communicator));
  if (!communicator.is_root()) return;
  for (const Row& row : rows)
    std::printf("%llu\t%llu\t%s\t%s\t%.1f\t%.3g\n",
                static_cast<unsigned long long>(known.fields.fields),
                static_cast<unsigned long long>(known.fields.elements), name_of(data),
                row.kernel.c_str(), row.seconds->minimum * 1e6, *row.error_ulps);
}

void run(int rounds) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  HostCollectives collectives(MPI_COMM_WORLD);
  const PairSums pair_sums;
  const std::vector<Way> ways = {
      {"MPI_SUM", [&](const Fields& fields) { return plain_sums(fields, communicator.get()); }},
      {"double-double",
       [&](const Fields& fields) { return pair_sums(fields, communicator.get()); }},
      {"fixed point", [&](const Fields& fields) { return digit_sums(fields, communicator.get()); }},
      {"warpfold", [&](const Fields& fields) { return warpfold_sums(fields, collectives); }}};
  for (const auto& [fields, elements] : {std::pair{1, 1000000}, std::pair{100, 10000}})
    for (const Data data : {Data::anomalies, Data::cancelling})
      measure_and_print(
          known_fields(static_cast<std::uint64_t>(fields), static_cast<std::uint64_t>(elements),
                       data, communicator.rank()),
          data, ways, rounds, communicator);
}

}  // namespace
}  // namespace warpfold::bench::global

int main(int count, char** values) {
  const warpfold::mpi::Environment environment;
  const int rounds = count > 1 ? std::atoi(values[1]) : 21;
  if (rounds < 1) {
    std::fprintf(stderr, "warpfold: error: '%s' is not a number of rounds. Give 1 or more.\n",
                 values[1]);
    return 2;
  }
  warpfold::bench::global::run(rounds);
  return 0;
}
