#include <cstdlib>
#include <new>

#include "bench/ingest/transfer_lane.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t page_bytes = 4096;

class HostLane : public TransferLane {
 public:
  explicit HostLane(std::uint64_t buffer_bytes)
      : bytes_(buffer_bytes),
        buffer_(static_cast<std::byte*>(
            std::aligned_alloc(page_bytes, round_up(buffer_bytes, page_bytes)))) {
    if (!buffer_) throw std::bad_alloc();
  }

  std::span<std::byte> next_buffer() override { return {buffer_.get(), bytes_}; }
  void send(std::uint64_t) override {}
  void finish() override {}

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> buffer_;
};

}  // namespace

std::unique_ptr<TransferLane> make_host_lane(std::uint64_t buffer_bytes) {
  return std::make_unique<HostLane>(buffer_bytes);
}

}  // namespace warpfold::bench
