#include "io/chunks/chunk_source.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/engine/stage_timer.hpp"
#include "core/layout/partition.hpp"
#include "io/chunks/chunk_coordinates.hpp"
#include "io/chunks/chunk_decoder.hpp"
#include "io/chunks/chunk_index.hpp"
#include "io/chunks/chunk_parts.hpp"
#include "io/chunks/known_chunks.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_parts.hpp"
#include "io/files/coalescing.hpp"
#include "io/files/file_series.hpp"
#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Alignment of chunks: as wide as a GPU's loads, and wider than any element.
constexpr std::uint64_t staging_alignment = 64;
/// Limits the chunks that wait in scratch memory to be decoded, where one alone is not larger.
constexpr std::uint64_t max_scratch_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t unlimited = ~std::uint64_t{0};

std::uint64_t aligned(std::uint64_t bytes) { return round_up(bytes, staging_alignment); }

/// Memory that grows and is not initialized.
class Scratch {
 public:
  std::span<std::byte> take(std::uint64_t bytes) {
    if (bytes > bytes_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      bytes_ = bytes;
    }
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::optional<CompressedForm> left_form(const DatasetInfo& info) {
  if (info.path != ReadPath::chunk || info.narrow.kind != NarrowElements::Kind::whole ||
      is_unpacked(info))
    return std::nullopt;
  return left_form(info.filters, size_of(info.format.type), chunk_bytes_of(info));
}

class ChunkSource::Implementation {
 public:
  Implementation(const DatasetInfo& info, ChunkRun mine)
      : info_(info),
        problem_(info.problem),
        grid_(grid_of(info)),
        chunk_bytes_(chunk_bytes_of(info)),
        parts_(info),
        files_(stored_files(info), problem_),
        chunks_(mine, [this](ChunkRun run) { return read_index(run); }),
        max_stored_bytes_(chunks_.max_bytes()) {}

  void include(ChunkRun more) { chunks_.include(more); }

  std::uint64_t max_stored_bytes() const { return max_stored_bytes_; }
  void expect_stored_bytes(std::uint64_t bytes) {
    max_stored_bytes_ = std::max(max_stored_bytes_, bytes);
  }

  const DatasetInfo& info() const { return info_; }
  const ChunkGrid& grid() const { return grid_; }
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  bool decodes() const { return !info_.filters.empty() || is_unpacked(info_); }

  std::size_t part_of(std::uint64_t number) const { return parts_.place_of(number).part; }

  ChunkDecoder make_decoder(std::size_t part) const {
    const DatasetInfo& info = parts_.part(part);
    return {info.filters, size_of(info.format.type), chunk_bytes_of(info), info.narrow,
            is_unpacked(info_)};
  }

  /// Bytes of a part's decoded chunk that are to be unpacked; 0 where none are.
  std::uint64_t packed_bytes(std::size_t part) const {
    return is_unpacked(info_) ? chunk_bytes_of(parts_.part(part)) : 0;
  }

  /// Streams that are longer than any compressor makes them are not left.
  std::optional<CompressedForm> left_form() const {
    if (max_stored_bytes_ > chunk_bytes_ + chunk_bytes_ / 8 + staging_alignment)
      return std::nullopt;
    return io::left_form(info_);
  }

  /// Counts in room for the alignment of each chunk and for what lies between them in the file.
  std::uint64_t staging_bytes(std::uint64_t chunks, Compressed compressed) const {
    if (compressed == Compressed::left) return with_gaps(chunks, max_stored_bytes_);
    const std::uint64_t bytes = chunks * (aligned(chunk_bytes_) + staging_alignment);
    return decodes() ? bytes : with_gaps(chunks, chunk_bytes_);
  }

  const StoredChunk& chunk(std::uint64_t number) const {
    const auto position = grid_.position_of(number);
    if (const StoredChunk* const found = position ? chunks_.find(*position) : nullptr)
      return *found;
    throw Error(problem_, ChunkCoordinates(info_).name(number) + " is not one of this source", "");
  }

  /// Returns whether a chunk was never written, or is not needed.
  bool is_left_out(std::uint64_t number, const StoredChunk& chunk) const {
    const auto holds = [&](const NeededChunks& needed) { return needed.holds(number); };
    return chunk.bytes == 0 || !std::ranges::all_of(info_.needed, holds);
  }

  bool never_written(ChunkRun run) const {
    std::uint64_t position = run.first;
    while (position < run.end() && chunks_.find(position)->bytes == 0) ++position;
    return position == run.end();
  }

  void require_fitting(std::uint64_t chunks, std::uint64_t staged_bytes,
                       Compressed compressed) const {
    if (staged_bytes >= staging_bytes(chunks, compressed)) return;
    throw Error(problem_,
                std::to_string(chunks) + " chunks do not fit " + std::to_string(staged_bytes) +
                    " bytes of staging memory",
                "");
  }

  TransferResult read(FileBytes bytes, std::span<std::byte> out) const {
    return files_.read(bytes.address, out);
  }

  /// Byte of the chunk's file that has an address.
  std::uint64_t offset_of(std::uint64_t address) const { return files_.place_of(address).offset; }

  [[noreturn]] void refuse(std::uint64_t number, const std::string& why,
                           const std::string& suggestion) const {
    const ChunkParts::Place place = parts_.place_of(number);
    const DatasetInfo& part = parts_.part(place.part);
    throw Error(part.problem,
                ChunkCoordinates(part).name(place.number) + " at byte " +
                    std::to_string(offset_of(chunk(number).address)) + " is unreadable; " + why,
                suggestion);
  }

 private:
  /// Returns what the file says of chunks, with addresses in files_.
  std::vector<StoredChunk> read_index(ChunkRun run) const {
    std::vector<StoredChunk> chunks = read_chunk_index(info_, run);
    if (!info_.parts) return chunks;
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const std::size_t part = parts_.place_of(grid_.number_at(run.first + i)).part;
      chunks[i].address = files_.address_of({part, chunks[i].address});
    }
    return chunks;
  }

  static std::uint64_t with_gaps(std::uint64_t chunks, std::uint64_t bytes) {
    return chunks * (aligned(bytes) + staging_alignment) + ceil_div(chunks * bytes, gap_divisor);
  }

  DatasetInfo info_;
  std::string problem_;
  ChunkGrid grid_;
  std::uint64_t chunk_bytes_;
  ChunkParts parts_;
  mutable FileSeries files_;  ///< one for each part
  KnownChunks chunks_;
  std::uint64_t max_stored_bytes_;
};

class ChunkSource::Reader::Implementation {
 public:
  Implementation(const ChunkSource::Implementation& source, StageRegistry& registry,
                 Compressed compressed)
      : source_(source), compressed_(compressed), reading_(registry, stage::read) {
    if (!source.decodes()) return;
    decoder_.emplace(source.make_decoder(0));
    if (compressed == Compressed::undone) decoding_.emplace(registry, stage::decompress);
  }

