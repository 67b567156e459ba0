#include "bench/ingest/file_digest.hpp"

#include <cstddef>
#include <numeric>
#include <span>

#include "bench/ingest/raw_file.hpp"
#include "cpu/machine/thread_pool.hpp"
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
