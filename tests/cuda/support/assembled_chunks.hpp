#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/chunks/chunk_assembly.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/sample_chunks.hpp"

namespace warpfold::cuda {

/// Initial contents of memory, and how much of it lies beyond the target.
inline constexpr auto untouched = std::byte{0xa5};
inline constexpr std::size_t guard_bytes = 256;

/// Returns the target as `assemble` fills it, and after it the memory that must stay as it was.
inline std::vector<std::byte> assembled(void (*assemble)(const kernels::ChunkAssembly&,
                                                         cudaStream_t),
                                        const SampleChunks& sample, const ChunkGrid& grid,
                                        const ChunkTarget& target, std::size_t element_bytes,
                                        std::uint64_t fill) {
  const Stream stream;
  const std::size_t size = target.elements * element_bytes + guard_bytes;
  std::vector<std::byte> result(size);
  const DeviceBuffer staged(sample.staging.size() + 16);
  const DeviceBuffer table(sample.chunks.size() * sizeof(StagedChunk));
  const DeviceBuffer elements(size);
  copy_to_device(staged.data(), sample.staging.data(), sample.staging.size(), stream.get());
  copy_to_device(table.data(), sample.chunks.data(), table.size(), stream.get());
  fill_bytes(elements.data(), std::to_integer<int>(untouched), size, stream.get());
  assemble({grid, target, reinterpret_cast<const StagedChunk*>(table.data()), sample.chunks.size(),
            staged.data(), elements.data(), element_bytes, fill},
           stream.get());
  copy_to_host(result.data(), elements.data(), size, stream.get());
  stream.synchronize();
  return result;
}

/// The name of a test for each size of elements.
inline std::string size_name(const ::testing::TestParamInfo<std::size_t>& info) {
  return std::to_string(info.param) + "Bytes";
}

}  // namespace warpfold::cuda
