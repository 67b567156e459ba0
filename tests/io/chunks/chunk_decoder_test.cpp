#include "io/chunks/chunk_decoder.hpp"

#include <array>

#include "io/chunks/stored_chunk.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t element_sizes[] = {1, 2, 4, 8};
constexpr std::size_t element_counts[] = {1, 5, 16, 1001, 5000};

struct Hdf5Filters {
  bool shuffle = false;
  int level = -1;  ///< level of deflate; none if negative
  bool fletcher32 = false;

  void operator()(hid_t creation) const {
    if (shuffle) H5Pset_shuffle(creation);
    if (level >= 0) H5Pset_deflate(creation, static_cast<unsigned>(level));
    if (fletcher32) H5Pset_fletcher32(creation);
  }
};

class ChunkDecoderTest : public Hdf5Test {
 protected:
  ChunkDecoderTest() : file_(create_file("x.h5")) {}

  template <class AddFilters>
  Stored store(const Bytes& bytes, std::size_t element_bytes, AddFilters add_filters) const {
    return store_chunk(file_.get(), bytes, element_bytes, add_filters);
  }

  template <class AddFilters>
  void expect_to_undo(AddFilters add_filters) const {
    for (const std::size_t element_bytes : element_sizes) {
      for (const std::size_t elements : element_counts) {
        const Bytes bytes = mixed_bytes(elements * element_bytes);
        const Stored stored = store(bytes, element_bytes, add_filters);
        EXPECT_EQ(undecodable_filters(stored.filters), "");
        EXPECT_EQ(stored.decoded(bytes.size()), bytes)
            << elements << " elements of " << element_bytes << " bytes";
      }
    }
  }

  FileHandle file_;
};

TEST_F(ChunkDecoderTest, Hdf5sOwnFilters) {
  for (const bool shuffle : {false, true}) {
    for (const int level : {-1, 0, 1, 6, 9}) {
      for (const bool fletcher32 : {false, true}) {
        SCOPED_TRACE(testing::Message() << shuffle << level << fletcher32);
        expect_to_undo(Hdf5Filters{shuffle, level, fletcher32});
      }
    }
  }
}

TEST_F(ChunkDecoderTest, FiltersInAnyOrder) {
  expect_to_undo([](hid_t creation) {
    H5Pset_fletcher32(creation);
    H5Pset_deflate(creation, 5);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
    H5Pset_fletcher32(creation);
  });
  expect_to_undo([](hid_t creation) {
    H5Pset_deflate(creation, 9);
    H5Pset_fletcher32(creation);
    H5Pset_shuffle(creation);
  });
}

TEST_F(ChunkDecoderTest, OnlyAShuffleThatCameFirstIsLeft) {
  const Bytes bytes = mixed_bytes(800);
  Bytes out(bytes.size());
  const auto leaves_shuffle = [&](std::size_t element_bytes, std::uint32_t skipped, auto filters) {
    const Stored stored = store(bytes, element_bytes, filters);
    ChunkDecoder decoder(stored.filters, element_bytes, bytes.size());
    return decoder.decode(skipped == 0 ? stored.bytes : bytes, skipped, out, "");
  };
  EXPECT_TRUE(leaves_shuffle(4, 0, Hdf5Filters{true, 6, true}));
  EXPECT_TRUE(leaves_shuffle(2, 0, Hdf5Filters{true}));
  EXPECT_FALSE(leaves_shuffle(1, 0, Hdf5Filters{true, 6}));
  EXPECT_FALSE(leaves_shuffle(4, 0, Hdf5Filters{false, 6}));
  EXPECT_FALSE(leaves_shuffle(4, 3, Hdf5Filters{true, 6}));
  EXPECT_EQ(out, bytes);
  EXPECT_FALSE(leaves_shuffle(4, 0, [](hid_t creation) {
    H5Pset_deflate(creation, 6);
    H5Pset_shuffle(creation);
  }));
  EXPECT_EQ(out, bytes);
}