  std::span<const StagedChunk> read(ChunkRun run, std::span<std::byte> staging) {
    return read(source_.grid(), run, staging, false);
  }

  std::span<const StagedChunk> read(const ChunkGrid& grid, ChunkRun run,
                                    std::span<std::byte> staging, bool still_there) {
    source_.require_fitting(run.count, staging.size(), compressed_);
    const std::span<std::byte> before = std::exchange(filled_, {});
    const bool keeps =
        still_there && staging.data() == before.data() && staging.size() == before.size();
    if (keeps) {
      before_ = staged_;
      std::ranges::sort(before_, {}, &StagedChunk::number);
    }
    list_wanted(grid, run);
    // Between chunks that were not decoded there are gaps, where others don't fit.
    if (keeps && (decoding_ || all_are_there())) keep_those_there();
    if (decoding_)
      read_and_decode(staging);
    else
      read_into(staging);
    filled_ = staging;
    return staged_;
  }

  void read_one(std::uint64_t number, std::span<std::byte> out) {
    filled_ = {};
    kept_.clear();
    const StoredChunk& chunk = source_.chunk(number);
    staged_ = {{number, 0, ChunkEncoding::unwritten}};
    wanted_ = {{{chunk.address, chunk.bytes}, 0}};
    read_and_decode(out);
  }

  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> timings{reading_.timing()};
    if (decoding_) timings.push_back(decoding_->timing());
    return timings;
  }

 private:
  void list_wanted(const ChunkGrid& grid, ChunkRun run) {
    staged_.clear();
    wanted_.clear();
    kept_.clear();
    for (std::uint64_t position = run.first; position < run.end(); ++position) {
      const std::uint64_t number = grid.number_at(position);
      const StoredChunk& chunk = source_.chunk(number);
      if (!source_.is_left_out(number, chunk))
        wanted_.push_back({{chunk.address, chunk.bytes}, staged_.size()});
      staged_.push_back({number, 0, ChunkEncoding::unwritten});
    }
    const auto address = [](const Wanted& wanted) { return wanted.bytes.address; };
    if (!std::ranges::is_sorted(wanted_, {}, address)) std::ranges::sort(wanted_, {}, address);
  }

