#include "bench/ingest/raw_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <numeric>
#include <utility>

#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

io::FileDescriptor open_or_throw(const std::string& file, int flags) {
  io::FileDescriptor descriptor(::open(file.c_str(), flags | O_CLOEXEC));
  if (!descriptor)
    throw Error("cannot open '" + file + "'", io::describe_errno(errno), "Check the path.");
  return descriptor;
}

void write_or_throw(const io::FileDescriptor& descriptor, const std::string& file,
                    io::FileBytes piece, std::span<const std::byte> bytes) {
  const io::TransferResult result = io::write_at(descriptor.get(), piece.address, bytes);
  if (result.error != 0)
    throw Error("cannot write '" + file + "'", io::describe_errno(result.error),
                "Free some space.");
}

class HostTransfer : public Transfer {
 public:
  explicit HostTransfer(std::uint64_t buffer_bytes)
      : bytes_(buffer_bytes),
        buffer_(static_cast<std::byte*>(
            std::aligned_alloc(page_bytes, round_up(buffer_bytes, page_bytes)))) {
    if (!buffer_) throw std::bad_alloc();
  }

  std::span<std::byte> next_buffer() override { return {buffer_.get(), bytes_}; }
  void send(std::uint64_t) override {}
  void finish() override {}

 private:
  static constexpr std::uint64_t page_bytes = 4096;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> buffer_;
};

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

std::uint64_t digest_of_words(const std::vector<std::uint64_t>& words, std::uint64_t first_place) {
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < words.size(); ++i) digest += words[i] * (2 * (first_place + i) + 1);
  return digest;
}

}  // namespace

InputFile::InputFile(std::string file)
    : file_(std::move(file)), descriptor_(open_or_throw(file_, O_RDONLY)) {}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  const io::TransferResult result = io::read_at(descriptor_.get(), offset, out);
  if (result.bytes == out.size()) return;
  throw Error("cannot read '" + file_ + "'",
              result.error != 0 ? io::describe_errno(result.error) : "it ends too early",
              "Check that nothing writes to it.");
}

std::unique_ptr<Transfer> make_host_transfer(std::uint64_t buffer_bytes) {
  return std::make_unique<HostTransfer>(buffer_bytes);
}

RawRead::RawRead(const std::string& file, std::vector<io::FileBytes> pieces,
                 std::vector<std::unique_ptr<Transfer>> transfers)
    : file_(file),
      pieces_(std::move(pieces)),
      transfers_(std::move(transfers)),
      threads_(static_cast<int>(transfers_.size())) {}

void RawRead::run() {
  threads_.parallel_for(pieces_.size(), [&](std::size_t task, int worker) {
    Transfer& transfer = *transfers_[static_cast<std::size_t>(worker)];
    const io::FileBytes piece = pieces_[task];
    file_.read(piece.address, transfer.next_buffer().first(piece.count));
    transfer.send(piece.count);
  });
  for (const auto& transfer : transfers_) transfer->finish();
}

void copy_pieces(const std::string& from, const std::string& to,
                 const std::vector<io::FileBytes>& pieces, int threads) {
  const InputFile source(from);
  const io::FileDescriptor target = open_or_throw(to, O_WRONLY);
  std::uint64_t largest = 0;
  for (const io::FileBytes& piece : pieces) largest = std::max(largest, piece.count);
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(threads));
  cpu::ThreadPool(threads).parallel_for(pieces.size(), [&](std::size_t task, int worker) {
    std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(worker)];
    buffer.resize(largest);
    const std::span<std::byte> bytes = std::span(buffer).first(pieces[task].count);
    source.read(pieces[task].address, bytes);
    write_or_throw(target, to, pieces[task], bytes);
  });
  if (::fsync(target.get()) != 0)
    throw Error("cannot write '" + to + "'", io::describe_errno(errno), "Free some space.");
}

std::uint64_t digest_of(const std::string& name, std::uint64_t first,
                        const std::vector<io::FileBytes>& pieces, int threads) {
  const InputFile file(name);
  std::vector<std::uint64_t> digests(static_cast<std::size_t>(threads));
  std::vector<std::vector<std::uint64_t>> buffers(digests.size());
  cpu::ThreadPool(threads).parallel_for(pieces.size(), [&](std::size_t task, int worker) {
    const io::FileBytes piece = pieces[task];
    std::vector<std::uint64_t>& words = buffers[static_cast<std::size_t>(worker)];
    words.assign(ceil_div(piece.count, word_bytes), 0);
    file.read(piece.address, std::as_writable_bytes(std::span(words)).first(piece.count));
    digests[static_cast<std::size_t>(worker)] +=
        digest_of_words(words, (piece.address - first) / word_bytes);
  });
  return std::accumulate(digests.begin(), digests.end(), std::uint64_t{0});
}

}  // namespace warpfold::bench
