#include "cuda/runtime/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

/// In huge pages, where there are any to be had, from 2 MiB on; `bytes` are whole pages.
std::byte* allocate_pages(std::uint64_t bytes) {
  const std::uint64_t alignment = bytes < huge_page_bytes ? page_bytes : huge_page_bytes;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(alignment, round_up(bytes, alignment)));
  if (data == nullptr)
    throw Error("no memory for a buffer of " + std::to_string(bytes) + " bytes", "",
                "Give a smaller `slab_bytes` or fewer `threads`.");
  madvise(data, bytes, MADV_HUGEPAGE);
  for (std::uint64_t page = 0; page < bytes; page += page_bytes) data[page] = std::byte{0};
  return data;
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "allocating GPU memory");
  data_.reset(static_cast<std::byte*>(data));
}

/// cudaHostAlloc() would do, were it not several times slower than locking huge pages.
PinnedBuffer::PinnedBuffer(std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t whole_pages = round_up(bytes, page_bytes);
  std::byte* data = allocate_pages(whole_pages);
  const cudaError_t status = cudaHostRegister(data, whole_pages, cudaHostRegisterPortable);
  if (status != cudaSuccess) std::free(data);
  check(status, "page-locking memory");
  data_.reset(data);
  bytes_ = bytes;
}

void PinnedBuffer::Free::operator()(std::byte* data) const {
  cudaHostUnregister(data);
  std::free(data);
}

}  // namespace warpfold::cuda
