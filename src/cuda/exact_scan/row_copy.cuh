#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/shared_address.cuh"
#include "cuda/runtime/cuda_error.hpp"

/// Bulk copies between arrays in device memory and shared memory in which vectors of 16 bytes have
/// changed places: vector i of a box that is aligned to 1024 bytes is vector i ^ (i / 8 % 8), so
/// that lanes which read as many vectors each, side by side, share no banks. (PTX ISA,
/// "cp.async.bulk.tensor", tiles of two dimensions, a swizzle of 128 bytes.) They need sm_90.
namespace warpfold::cuda {

inline constexpr std::size_t row_bytes = 128;

/// An array as rows of 128 bytes, copied in boxes of so many rows. A kernel's parameter.
struct RowArray {
  CUtensorMap map;
};

/// `first` is aligned to 16 bytes; there are no more than max_rows.
inline RowArray row_array(const void* first, std::uint64_t rows, int box_rows) {
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr const char* name = "cuTensorMapEncodeTiled";
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
    check(status, "finding a function of the driver");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  constexpr cuuint32_t words = row_bytes / sizeof(std::uint32_t);
  const cuuint64_t sizes[] = {words, rows};
  const cuuint64_t strides[] = {row_bytes};
  const cuuint32_t box[] = {words, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  RowArray array{};
  const CUresult result =
      encode(&array.map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, const_cast<void*>(first), sizes,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue,
        "describing an array to the GPU");
  return array;
}

inline constexpr std::uint64_t max_rows = std::numeric_limits<std::int32_t>::max();

/// Starts copying a box. Called by one thread; the box's bytes count on `copied` as they arrive.
__device__ inline void copy_rows_to_shared([[maybe_unused]] void* shared,
                                           [[maybe_unused]] const RowArray& array,
                                           [[maybe_unused]] std::uint64_t row,
                                           [[maybe_unused]] const Mbarrier& copied) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
      "l"(&array.map), "r"(0), "r"(static_cast<std::int32_t>(row)), "r"(copied.address())
      : "memory");
#else
  __trap();
#endif
}

/// Starts writing a box. Called by one thread, after fence_shared_writes() of the threads that
/// filled the box.
__device__ inline void copy_rows_to_global([[maybe_unused]] const RowArray& array,
                                           [[maybe_unused]] std::uint64_t row,
                                           [[maybe_unused]] const void* shared) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                   &array.map),
               "r"(0), "r"(static_cast<std::int32_t>(row)), "r"(shared_address(shared))
               : "memory");
#else
  __trap();
#endif
}

}  // namespace warpfold::cuda