TEST_F(ChunkDecoderTest, FiltersThatAChunkSkips) {
  const Bytes bytes = mixed_bytes(4 * 1001);
  const Stored compressed = store(bytes, 4, Hdf5Filters{false, 6});
  const Stored shuffled = store(bytes, 4, Hdf5Filters{true});
  const Stored summed = store(bytes, 4, Hdf5Filters{false, -1, true});
  const std::vector<Filter> filters = store(bytes, 4, Hdf5Filters{true, 6, true}).filters;
  EXPECT_EQ((Stored{filters, 4, 0b101, compressed.bytes}.decoded(bytes.size())), bytes);
  EXPECT_EQ((Stored{filters, 4, 0b110, shuffled.bytes}.decoded(bytes.size())), bytes);
  EXPECT_EQ((Stored{filters, 4, 0b011, summed.bytes}.decoded(bytes.size())), bytes);
  EXPECT_EQ((Stored{filters, 4, 0b111, bytes}.decoded(bytes.size())), bytes);
  EXPECT_EQ((Stored{filters, 4, ~0U, bytes}.decoded(bytes.size())), bytes);
}

TEST_F(ChunkDecoderTest, OneDecoderTakesChunkAfterChunk) {
  const Stored other = store(mixed_bytes(4000, 2), 4, Hdf5Filters{true, 3, true});
  const Stored stored = store(mixed_bytes(4000, 1), 4, Hdf5Filters{true, 3, true});
  ChunkDecoder decoder(stored.filters, 4, 4000);
  EXPECT_EQ(stored.decoded(decoder, 4000), mixed_bytes(4000, 1));
  EXPECT_EQ(other.decoded(decoder, 4000), mixed_bytes(4000, 2));
  const Stored damaged{stored.filters, 4, 0, mixed_bytes(100)};
  EXPECT_THROW(damaged.decoded(decoder, 4000), Error);
  EXPECT_EQ(stored.decoded(decoder, 4000), mixed_bytes(4000, 1));
}

TEST_F(ChunkDecoderTest, ChecksumsOfExtremeBytes) {
  for (const unsigned value : {0x00U, 0x01U, 0xfeU, 0xffU}) {
    for (const std::size_t count : {1U, 2U, 3U, 31U, 32U, 33U, 8191U, 8192U, 8193U, 300'001U}) {
      const Bytes bytes(count, static_cast<std::byte>(value));
      const Stored stored = store(bytes, 1, Hdf5Filters{false, -1, true});
      EXPECT_EQ(stored.decoded(count), bytes) << value << " " << count;
    }
  }
}

/// HDF5 up to 1.6.2 exchanged bytes of the checksum; the library still takes that.
TEST_F(ChunkDecoderTest, ChecksumsOfOldFiles) {
  const Bytes bytes = mixed_bytes(1000);
  Stored stored = store(bytes, 1, Hdf5Filters{false, -1, true});
  std::byte* const checksum = stored.bytes.data() + bytes.size();
  std::swap(checksum[0], checksum[1]);
  std::swap(checksum[2], checksum[3]);
  EXPECT_EQ(stored.decoded(bytes.size()), bytes);

  const DatasetHandle dataset(H5Dopen2(file_.get(), "x", H5P_DEFAULT));
  const hsize_t origin = 0;
  ASSERT_GE(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, &origin, stored.bytes.size(),
                           stored.bytes.data()),
            0);
  Bytes read(bytes.size());
  EXPECT_GE(H5Dread(dataset.get(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, bytes);
}

class DamagedChunkTest : public ChunkDecoderTest {
 protected:
  const Bytes bytes_ = mixed_bytes(4000);
  const Stored compressed_ = store(bytes_, 4, Hdf5Filters{true, 6});
  const Stored summed_ = store(bytes_, 4, Hdf5Filters{false, -1, true});

  static std::string reason(const Stored& stored, Bytes bytes, std::size_t chunk_bytes) {
    const Stored damaged{stored.filters, stored.element_bytes, stored.skipped_filters,
                         std::move(bytes)};
    const Error error = error_of([&] { damaged.decoded(chunk_bytes); });
    EXPECT_EQ(error.problem(), "cannot read it");
    return error.why();
  }

  static Bytes first(const Bytes& bytes, std::size_t count) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

TEST_F(DamagedChunkTest, Deflate) {
  Bytes flipped = compressed_.bytes;
  flipped[flipped.size() / 2] ^= std::byte{0x10};
  const std::string damaged = "its deflate stream is damaged";
  EXPECT_EQ(reason(compressed_, flipped, 4000), damaged);
  EXPECT_EQ(reason(compressed_, first(flipped, 100), 4000), damaged);
  EXPECT_EQ(reason(compressed_, {}, 4000), damaged);
  EXPECT_EQ(reason(compressed_, compressed_.bytes, 3996),
            "its deflate stream is longer than the chunk");
  EXPECT_EQ(reason(compressed_, compressed_.bytes, 4004),
            "it has 4000 bytes without its filters, 4004 are a chunk");
}

TEST_F(DamagedChunkTest, Fletcher32) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{1999}, std::size_t{4001}}) {
    Bytes flipped = summed_.bytes;
    flipped[place] ^= std::byte{1};
    EXPECT_EQ(reason(summed_, flipped, 4000), "its fletcher32 checksum is wrong");
  }
  EXPECT_EQ(reason(summed_, Bytes(3), 4000), "it is too short for its checksum");
}

