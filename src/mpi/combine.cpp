#include "mpi/combine.hpp"

#include <cstddef>
#include <type_traits>

#include "mpi/mpi_error.hpp"

namespace warpfold::mpi {
namespace {

/// The part of an Accumulator that merges by choosing.
struct Extrema {
  Extremum minimum;
  Extremum maximum;
  std::uint64_t first_nan;
};

/// An Accumulator's counts and limbs are consecutive 64-bit integers that merge by addition.
constexpr std::size_t additive_bytes = offsetof(Accumulator, minimum);
constexpr int additive_words = static_cast<int>(additive_bytes / sizeof(std::int64_t));
static_assert(std::is_trivially_copyable_v<Accumulator>);
static_assert(additive_bytes ==
              (4 + 2 * ExactSum::limbs + ExactSumOfSquares::limbs) * sizeof(std::int64_t));

Extrema extrema_of(const Accumulator& accumulator) {
  return {accumulator.minimum, accumulator.maximum, accumulator.first_nan};
}

void merge_extrema(void* incoming, void* merged, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Extrema*>(incoming);
  auto* into = static_cast<Extrema*>(merged);
  for (int i = 0; i < *count; ++i) {
    into[i].minimum.merge(from[i].minimum);
    into[i].maximum.merge(from[i].maximum);
    if (from[i].first_nan < into[i].first_nan) into[i].first_nan = from[i].first_nan;
  }
}

class ExtremaType {
 public:
  ExtremaType() {
    check(MPI_Type_contiguous(sizeof(Extrema) / sizeof(std::uint64_t), MPI_UINT64_T, &type_),
          "MPI_Type_contiguous");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~ExtremaType() { MPI_Type_free(&type_); }
  ExtremaType(const ExtremaType&) = delete;
  ExtremaType& operator=(const ExtremaType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class ExtremaMerge {
 public:
  ExtremaMerge() {
    constexpr int commutes = 1;
    check(MPI_Op_create(&merge_extrema, commutes, &operation_), "MPI_Op_create");
  }
  ~ExtremaMerge() { MPI_Op_free(&operation_); }
  ExtremaMerge(const ExtremaMerge&) = delete;
  ExtremaMerge& operator=(const ExtremaMerge&) = delete;
  MPI_Op get() const { return operation_; }

 private:
  MPI_Op operation_ = MPI_OP_NULL;
};

Accumulator combined(const Accumulator& additive, const Extrema& extrema) {
  Accumulator result = additive;
  result.minimum = extrema.minimum;
  result.maximum = extrema.maximum;
  result.first_nan = extrema.first_nan;
  result.normalize();
  return result;
}

}  // namespace

Accumulator reduce(const Accumulator& mine, const Communicator& communicator) {
  const ExtremaType type;
  const ExtremaMerge merge;
  Accumulator sums = Accumulator::empty();
  const Extrema my_extrema = extrema_of(mine);
  Extrema extrema = extrema_of(sums);
  check(MPI_Reduce(&mine, &sums, additive_words, MPI_INT64_T, MPI_SUM, 0, communicator.get()),
        "MPI_Reduce");
  check(MPI_Reduce(&my_extrema, &extrema, 1, type.get(), merge.get(), 0, communicator.get()),
        "MPI_Reduce");
  return combined(sums, extrema);
}

Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator) {
  const ExtremaType type;
  const ExtremaMerge merge;
  Accumulator sums = Accumulator::empty();
  const Extrema my_extrema = extrema_of(mine);
  Extrema extrema = extrema_of(sums);
  check(MPI_Exscan(&mine, &sums, additive_words, MPI_INT64_T, MPI_SUM, communicator.get()),
        "MPI_Exscan");
  check(MPI_Exscan(&my_extrema, &extrema, 1, type.get(), merge.get(), communicator.get()),
        "MPI_Exscan");
  // MPI leaves rank 0's buffers undefined.
  return communicator.is_root() ? Accumulator::empty() : combined(sums, extrema);
}

Accumulator broadcast(const Accumulator& value, const Communicator& communicator, int from) {
  Accumulator copy = value;
  check(MPI_Bcast(&copy, sizeof(Accumulator), MPI_BYTE, from, communicator.get()), "MPI_Bcast");
  return copy;
}

}  // namespace warpfold::mpi
