#include "io/hdf5/hdf5_type.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

class TypeTest : public Hdf5Test {
 protected:
  /// Returns the properties that a dataset of `type` in a file is found to have.
  DatasetInfo stored(hid_t type) {
    {
      const FileHandle file = create_file("t.h5");
      create_dataset(file.get(), "x", type, {3});
    }
    return Dataset(path("t.h5"), "x").info();
  }

  void expect_stored(const std::vector<std::tuple<hid_t, ElementFormat, std::string>>& cases) {
    for (const auto& [type, format, name] : cases) {
      const DatasetInfo info = stored(type);
      EXPECT_EQ(info.format, format) << name;
      EXPECT_EQ(info.stored_type, name);
    }
  }

  /// The reason why a dataset of `type` is refused; the listing must give the same.
  std::string refusal(hid_t type) {
    {
      const FileHandle file = create_file("t.h5");
      create_dataset(file.get(), "x", type, {3});
    }
    const std::string why = error_of([&] { Dataset(path("t.h5"), "x"); }).why();
    EXPECT_EQ(list_datasets(path("t.h5")).at(0).unsupported, why);
    return why;
  }
};

TypeHandle copy_of(hid_t type) { return TypeHandle(H5Tcopy(type)); }

TypeHandle small_float(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias,
                       hid_t base) {
  TypeHandle type = copy_of(base);
  const std::size_t bits = 1 + exponent_bits + mantissa_bits;
  EXPECT_GE(H5Tset_fields(type.get(), bits - 1, mantissa_bits, exponent_bits, 0, mantissa_bits), 0);
  EXPECT_GE(H5Tset_size(type.get(), bits / 8), 0);
  EXPECT_GE(H5Tset_ebias(type.get(), bias), 0);
  return type;
}

TypeHandle boolean() {
  TypeHandle type(H5Tenum_create(H5T_STD_I8LE));
  std::int8_t value = 0;
  H5Tenum_insert(type.get(), "FALSE", &value);
  value = 1;
  H5Tenum_insert(type.get(), "TRUE", &value);
  return type;
}

TypeHandle enumeration(hid_t base) {
  TypeHandle type(H5Tenum_create(base));
  const std::int64_t zero = 0;
  H5Tenum_insert(type.get(), "only", &zero);
  return type;
}

TEST_F(TypeTest, IntegersAreToldBySizeSignAndOrder) {
  expect_stored({{H5T_STD_I8LE, {ElementType::i8, native_byte_order}, "int8"},
                 {H5T_STD_I8BE, {ElementType::i8, native_byte_order}, "int8"},
                 {H5T_STD_U8LE, {ElementType::u8, native_byte_order}, "uint8"},
                 {H5T_STD_U8BE, {ElementType::u8, native_byte_order}, "uint8"},
                 {H5T_STD_I16LE, {ElementType::i16, ByteOrder::little}, "int16"},
                 {H5T_STD_I16BE, {ElementType::i16, ByteOrder::big}, "int16 big-endian"},
                 {H5T_STD_U16LE, {ElementType::u16, ByteOrder::little}, "uint16"},
                 {H5T_STD_U16BE, {ElementType::u16, ByteOrder::big}, "uint16 big-endian"},
                 {H5T_STD_I32LE, {ElementType::i32, ByteOrder::little}, "int32"},
                 {H5T_STD_I32BE, {ElementType::i32, ByteOrder::big}, "int32 big-endian"},
                 {H5T_STD_U32LE, {ElementType::u32, ByteOrder::little}, "uint32"},
                 {H5T_STD_U32BE, {ElementType::u32, ByteOrder::big}, "uint32 big-endian"},
                 {H5T_STD_I64LE, {ElementType::i64, ByteOrder::little}, "int64"},
                 {H5T_STD_I64BE, {ElementType::i64, ByteOrder::big}, "int64 big-endian"},
                 {H5T_STD_U64LE, {ElementType::u64, ByteOrder::little}, "uint64"},
                 {H5T_STD_U64BE, {ElementType::u64, ByteOrder::big}, "uint64 big-endian"}});
}

