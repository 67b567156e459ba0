#pragma once

#include <mpi.h>

#include <exception>
#include <limits>
#include <type_traits>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// An exclusive scan over p ranks in ceil(log2 p) rounds, by recursive doubling (Hillis and Steele,
/// "Data parallel algorithms", CACM 29(12), 1986): in the round of distance d = 1, 2, 4, ... a rank
/// hands what it and the d - 1 ranks below it have to the rank d above it. start(), then anything
/// else until done(), which the rounds need to go on. All ranks start equally many, one at a time
/// over a communicator.
///
/// A Value has empty() and merge(), in whatever order.
template <class Value>
class DoublingScan {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  explicit DoublingScan(const Communicator& communicator) : communicator_(communicator) {}

  /// Waits for what is under way.
  ~DoublingScan() {
    try {
      wait();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): MPI has failed
    }
  }
  DoublingScan(const DoublingScan&) = delete;
  DoublingScan& operator=(const DoublingScan&) = delete;

  /// Begins with this rank's value. Not while a scan is under way.
  void start(const Value& mine) {
    mine_ = mine;
    lower_ = Value::empty();
    distance_ = 1;
    begin_round();
  }

  /// Goes on as far as messages have come; tells whether this rank's part is complete.
  bool done() {
    for (int arrived = 0; under_way(); next_round()) {
      check(MPI_Testall(2, requests_, &arrived, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (arrived == 0) return false;
    }
    return true;
  }

  void wait() {
    for (; under_way(); next_round())
      check(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  /// The values of all lower ranks, once done().
  const Value& lower() const { return lower_; }

 private:
  bool under_way() const { return distance_ < communicator_.size(); }

  void begin_round() {
    if (!under_way()) return;
    const int from = communicator_.rank() - distance_;
    const int to = communicator_.rank() + distance_;
    if (from >= 0)
      check(MPI_Irecv(&received_, sizeof(Value), MPI_BYTE, from, tag::doubling, communicator_.get(),
                      &requests_[0]),
            "MPI_Irecv");
    if (to < communicator_.size()) {
      sent_ = lower_;
      sent_.merge(mine_);
      check(MPI_Isend(&sent_, sizeof(Value), MPI_BYTE, to, tag::doubling, communicator_.get(),
                      &requests_[1]),
            "MPI_Isend");
    }
  }

  void next_round() {
    if (communicator_.rank() >= distance_) lower_.merge(received_);
    distance_ *= 2;
    begin_round();
  }

  static constexpr int never = std::numeric_limits<int>::max();

  const Communicator& communicator_;
  int distance_ = never;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Value mine_ = Value::empty();
  Value lower_ = Value::empty();
  Value sent_ = Value::empty();
  Value received_ = Value::empty();
};

}  // namespace warpfold::mpi
