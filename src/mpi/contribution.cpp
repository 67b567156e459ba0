#include "mpi/contribution.hpp"

#include <memory>
#include <type_traits>

#include "mpi/mpi_error.hpp"

namespace warpfold::mpi {
namespace {

static_assert(std::is_trivially_copyable_v<Contribution>);
static_assert(sizeof(Contribution) % sizeof(std::uint64_t) == 0);

void merge(void* incoming, void* merged, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Contribution*>(incoming);
  auto* into = static_cast<Contribution*>(merged);
  for (int i = 0; i < *count; ++i) {
    into[i].contents.merge(from[i].contents);
    into[i].missing += from[i].missing;
  }
}

int delete_merge(MPI_Comm, int, void* attribute, void*) {
  const std::unique_ptr<ContributionMerge> owner(static_cast<ContributionMerge*>(attribute));
  return MPI_SUCCESS;
}

int make_key() {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &delete_merge, &key, nullptr),
        "MPI_Comm_create_keyval");
  return key;
}

}  // namespace

ContributionMerge::ContributionMerge() {
  constexpr int words = sizeof(Contribution) / sizeof(std::uint64_t);
  constexpr int commutes = 1;
  check(MPI_Type_contiguous(words, MPI_UINT64_T, &type_), "MPI_Type_contiguous");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  check(MPI_Op_create(&merge, commutes, &operation_), "MPI_Op_create");
}

ContributionMerge::~ContributionMerge() {
  MPI_Op_free(&operation_);
  MPI_Type_free(&type_);
}

const ContributionMerge& contribution_merge() {
  static const int key = make_key();
  ContributionMerge* kept = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_SELF, key, static_cast<void*>(&kept), &found),
        "MPI_Comm_get_attr");
  if (found != 0) return *kept;
  auto made = std::make_unique<ContributionMerge>();
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

}  // namespace warpfold::mpi