  /// Returns a chunk of the call before; null where that had none of this number.
  const StagedChunk* chunk_before(std::uint64_t number) const {
    const auto found = std::ranges::lower_bound(before_, number, {}, &StagedChunk::number);
    return found == before_.end() || found->number != number ? nullptr : &*found;
  }

  bool all_are_there() const {
    return std::ranges::all_of(wanted_, [&](const Wanted& wanted) {
      return chunk_before(staged_[wanted.owner].number) != nullptr;
    });
  }

  /// Leaves chunks of the call before where they are.
  void keep_those_there() {
    std::erase_if(wanted_, [&](const Wanted& wanted) {
      StagedChunk& chunk = staged_[wanted.owner];
      const StagedChunk* const before = chunk_before(chunk.number);
      if (before == nullptr) return false;
      chunk = *before;
      kept_.push_back(chunk.source);
      return true;
    });
    std::ranges::sort(kept_);
  }

  /// Returns the first byte from `begin` on where a chunk may be decoded to.
  std::uint64_t free_from(std::uint64_t begin) const {
    for (auto kept = std::ranges::lower_bound(kept_, begin); kept != kept_.end() && *kept == begin;
         ++kept)
      begin += aligned(source_.chunk_bytes());
    return begin;
  }

  void read(const CoalescedRead& read, std::span<std::byte> out) {
    const TransferResult result =
        reading_.time(read.bytes.count, [&] { return source_.read(read.bytes, out); });
    if (result.bytes < read.bytes.count) refuse_short(read, result);
  }

  [[noreturn]] void refuse_short(const CoalescedRead& read, TransferResult result) const {
    const std::uint64_t reached = read.bytes.address + result.bytes;
    const auto missed = std::ranges::find_if(
        read.parts, [&](const Wanted& part) { return part.bytes.end() > reached; });
    const std::uint64_t number = staged_[missed->owner].number;
    if (result.error != 0) source_.refuse(number, describe_errno(result.error), "");
    source_.refuse(number,
                   "the file ends at byte " + std::to_string(source_.offset_of(reached)) +
                       ", before the chunk does",
                   copy_again);
  }

  void read_into(std::span<std::byte> staging) {
    coalesce(wanted_, unlimited, reads_);
    std::uint64_t begin = 0;
    for (const CoalescedRead& each : reads_) {
      read(each, staging.subspan(begin, each.bytes.count));
      for (const Wanted& part : each.parts) {
        StagedChunk& chunk = staged_[part.owner];
        chunk.source = begin + part.bytes.address - each.bytes.address;
        chunk.encoding = ChunkEncoding::plain;
        if (decoder_) leave_compressed(chunk, staging.subspan(chunk.source, part.bytes.count));
      }
      begin += aligned(each.bytes.count);
    }
  }

  void leave_compressed(StagedChunk& chunk, std::span<const std::byte> stored) {
    const ChunkDecoder::LeftCompressed left = telling_of(chunk.number, [&] {
      return decoder_->without_checksums(stored, source_.chunk(chunk.number).skipped_filters, "");
    });
    chunk.encoding = encoding_of(left.shuffled);
    if (left.compressed) chunk.compressed_bytes = static_cast<std::uint32_t>(left.bytes.size());
  }

  void read_and_decode(std::span<std::byte> staging) {
    coalesce(wanted_, max_scratch_bytes, reads_);
    std::uint64_t begin = 0;
    for (const CoalescedRead& each : reads_) {
      const std::span<std::byte> stored = scratch_.take(each.bytes.count);
      read(each, stored);
      decoding_->time(each.parts.size() * source_.chunk_bytes(),
                      [&] { begin = decode_all(each, stored, begin, staging); });
    }
  }

