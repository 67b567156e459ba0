#include "bench/harness/across_ranks.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "mpi/communicator.hpp"

namespace warpfold::bench {
namespace {

/// Numbers that ranks compare by their greatest value; -1 stands for none.
struct Figures {
  static constexpr std::size_t count = 6;
  double refused, check, error, median, minimum, maximum;
};

double or_none(const std::optional<double>& value) { return value ? *value : -1.0; }

Figures figures_of(const Row& row) {
  const Spread none{-1.0, -1.0, -1.0};
  const Spread seconds = row.seconds.value_or(none);
  return {row.seconds ? 0.0 : 1.0, static_cast<double>(row.check),
          or_none(row.error_ulps), seconds.median,
          seconds.minimum,         seconds.maximum};
}

void set_figures(Row& row, const Figures& figures) {
  row.check = static_cast<Check>(figures.check);
  if (figures.error >= 0) row.error_ulps = figures.error;
  row.seconds.reset();
  if (figures.refused == 0) row.seconds = Spread{figures.median, figures.minimum, figures.maximum};
  if (figures.refused != 0 && row.note.empty()) row.note = "refused on another rank";
}

double rate_of(const Row& row) {
  return row.seconds ? static_cast<double>(row.useful_bytes) / row.seconds->median * 1e-9 : 0.0;
}

}  // namespace

void combine_over_ranks(std::vector<Row>& rows, const mpi::Communicator& communicator) {
  std::vector<double> rates;
  std::vector<double> figures;
  for (const Row& row : rows) {
    rates.push_back(rate_of(row));
    const Figures mine = figures_of(row);
    figures.insert(figures.end(),
                   {mine.refused, mine.check, mine.error, mine.median, mine.minimum, mine.maximum});
  }
  rates = mpi::sum(std::move(rates), communicator);
  figures = mpi::maximum(std::move(figures), communicator);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double* each = figures.data() + i * Figures::count;
    set_figures(rows[i], {each[0], each[1], each[2], each[3], each[4], each[5]});
    if (rows[i].seconds && rates[i] > 0) rows[i].gigabytes_per_second = rates[i];
  }
}

Check check_of_ranks(bool right, const mpi::Communicator& communicator) {
  const double wrong_anywhere = mpi::maximum({right ? 0.0 : 1.0}, communicator).front();
  return wrong_anywhere > 0 ? Check::wrong : Check::right;
}

Accumulator merged_ranks(const Accumulator& mine, int ranks,
                         const mpi::Communicator& communicator) {
  const auto all = mpi::gather_everywhere(
      std::string(reinterpret_cast<const char*>(&mine), sizeof(mine)), communicator);
  Accumulator merged = Accumulator::empty();
  for (int rank = 0; rank < ranks; ++rank) {
    Accumulator each;
    std::memcpy(static_cast<void*>(&each), all[static_cast<std::size_t>(rank)].data(),
                sizeof(each));
    merged.merge(each);
  }
  merged.normalize();
  return merged;
}

}  // namespace warpfold::bench