TEST_F(TypeTest, FloatsAreToldByTheirFields) {
  const TypeHandle half = small_float(5, 10, 15, H5T_IEEE_F32LE);
  const TypeHandle half_big = small_float(5, 10, 15, H5T_IEEE_F32BE);
  const TypeHandle brain = small_float(8, 7, 127, H5T_IEEE_F32LE);
  const TypeHandle brain_big = small_float(8, 7, 127, H5T_IEEE_F32BE);
  expect_stored({{half.get(), {ElementType::f16, ByteOrder::little}, "float16"},
                 {half_big.get(), {ElementType::f16, ByteOrder::big}, "float16 big-endian"},
                 {brain.get(), {ElementType::bf16, ByteOrder::little}, "bfloat16"},
                 {brain_big.get(), {ElementType::bf16, ByteOrder::big}, "bfloat16 big-endian"},
                 {H5T_IEEE_F32LE, {ElementType::f32, ByteOrder::little}, "float32"},
                 {H5T_IEEE_F32BE, {ElementType::f32, ByteOrder::big}, "float32 big-endian"},
                 {H5T_IEEE_F64LE, {ElementType::f64, ByteOrder::little}, "float64"},
                 {H5T_IEEE_F64BE, {ElementType::f64, ByteOrder::big}, "float64 big-endian"}});
}

TEST_F(TypeTest, BooleansAndEnumerationsAreTheirIntegers) {
  const DatasetInfo flags = stored(boolean().get());
  EXPECT_EQ(flags.stored_type, "bool");
  EXPECT_EQ(flags.format.type, ElementType::i8);
  const DatasetInfo bytes = stored(enumeration(H5T_STD_I8LE).get());
  EXPECT_EQ(bytes.stored_type, "enum of int8");
  EXPECT_EQ(bytes.format.type, ElementType::i8);
  const DatasetInfo wide = stored(enumeration(H5T_STD_U16BE).get());
  EXPECT_EQ(wide.stored_type, "enum of uint16 big-endian");
  EXPECT_EQ(wide.format, (ElementFormat{ElementType::u16, ByteOrder::big}));
}

TEST_F(TypeTest, MadeTypesAreFoundAgain) {
  for (const ElementType type : all_element_types) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const StoredType found = describe_type(make_type({type, order}).get());
      ASSERT_TRUE(found.format) << found.name;
      EXPECT_TRUE(found.exact);
      EXPECT_EQ(found.format->type, type);
      EXPECT_EQ(found.format->order, size_of(type) > 1 ? order : native_byte_order);
    }
  }
}

TEST_F(TypeTest, OtherNumbersAreRefusedByName) {
  EXPECT_TRUE(contains(refusal(small_float(3, 4, 3, H5T_IEEE_F32LE).get()),
                       "float8 with 3 exponent and 4 mantissa bits"));
  EXPECT_TRUE(contains(refusal(small_float(4, 3, 8, H5T_IEEE_F32LE).get()),
                       "float8 with 4 exponent and 3 mantissa bits and the exponent bias 8"));
  EXPECT_TRUE(contains(refusal(small_float(5, 10, 16, H5T_IEEE_F32LE).get()), "float16 with"));
  EXPECT_TRUE(contains(refusal(H5T_VAX_F32), "VAX byte order"));
  TypeHandle odd = copy_of(H5T_STD_I32LE);
  H5Tset_size(odd.get(), 3);
  EXPECT_TRUE(contains(refusal(odd.get()), "int24"));
  TypeHandle wide = copy_of(H5T_STD_U64LE);
  H5Tset_size(wide.get(), 16);
  EXPECT_TRUE(contains(refusal(wide.get()), "uint128"));
}

TEST_F(TypeTest, FloatsOfAByteAreConverted) {
  for (const auto& [exponent_bits, bias] : {std::pair(4, 7), std::pair(5, 15)}) {
    const auto bits = static_cast<std::size_t>(exponent_bits);
    const DatasetInfo info =
        stored(small_float(bits, 7 - bits, static_cast<std::size_t>(bias), H5T_IEEE_F32LE).get());
    EXPECT_EQ(info.format.type, ElementType::f16);
    EXPECT_EQ(info.path, ReadPath::library);
    EXPECT_EQ(info.stored_type, bits == 4 ? "float8 E4M3" : "float8 E5M2");
  }
}