/// Bytes that no library wrote, made of those that one did.
class Corruption {
 public:
  Bytes operator()(Bytes bytes) {
    switch (random_() % 4) {
      case 0:
        bytes.resize(random_() % (bytes.size() + 1));
        break;
      case 1:
        bytes.resize(bytes.size() + random_() % 100, static_cast<std::byte>(random_()));
        break;
      case 2:
        for (std::size_t i = 0; i < std::min<std::size_t>(16, bytes.size()); ++i) {
          if (random_() % 2 == 0) bytes[i] = static_cast<std::byte>(random_());
        }
        break;
      default:
        break;
    }
    for (std::size_t flips = random_() % 8; flips > 0 && !bytes.empty(); --flips) {
      bytes[random_() % bytes.size()] ^= static_cast<std::byte>(1U << random_() % 8);
    }
    return bytes;
  }

 private:
  std::mt19937 random_{4};
};

/// Whatever comes, it is decoded to a chunk's bytes or refused.
void expect_to_survive_corruption(const Stored& stored, std::size_t chunk_bytes) {
  Corruption corrupted;
  ChunkDecoder decoder(stored.filters, stored.element_bytes, chunk_bytes);
  for (int i = 0; i < 2000; ++i) {
    const Stored damaged{stored.filters, stored.element_bytes, 0, corrupted(stored.bytes)};
    try {
      EXPECT_EQ(damaged.decoded(decoder, chunk_bytes).size(), chunk_bytes);
    } catch (const Error& error) {
      EXPECT_FALSE(error.why().empty());
    }
  }
}

TEST_F(DamagedChunkTest, AnyBytesAreDecodedOrRefused) {
  expect_to_survive_corruption(compressed_, bytes_.size());
  expect_to_survive_corruption(store(bytes_, 8, Hdf5Filters{true, 1, true}), bytes_.size());
  expect_to_survive_corruption(store(bytes_, 4,
                                     [](hid_t creation) {
                                       H5Pset_deflate(creation, 6);
                                       H5Pset_shuffle(creation);
                                       H5Pset_deflate(creation, 6);
                                     }),
                               bytes_.size());
}

TEST(UndecodableFilters, AreNamed) {
  const auto filter = [](int id, const char* name, std::vector<unsigned> parameters) {
    return Filter{id, name, true, std::move(parameters)};
  };
  EXPECT_EQ(undecodable_filters({}), "");
  EXPECT_EQ(
      undecodable_filters({filter(H5Z_FILTER_SHUFFLE, "shuffle", {4}),
                           filter(H5Z_FILTER_NBIT, "nbit", {8, 0, 5, 3, 4, 0, 32, 0}),
                           filter(H5Z_FILTER_DEFLATE, "deflate", {6}), filter(32013, "zfp", {})}),
      "nbit, zfp");
  EXPECT_EQ(undecodable_filters({filter(H5Z_FILTER_SHUFFLE, "shuffle", {})}), "shuffle");
  EXPECT_EQ(undecodable_filters({filter(32008, "bitshuffle", {0, 4, 8, 7})}), "bitshuffle");
  EXPECT_EQ(undecodable_filters({filter(32008, "bitshuffle", {0, 4, 8, 0, 77})}), "bitshuffle");
}

