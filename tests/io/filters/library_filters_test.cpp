/// The library's n-bit, scale-offset and szip filters, undone as the library undoes them.

#include <hdf5.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/values/byte_order.hpp"
#include "io/chunks/stored_chunk.hpp"
#include "io/hdf5/hdf5_type.hpp"

namespace warpfold::io {
namespace {

constexpr hsize_t chunk_elements = 1003;

class LibraryFiltersTest : public Hdf5Test {
 protected:
  LibraryFiltersTest() : file_(create_file("x.h5")) {}

  /// Writes `values`, of `format` in memory, as one chunk of a file type, which narrows them, and
  /// expects of the decoder what the library reads.
  void expect_as_library(hid_t file_type, ElementFormat format, const Bytes& values,
                         hid_t creation) const {
    SCOPED_TRACE(::testing::Message() << "precision " << H5Tget_precision(file_type) << ", offset "
                                      << H5Tget_offset(file_type));
    const StoredType described = describe_type(file_type);
    EXPECT_EQ(described.format, format) << described.name;
    const TypeHandle type = make_type(format);
    if (H5Lexists(file_.get(), "x", H5P_DEFAULT) > 0) H5Ldelete(file_.get(), "x", H5P_DEFAULT);
    write(file_type, type.get(), values, creation);
    const DatasetHandle dataset(H5Dopen2(file_.get(), "x", H5P_DEFAULT));
    const Stored stored = stored_chunk(dataset.get(), size_of(format.type));
    EXPECT_EQ(undecodable_filters(stored.filters), "");
    ChunkDecoder decoder(stored.filters, stored.element_bytes, values.size(), described.narrow);
    EXPECT_EQ(stored.decoded(decoder, values.size()),
              as_read(dataset.get(), type.get(), values.size()))
        << described.name;
    expect_to_survive_damage(stored, decoder, values.size());
  }

  static PropertiesHandle chunked() {
    PropertiesHandle creation = dataset_creation();
    EXPECT_GE(H5Pset_chunk(creation.get(), 1, &chunk_elements), 0);
    return creation;
  }