TEST_F(TypeTest, LongDoublesAreRefusedByName) {
  if (sizeof(long double) == sizeof(double)) GTEST_SKIP() << "long double is double here";
  const std::string why = refusal(H5T_NATIVE_LDOUBLE);
  EXPECT_TRUE(contains(why, "x87") || contains(why, "float128")) << why;
}

TEST_F(TypeTest, ACompoundIsRefusedAsAWholeAndListedByItsMembers) {
  const TypeHandle pair(H5Tcreate(H5T_COMPOUND, 16));
  H5Tinsert(pair.get(), "a", 0, H5T_IEEE_F64LE);
  H5Tinsert(pair.get(), "b", 8, H5T_STD_I64BE);
  const std::string why = error_of([&] { (void)stored(pair.get()); }).why();
  EXPECT_TRUE(contains(why, "compound of 'a', 'b'")) << why;
  const std::vector<DatasetListing> listed = list_datasets(path("t.h5"));
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].name + " " + listed[0].stored_type, "x.a float64");
  EXPECT_EQ(listed[1].name + " " + listed[1].stored_type, "x.b int64 big-endian");
  EXPECT_EQ(listed[0].unsupported + listed[1].unsupported, "");
}

TEST_F(TypeTest, TypesThatAreNoNumbersAreRefusedByName) {
  const TypeHandle fixed = copy_of(H5T_C_S1);
  H5Tset_size(fixed.get(), 12);
  EXPECT_TRUE(contains(refusal(fixed.get()), "string of 12 bytes"));
  const TypeHandle variable = copy_of(H5T_C_S1);
  H5Tset_size(variable.get(), H5T_VARIABLE);
  EXPECT_TRUE(contains(refusal(variable.get()), "variable-length string"));
  EXPECT_TRUE(contains(refusal(TypeHandle(H5Tvlen_create(H5T_STD_I32LE)).get()),
                       "variable-length sequence of int32"));
  const hsize_t three = 3;
  EXPECT_TRUE(contains(refusal(TypeHandle(H5Tarray_create2(H5T_STD_REF_OBJ, 1, &three)).get()),
                       "its type is object reference"));
  EXPECT_TRUE(contains(refusal(H5T_STD_REF_OBJ), "object reference"));
  EXPECT_TRUE(contains(refusal(H5T_STD_REF_DSETREG), "region reference"));
  EXPECT_TRUE(contains(refusal(TypeHandle(H5Tcreate(H5T_OPAQUE, 5)).get()), "opaque of 5 bytes"));
  EXPECT_TRUE(contains(refusal(H5T_STD_B16LE), "bitfield of 16 bits"));
}

TEST_F(TypeTest, ABitFieldOfAByteIsAnInteger) {
  const StoredType stored = describe_type(H5T_STD_B8BE);
  EXPECT_EQ(stored.name, "bitfield of 8 bits");
  EXPECT_TRUE(stored.exact);
  EXPECT_EQ(stored.format, (ElementFormat{ElementType::u8, native_byte_order}));
}

TEST_F(TypeTest, NarrowIntegersAreWidened) {
  TypeHandle narrow = copy_of(H5T_STD_I16BE);
  H5Tset_precision(narrow.get(), 12);
  H5Tset_offset(narrow.get(), 3);
  const std::vector<std::int16_t> values{-5, 2047, -2048, 0};
  {
    const FileHandle file = create_file("n.h5");
    const DatasetHandle dataset = create_dataset(file.get(), "x", narrow.get(), {4});
    write_all(dataset.get(), H5T_NATIVE_INT16, values);
  }
  Dataset dataset(path("n.h5"), "x");
  EXPECT_EQ(dataset.info().stored_type, "int16 of 12 bits big-endian");
  EXPECT_EQ(dataset.info().format, (ElementFormat{ElementType::i16, ByteOrder::big}));
  EXPECT_EQ(dataset.info().file_offset, std::nullopt);
  std::vector<std::uint8_t> bytes(8);
  dataset.read({0, 4}, std::as_writable_bytes(std::span(bytes)));
  std::vector<std::uint8_t> expected;
  for (const std::int16_t value : values) {
    expected.push_back(static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) >> 8));
    expected.push_back(static_cast<std::uint8_t>(static_cast<std::uint16_t>(value) & 0xff));
  }
  EXPECT_EQ(bytes, expected);
}

}  // namespace
}  // namespace warpfold::io