/// LZF's format: a control byte below 32 begins that many literals and one more, others refer
/// back.
TEST(Lzf, LiteralsAndReferences) {
  const std::vector<Filter> filters{{32000, "lzf", true, {4, 0x0105, 11}}};
  const auto bytes = [](const std::string& text) {
    const auto view = std::as_bytes(std::span(text));
    return Bytes(view.begin(), view.end());
  };
  // "abc", 3 from 3 before the end, "-", 4 from 2 before the end.
  const Stored stored{filters, 1, 0, bytes(std::string("\2abc\x20\2\0-\x40\1", 10))};
  EXPECT_EQ(stored.decoded(11), bytes("abcabc-c-c-"));
  expect_to_survive_corruption(stored, 11);
}

#ifdef WARPFOLD_TEST_PLUGINS
/// Chunks that the registered plugins wrote.
class PluginTest : public ChunkDecoderTest {
 protected:
  PluginTest() { EXPECT_GE(H5PLprepend(WARPFOLD_TEST_PLUGINS), 0); }
  ~PluginTest() override { H5PLremove(0); }

  static auto adding(H5Z_filter_t id, std::vector<unsigned> parameters) {
    return [id, parameters](hid_t creation) {
      // blosc stores chunks that it does not make smaller without itself.
      H5Pset_filter(creation, id, H5Z_FLAG_OPTIONAL, parameters.size(), parameters.data());
    };
  }

  void expect_to_undo_plugin(H5Z_filter_t id, const std::vector<unsigned>& parameters) const {
    if (H5Zfilter_avail(id) <= 0) GTEST_SKIP() << "there is no plugin " << id;
    const Bytes bytes = mixed_bytes(20'000);
    const Stored stored = store(bytes, 4, adding(id, parameters));
    if (!undecodable_filters(stored.filters).empty()) GTEST_SKIP() << "built without its library";
    expect_to_undo(adding(id, parameters));
    expect_to_survive_corruption(stored, bytes.size());
  }
};

TEST_F(PluginTest, Lz4) { expect_to_undo_plugin(32004, {}); }
TEST_F(PluginTest, Lz4InBlocks) { expect_to_undo_plugin(32004, {1000}); }
TEST_F(PluginTest, Zstd) { expect_to_undo_plugin(32015, {5}); }
TEST_F(PluginTest, Bitshuffle) { expect_to_undo_plugin(32008, {0, 0}); }
TEST_F(PluginTest, BitshuffleInBlocks) { expect_to_undo_plugin(32008, {64, 0}); }
TEST_F(PluginTest, BitshuffleLz4) { expect_to_undo_plugin(32008, {0, 2}); }
TEST_F(PluginTest, BitshuffleLz4InBlocks) { expect_to_undo_plugin(32008, {64, 2}); }
TEST_F(PluginTest, BitshuffleZstd) { expect_to_undo_plugin(32008, {0, 3}); }
TEST_F(PluginTest, Blosc) { expect_to_undo_plugin(32001, {0, 0, 0, 0, 5, 1, 1}); }
TEST_F(PluginTest, BloscOfBits) { expect_to_undo_plugin(32001, {0, 0, 0, 0, 9, 2, 4}); }
TEST_F(PluginTest, Blosc2) { expect_to_undo_plugin(32026, {0, 0, 0, 0, 5, 1, 1}); }
TEST_F(PluginTest, Blosc2OfBits) { expect_to_undo_plugin(32026, {0, 0, 0, 0, 9, 2, 5}); }
#endif

}  // namespace
}  // namespace warpfold::io
