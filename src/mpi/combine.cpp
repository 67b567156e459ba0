#include "mpi/combine.hpp"

#include "mpi/contribution.hpp"
#include "mpi/mpi_error.hpp"

namespace warpfold::mpi {
namespace {

Accumulator normalized(Accumulator contents) {
  contents.normalize();
  return contents;
}

}  // namespace

Accumulator reduce(const Accumulator& mine, const Communicator& communicator) {
  const ContributionMerge& merge = contribution_merge();
  const Contribution from{mine, 0};
  Contribution whole = from;
  check(MPI_Reduce(&from, &whole, 1, merge.type(), merge.operation(), 0, communicator.get()),
        "MPI_Reduce");
  return normalized(whole.contents);
}

std::vector<std::uint64_t> sum(std::vector<std::uint64_t> counts,
                               const Communicator& communicator) {
  std::vector<std::uint64_t> whole(counts.size());
  check(MPI_Reduce(counts.data(), whole.data(), static_cast<int>(counts.size()), MPI_UINT64_T,
                   MPI_SUM, 0, communicator.get()),
        "MPI_Reduce");
  return whole;
}

std::optional<Accumulator> reduce_everywhere(const std::optional<Accumulator>& mine,
                                             const Communicator& communicator) {
  const ContributionMerge& merge = contribution_merge();
  Contribution whole{mine.value_or(Accumulator::empty()), mine ? 0 : 1};
  check(MPI_Allreduce(MPI_IN_PLACE, &whole, 1, merge.type(), merge.operation(), communicator.get()),
        "MPI_Allreduce");
  if (whole.missing != 0) return std::nullopt;
  return normalized(whole.contents);
}

Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator) {
  const ContributionMerge& merge = contribution_merge();
  const Contribution from{mine, 0};
  Contribution before{Accumulator::empty(), 0};
  check(MPI_Exscan(&from, &before, 1, merge.type(), merge.operation(), communicator.get()),
        "MPI_Exscan");
  // MPI leaves rank 0's buffer undefined.
  return communicator.is_root() ? Accumulator::empty() : normalized(before.contents);
}

}  // namespace warpfold::mpi