  /// Decodes what was read at once to `begin` and behind; returns where that ends.
  std::uint64_t decode_all(const CoalescedRead& read, std::span<const std::byte> stored,
                           std::uint64_t begin, std::span<std::byte> staging) {
    for (const Wanted& part : read.parts) {
      StagedChunk& chunk = staged_[part.owner];
      begin = free_from(begin);
      chunk.source = begin;
      chunk.encoding =
          decode(stored.subspan(part.bytes.address - read.bytes.address, part.bytes.count),
                 chunk.number, staging.subspan(begin, source_.chunk_bytes()));
      begin += aligned(source_.chunk_bytes());
    }
    return begin;
  }

  ChunkEncoding decode(std::span<const std::byte> stored, std::uint64_t number,
                       std::span<std::byte> out) {
    const std::size_t part = source_.part_of(number);
    const std::uint64_t packed_bytes = source_.packed_bytes(part);
    // Parts that are not unpacked have the same filters.
    if (packed_bytes > 0 && part != decoder_part_) decoder_.emplace(source_.make_decoder(part));
    decoder_part_ = part;
    const std::span<std::byte> decoded = packed_bytes > 0 ? packed_.take(packed_bytes) : out;
    const bool shuffled = telling_of(number, [&] {
      return decoder_->decode(stored, source_.chunk(number).skipped_filters, decoded, "");
    });
    if (packed_bytes > 0) source_.info().parts->unpack(part, decoded, out);
    return encoding_of(shuffled);
  }

  static ChunkEncoding encoding_of(bool shuffled) {
    return shuffled ? ChunkEncoding::shuffled : ChunkEncoding::plain;
  }

  /// Runs `decode`; names the chunk in what it throws.
  template <class Decode>
  std::invoke_result_t<Decode> telling_of(std::uint64_t number, Decode&& decode) {
    try {
      return decode();
    } catch (const Error& error) {
      source_.refuse(number, error.why(), error.suggestion());
    }
  }

  const ChunkSource::Implementation& source_;
  Compressed compressed_;
  std::optional<ChunkDecoder> decoder_;
  std::size_t decoder_part_ = 0;  ///< part whose filters it undoes
  std::vector<StagedChunk> staged_;
  std::vector<StagedChunk> before_;  ///< chunks of the call before
  std::vector<std::uint64_t> kept_;  ///< the first bytes of those of its chunks that stay
  std::span<std::byte> filled_;      ///< memory of staged_
  std::vector<Wanted> wanted_;
  std::vector<CoalescedRead> reads_;
  Scratch scratch_;
  Scratch packed_;  ///< a chunk to be unpacked
  StageTimer reading_;
  std::optional<StageTimer> decoding_;  ///< if there are filters to be undone
};

ChunkSource::ChunkSource(const DatasetInfo& info, ChunkRun mine)
    : implementation_(std::make_unique<Implementation>(info, mine)) {}

ChunkSource::~ChunkSource() = default;

void ChunkSource::include(ChunkRun more) { implementation_->include(more); }

std::uint64_t ChunkSource::max_stored_bytes() const { return implementation_->max_stored_bytes(); }

void ChunkSource::expect_stored_bytes(std::uint64_t bytes) {
  implementation_->expect_stored_bytes(bytes);
}

const ChunkGrid& ChunkSource::grid() const { return implementation_->grid(); }

std::optional<CompressedForm> ChunkSource::left_form() const {
  return implementation_->left_form();
}

std::uint64_t ChunkSource::staging_bytes(std::uint64_t chunks, Compressed compressed) const {
  return implementation_->staging_bytes(chunks, compressed);
}

bool ChunkSource::never_written(ChunkRun run) const { return implementation_->never_written(run); }

ChunkSource::Reader::Reader(const ChunkSource& source, StageRegistry& registry,
                            Compressed compressed)
    : implementation_(
          std::make_unique<Implementation>(*source.implementation_, registry, compressed)) {}

ChunkSource::Reader::~Reader() = default;

ChunkSource::Reader::Reader(Reader&&) noexcept = default;

std::span<const StagedChunk> ChunkSource::Reader::read(ChunkRun run, std::span<std::byte> staging) {
  return implementation_->read(run, staging);
}

void ChunkSource::Reader::read_one(std::uint64_t number, std::span<std::byte> out) {
  implementation_->read_one(number, out);
}

std::span<const StagedChunk> ChunkSource::Reader::read_part(const ChunkGrid& part,
                                                            std::span<std::byte> staging,
                                                            bool still_there) {
  return implementation_->read(part, {0, part.chunks()}, staging, still_there);
}

std::vector<StageTiming> ChunkSource::Reader::timings() const { return implementation_->timings(); }

}  // namespace warpfold::io