 private:
  /// Leaves nothing in a cache.
  void write(hid_t file_type, hid_t type, const Bytes& values, hid_t creation) const {
    const DatasetHandle dataset =
        create_dataset(file_.get(), "x", file_type, {chunk_elements}, creation);
    EXPECT_GE(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  }

  static Bytes as_read(hid_t dataset, hid_t type, std::size_t bytes) {
    Bytes read(bytes);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
    return read;
  }

  static void expect_to_survive_damage(const Stored& stored, ChunkDecoder& decoder,
                                       std::size_t chunk_bytes) {
    std::mt19937 random(3);
    for (int i = 0; i < 20; ++i) {
      Stored damaged = stored;
      if (i % 2 == 0) damaged.bytes.resize(random() % (damaged.bytes.size() + 1));
      for (std::size_t at = 0; at < std::min<std::size_t>(8, damaged.bytes.size()); ++at)
        if (random() % 4 == 0) damaged.bytes[at] = static_cast<std::byte>(random());
      try {
        EXPECT_EQ(damaged.decoded(decoder, chunk_bytes).size(), chunk_bytes);
      } catch (const Error& error) {
        EXPECT_FALSE(error.why().empty());
      }
    }
  }

  FileHandle file_;
};

constexpr std::array integer_types{ElementType::i8,  ElementType::u8,  ElementType::i16,
                                   ElementType::u16, ElementType::i32, ElementType::u32,
                                   ElementType::i64, ElementType::u64};
constexpr std::array orders{ByteOrder::little, ByteOrder::big};

ElementFormat format_of(ElementType type, ByteOrder order) {
  return {type, size_of(type) == 1 ? native_byte_order : order};
}

/// Integers of random low bits, with or without a sign, in a format.
Bytes random_integers(ElementFormat format, unsigned bits, std::int64_t least, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::size_t size = size_of(format.type);
  Bytes bytes(chunk_elements * size);
  for (std::size_t i = 0; i < chunk_elements; ++i) {
    const std::uint64_t span = bits == 0 ? 0 : random() >> (64 - bits);
    const std::uint64_t value = static_cast<std::uint64_t>(least) + span;
    for (std::size_t b = 0; b < size; ++b) {
      const std::size_t place = format.order == ByteOrder::little ? b : size - 1 - b;
      bytes[i * size + place] = static_cast<std::byte>(value >> (8 * b));
    }
  }
  return bytes;
}

TEST_F(LibraryFiltersTest, NbitOfIntegers) {
  for (const ElementType element : integer_types) {
    for (const ByteOrder order : orders) {
      const ElementFormat format = format_of(element, order);
      const unsigned most = 8 * static_cast<unsigned>(size_of(element));
      for (unsigned bits = 1; bits <= most; bits += most > 16 && bits > 1 ? 3 : 1) {
        for (const unsigned offset : {0U, (most - bits) / 2, most - bits}) {
          const TypeHandle type = make_type(format);
          ASSERT_GE(H5Tset_precision(type.get(), bits), 0);
          ASSERT_GE(H5Tset_offset(type.get(), offset), 0);
          const PropertiesHandle creation = chunked();
          H5Pset_nbit(creation.get());
          if (bits % 2 == 0) H5Pset_deflate(creation.get(), 1);
          expect_as_library(type.get(), format, random_integers(format, most, 0, bits),
                            creation.get());
        }
      }
    }
  }
}

/// A float of fewer bits of the mantissa, `offset` bits above the lowest.
TypeHandle short_float(ElementFormat format, unsigned mantissa_bits, unsigned offset) {
  const bool single = format.type == ElementType::f32;
  const unsigned exponent_bits = single ? 8 : 11;
  TypeHandle type = make_type(format);
  EXPECT_GE(H5Tset_fields(type.get(), offset + mantissa_bits + exponent_bits,
                          offset + mantissa_bits, exponent_bits, offset, mantissa_bits),
            0);
  // An offset makes the type longer until it has its precision.
  EXPECT_GE(H5Tset_offset(type.get(), offset), 0);
  EXPECT_GE(H5Tset_precision(type.get(), 1 + exponent_bits + mantissa_bits), 0);
  EXPECT_GE(H5Tset_size(type.get(), size_of(format.type)), 0);
  return type;
}

TEST_F(LibraryFiltersTest, NbitOfFloats) {
  for (const ByteOrder order : orders) {
    for (const unsigned mantissa_bits : {2U, 9U, 13U, 21U}) {
      for (const unsigned offset : {0U, 1U}) {
        for (const ElementType element : {ElementType::f32, ElementType::f64}) {
          const ElementFormat format{element, order};
          const PropertiesHandle creation = chunked();
          H5Pset_shuffle(creation.get());
          H5Pset_nbit(creation.get());
          const unsigned bits = 8 * static_cast<unsigned>(size_of(element));
          expect_as_library(short_float(format, mantissa_bits, offset).get(), format,
                            random_integers(format, bits, 0, mantissa_bits), creation.get());
        }
      }
    }
  }
}

/// Infinities, subnormal numbers and every NaN are among them.
TEST_F(LibraryFiltersTest, AllFloatsOfTwelveBits) {
  const ElementFormat format{ElementType::f32, native_byte_order};
  const TypeHandle type = short_float(format, 3, 0);
  for (std::uint32_t first = 0; first < 1U << 12; first += chunk_elements) {
    Bytes values(4 * chunk_elements);
    for (std::uint32_t i = 0; i < chunk_elements; ++i) {
      const std::uint32_t bits = (first + i) << 20;
      std::memcpy(&values[4 * i], &bits, sizeof bits);
    }
    const PropertiesHandle creation = chunked();
    H5Pset_nbit(creation.get());
    expect_as_library(type.get(), format, values, creation.get());
  }
}

enum class Fill : std::uint8_t { none, usual, own };
constexpr std::array fills{Fill::none, Fill::usual, Fill::own};

/// The `own` one is the value's first element.
void set_fill(hid_t creation, Fill fill, hid_t type, const Bytes& values) {
  if (fill == Fill::none) H5Pset_fill_value(creation, type, nullptr);
  if (fill == Fill::own) H5Pset_fill_value(creation, type, values.data());
}

TEST_F(LibraryFiltersTest, ScaleOffsetOfIntegers) {
  for (const ElementType element : integer_types) {
    for (const ByteOrder order : orders) {
      const ElementFormat format = format_of(element, order);
      const int most = 8 * static_cast<int>(size_of(element));
      for (const Fill fill : fills) {
        for (const int bits : {0, 1, 5, most / 2, most - 1, most}) {
          for (const int asked : {0, 3, most - 1, most}) {
            const std::int64_t least = is_signed_integer(element) ? -7 : 3;
            const Bytes values = random_integers(format, static_cast<unsigned>(bits), least, 1);
            const PropertiesHandle creation = chunked();
            H5Pset_scaleoffset(creation.get(), H5Z_SO_INT, asked);
            if (asked == 3) H5Pset_fletcher32(creation.get());
            const TypeHandle type = make_type(format);
            set_fill(creation.get(), fill, type.get(), values);
            SCOPED_TRACE(::testing::Message() << bits << " " << asked << " " << int(fill));
            expect_as_library(type.get(), format, values, creation.get());
          }
        }
      }
    }
  }
}

template <class T>
Bytes floats(ByteOrder order, double magnitude) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-magnitude, magnitude);
  Bytes bytes(chunk_elements * sizeof(T));
  for (std::size_t i = 0; i < chunk_elements; ++i) {
    auto value = static_cast<T>(uniform(random));
    if (order != native_byte_order) value = byte_swapped(value);
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof value);
  }
  return bytes;
}

