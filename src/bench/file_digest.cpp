#include "bench/file_digest.hpp"

#include <cstddef>
#include <numeric>
#include <span>

#include "bench/raw_file.hpp"
#include "cpu/thread_pool.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

std::uint64_t digest_of_words(const std::vector<std::uint64_t>& words, std::uint64_t first_place) {
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < words.size(); ++i) digest += words[i] * (2 * (first_place + i) + 1);
  return digest;
}

}  // namespace

std::uint64_t digest_of(const std::string& name, std::uint64_t first,
                        const std::vector<ByteRange>& pieces, int threads) {
  const InputFile file(name);
  std::vector<std::uint64_t> digests(static_cast<std::size_t>(threads));
  std::vector<std::vector<std::uint64_t>> buffers(digests.size());
  cpu::ThreadPool(threads).parallel_for(pieces.size(), [&](std::size_t task, int worker) {
    const ByteRange piece = pieces[task];
    std::vector<std::uint64_t>& words = buffers[static_cast<std::size_t>(worker)];
    words.assign(ceil_div(piece.bytes, word_bytes), 0);
    file.read(piece.offset, std::as_writable_bytes(std::span(words)).first(piece.bytes));
    digests[static_cast<std::size_t>(worker)] +=
        digest_of_words(words, (piece.offset - first) / word_bytes);
  });
  return std::accumulate(digests.begin(), digests.end(), std::uint64_t{0});
}

}  // namespace warpfold::bench
