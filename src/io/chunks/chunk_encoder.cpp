#include "io/chunks/chunk_encoder.hpp"

#include <cstring>

namespace warpfold::io {

ChunkEncoder::ChunkEncoder(const StorageOptions& storage, std::size_t element_bytes)
    : storage_(storage), element_bytes_(element_bytes) {
  if (storage.deflate_level) compressor_ = make_deflate_compressor(*storage.deflate_level);
  if (storage.zstd_level) compressor_ = make_zstd_compressor(*storage.zstd_level);
}

EncodedChunk ChunkEncoder::encode(std::span<const std::byte> chunk) {
  const std::span<const std::byte> shuffled = storage_.shuffle ? this->shuffled(chunk) : chunk;
  EncodedChunk encoded{shuffled};
  if (compressor_) {
    encoded_.resize(chunk.size() + fletcher32_bytes);
    const std::size_t bytes =
        compressor_->compress(shuffled, std::span(encoded_).first(chunk.size() - 1));
    if (bytes > 0) {
      encoded.bytes = std::span(encoded_).first(bytes);
    } else {
      encoded = {chunk, storage_.shuffle ? 0b11U : 0b1U};
    }
  }
  if (storage_.fletcher32) encoded.bytes = with_checksum(encoded.bytes);
  return encoded;
}

std::span<const std::byte> ChunkEncoder::shuffled(std::span<const std::byte> chunk) {
  shuffled_.resize(chunk.size());
  shuffle(chunk, element_bytes_, shuffled_);
  return shuffled_;
}

std::span<const std::byte> ChunkEncoder::with_checksum(std::span<const std::byte> bytes) {
  const std::uint32_t checksum = io::fletcher32(bytes);
  encoded_.resize(bytes.size() + fletcher32_bytes);
  if (bytes.data() != encoded_.data()) std::memcpy(encoded_.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < fletcher32_bytes; ++i) {
    encoded_[bytes.size() + i] = static_cast<std::byte>(checksum >> (8 * i));
  }
  return encoded_;
}

}  // namespace warpfold::io
