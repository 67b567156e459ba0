#pragma once

#include <mpi.h>

#include <optional>

#include "core/results/accumulator.hpp"
#include "mpi/combine.hpp"
#include "mpi/communicator.hpp"
#include "mpi/doubling_scan.hpp"

namespace warpfold::mpi {

/// A superstep scan goes over supersteps and, within each, over ranks, one superstep at a time:
/// start(), then anything else until done(). All ranks start equally many.
class SuperstepScan {
 public:
  SuperstepScan(const Communicator& communicator, ScanWay way)
      : communicator_(communicator), way_(way), doubling_(communicator) {}
  explicit SuperstepScan(const Communicator& communicator)
      : SuperstepScan(communicator, communicator.scan_way()) {}
  /// Waits for what is under way.
  ~SuperstepScan();
  SuperstepScan(const SuperstepScan&) = delete;
  SuperstepScan& operator=(const SuperstepScan&) = delete;

  /// Begins the next superstep with this rank's contents, normalized, or none if it failed. Not
  /// while one is under way.
  void start(const std::optional<Accumulator>& mine);

  bool under_way() const { return under_way_; }

  /// Returns whether the superstep started last is complete; doesn't wait, and is what lets it go
  /// on.
  bool done();

  /// Tells once done() whether any rank came without contents; the same on every rank.
  bool any_missing() const { return whole_.missing != 0; }

  /// Returns, once done() and if none is missing, the contents of all earlier supersteps and, of
  /// this one, of all lower ranks.
  const Accumulator& before() const { return before_; }

 private:
  bool messages_arrived();
  void take_results();

  const Communicator& communicator_;
  ScanWay way_;
  DoublingScan<Accumulator> doubling_;
  bool under_way_ = false;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Contribution mine_{Accumulator::empty(), 0};
  Contribution lower_{Accumulator::empty(), 0};
  Contribution whole_{Accumulator::empty(), 0};
  Accumulator before_ = Accumulator::empty();
  Accumulator earlier_ = Accumulator::empty();  ///< total of all supersteps that are done
};

}  // namespace warpfold::mpi
