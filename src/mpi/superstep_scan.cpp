#include "mpi/superstep_scan.hpp"

namespace warpfold::mpi {
namespace {

Accumulator merged(Accumulator contents, const Accumulator& others) {
  contents.normalize();
  contents.merge(others);
  contents.normalize();
  return contents;
}

}  // namespace

SuperstepScan::~SuperstepScan() {
  if (under_way_ && !communicator_.is_alone()) MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
}

void SuperstepScan::start(const std::optional<Accumulator>& mine) {
  mine_ = {mine.value_or(Accumulator::empty()), mine ? 0 : 1};
  lower_ = {Accumulator::empty(), 0};
  whole_ = mine_;
  under_way_ = true;
  if (communicator_.is_alone()) return;
  const ContributionMerge& merge = contribution_merge();
  if (way_ == ScanWay::doubling) {
    doubling_.start(mine_.contents);
  } else {
    check(MPI_Iexscan(&mine_, &lower_, 1, merge.type(), merge.operation(), communicator_.get(),
                      &requests_[0]),
          "MPI_Iexscan");
  }
  check(MPI_Iallreduce(&mine_, &whole_, 1, merge.type(), merge.operation(), communicator_.get(),
                       &requests_[1]),
        "MPI_Iallreduce");
}

bool SuperstepScan::done() {
  if (!communicator_.is_alone() && !messages_arrived()) return false;
  under_way_ = false;
  take_results();
  return true;
}

bool SuperstepScan::messages_arrived() {
  const bool doubled = doubling_.done();
  int complete = 0;
  check(MPI_Testall(2, requests_, &complete, MPI_STATUSES_IGNORE), "MPI_Testall");
  return doubled && complete != 0;
}

void SuperstepScan::take_results() {
  if (way_ == ScanWay::doubling) lower_.contents = doubling_.lower();
  // MPI leaves rank 0's buffer undefined.
  if (communicator_.is_root()) lower_.contents = Accumulator::empty();
  before_ = merged(lower_.contents, earlier_);
  earlier_ = merged(whole_.contents, earlier_);
}

}  // namespace warpfold::mpi
