#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

/// Global sums as climate and ocean codes take them, of fields of this rank that lie one behind
/// another. All are collective and return a sum a field.
namespace warpfold::bench::global {

struct Fields {
  std::uint64_t fields = 1;
  std::uint64_t elements = 0;  ///< elements per peer
  std::vector<double> values;

  const double* field(std::uint64_t number) const { return values.data() + number * elements; }
};

/// Adds in a loop, to sixteen sums, and by MPI_SUM.
std::vector<double> plain_sums(const Fields& fields, MPI_Comm communicator);

/// Adds pairs of doubles, in such a loop and by an operation of MPI.
class PairSums {
 public:
  PairSums();
  ~PairSums();
  PairSums(const PairSums&) = delete;
  PairSums& operator=(const PairSums&) = delete;

  std::vector<double> operator()(const Fields& fields, MPI_Comm communicator) const;

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// Adds six digits of 46 bits, integers, by MPI_SUM: exact from 2^-138 to 2^137. Bits below are
/// lost; what is above gives NaN.
std::vector<double> digit_sums(const Fields& fields, MPI_Comm communicator);

}  // namespace warpfold::bench::global
