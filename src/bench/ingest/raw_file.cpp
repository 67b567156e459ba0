#include "bench/ingest/raw_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

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

RawRead::RawRead(const std::string& file, std::vector<io::FileBytes> pieces,
                 std::vector<std::unique_ptr<TransferLane>> lanes)
    : file_(file),
      pieces_(std::move(pieces)),
      lanes_(std::move(lanes)),
      threads_(static_cast<int>(lanes_.size())) {}

void RawRead::run() {
  threads_.parallel_for(pieces_.size(), [&](std::size_t task, int worker) {
    TransferLane& lane = *lanes_[static_cast<std::size_t>(worker)];
    const io::FileBytes piece = pieces_[task];
    file_.read(piece.address, lane.next_buffer().first(piece.count));
    lane.send(piece.count);
  });
  for (const auto& lane : lanes_) lane->finish();
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

}  // namespace warpfold::bench
