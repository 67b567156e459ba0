#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "cuda/primitives/bulk_copy.cuh"

// In the place of src/cuda/exact_scan/row_copy.cuh.
namespace warpfold::cuda {

inline constexpr std::size_t row_bytes = 128;
inline constexpr std::uint64_t max_rows = std::numeric_limits<std::int32_t>::max();

struct RowArray {
  uint4* vectors;
  std::uint64_t rows;
  int box_rows;
};

inline RowArray row_array(const void* first, std::uint64_t rows, int box_rows) {
  return {static_cast<uint4*>(const_cast<void*>(first)), rows, box_rows};
}

/// Calls visit(vector in shared memory, vector of the array) for those of a box.
template <class Visit>
void for_each_of_box(const RowArray& array, std::uint64_t row, uint4* shared, Visit visit) {
  constexpr std::size_t row_vectors = row_bytes / sizeof(uint4);
  if (row + static_cast<unsigned>(array.box_rows) > array.rows)
    emulator::fail("rows are copied that do not exist");
  if (reinterpret_cast<std::uintptr_t>(shared) % 1024 != 0)
    emulator::fail("a box of rows is not aligned");
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.box_rows) * row_vectors; ++i)
    visit(shared[i ^ i / row_vectors % row_vectors], array.vectors[row * row_vectors + i]);
}

inline void copy_rows_to_shared(void* shared, const RowArray& array, std::uint64_t row,
                                const Mbarrier& copied) {
  load_later(copied, static_cast<std::uint32_t>(array.box_rows) * row_bytes, [=] {
    for_each_of_box(array, row, static_cast<uint4*>(shared),
                    [](uint4& to, const uint4& from) { to = from; });
  });
}

inline void copy_rows_to_global(const RowArray& array, std::uint64_t row, const void* shared) {
  own_bulk_stores().back().push_back([=] {
    for_each_of_box(array, row, static_cast<uint4*>(const_cast<void*>(shared)),
                    [](const uint4& from, uint4& to) { to = from; });
  });
}

}  // namespace warpfold::cuda