TEST_F(LibraryFiltersTest, ScaleOffsetOfFloats) {
  for (const ElementType element : {ElementType::f32, ElementType::f64}) {
    for (const ByteOrder order : orders) {
      for (const Fill fill : fills) {
        for (const double magnitude : {0.0, 1e-3, 300.0, 1e7, 1e18}) {
          for (const int decimals : {0, 2, 5}) {
            const ElementFormat format{element, order};
            const Bytes values = element == ElementType::f32 ? floats<float>(order, magnitude)
                                                             : floats<double>(order, magnitude);
            const PropertiesHandle creation = chunked();
            H5Pset_scaleoffset(creation.get(), H5Z_SO_FLOAT_DSCALE, decimals);
            const TypeHandle type = make_type(format);
            set_fill(creation.get(), fill, type.get(), values);
            SCOPED_TRACE(::testing::Message() << magnitude << " " << decimals << " " << int(fill));
            expect_as_library(type.get(), format, values, creation.get());
          }
        }
      }
    }
  }
}

TEST_F(LibraryFiltersTest, Szip) {
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0 ||
      !make_filter_step({filter_id::szip, "", true, {4, 8, 8, 8}}))
    GTEST_SKIP() << "built without libaec";
  for (const ElementType element : all_element_types) {
    for (const ByteOrder order : orders) {
      for (const unsigned option :
           {unsigned{H5_SZIP_NN_OPTION_MASK}, unsigned{H5_SZIP_EC_OPTION_MASK}}) {
        for (const unsigned block : {4U, 8U, 30U, 32U}) {
          const ElementFormat format = format_of(element, order);
          const PropertiesHandle creation = chunked();
          H5Pset_szip(creation.get(), option, block);
          const Bytes values = random_integers(format, 7, 1000, block);
          expect_as_library(make_type(format).get(), format, values, creation.get());
        }
      }
    }
  }
}

std::vector<Filter> only(int id, std::vector<unsigned> parameters) {
  return {{id, "filter", true, std::move(parameters)}};
}

TEST(FilterParameters, ThatNoChunkHasAreAnError) {
  const auto fails = [](const std::vector<Filter>& filters) {
    const Stored stored{filters, 4, 0, Bytes(5000, std::byte{1})};
    EXPECT_FALSE(error_of([&] { stored.decoded(4000); }).why().empty());
  };
  fails(only(filter_id::nbit, {8, 0, 0xffffffff, 1, 4, 0, 1, 0}));
  fails(only(filter_id::nbit, {8, 0, 1001, 1, 4, 0, 9, 0}));
  fails(only(filter_id::nbit, {8, 0, 999, 1, 4, 0, 9, 0}));
  const auto scale_offset = [](unsigned count) {
    return only(filter_id::scale_offset,
                {2, 0, count, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  };
  fails(scale_offset(0xffffffff));
  fails(scale_offset(1000));
}

TEST(FilterParameters, ThatAreUnknownAreLeftToTheLibrary) {
  const auto unknown = [](int id, std::vector<unsigned> parameters) {
    EXPECT_EQ(undecodable_filters(only(id, std::move(parameters))), "filter");
  };
  unknown(filter_id::nbit, {});
  unknown(filter_id::nbit, {9, 0, 9, 1, 4, 0, 1, 0});
  unknown(filter_id::nbit, {8, 0, 9, 1, 4, 0, 0, 0});
  unknown(filter_id::nbit, {8, 0, 9, 1, 4, 0, 30, 3});
  unknown(filter_id::nbit, {8, 0, 9, 1, 4, 0, 0xffffffff, 0xffffffff});
  unknown(filter_id::nbit, {8, 0, 9, 1, 3, 0, 5, 0});
  unknown(filter_id::nbit, {8, 0, 9, 3, 4, 0, 5, 0});
  unknown(filter_id::scale_offset, {2, 0, 9, 0, 4, 1, 0, 0});
  unknown(filter_id::scale_offset, {1, 0, 9, 1, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  unknown(filter_id::scale_offset, {2, 33, 9, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  unknown(filter_id::szip, {4, 0, 32, 256});
  unknown(filter_id::szip, {4, 8, 25, 256});
  unknown(filter_id::szip, {4, 8, 32, 0xffffffff});
  unknown(filter_id::szip, {4, 8, 32, 4});
}

}  // namespace
}  // namespace warpfold::io
