#include "io/hdf5/attributes.hpp"

#include <array>

#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {
namespace {

class AttributesTest : public Hdf5Test {
 protected:
  AttributesTest() {
    source_file_ = create_file("in.h5");
    source_ = io::create_dataset(source_file_.get(), "x", H5T_STD_I32LE, {3});
  }

  void add(const std::string& name, hid_t type, hid_t space, const void* value) {
    const AttributeHandle attribute(
        H5Acreate2(source_.get(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    ASSERT_TRUE(attribute);
    if (value != nullptr) {
      ASSERT_GE(H5Awrite(attribute.get(), type, value), 0);
    }
  }

  void add_text(const std::string& name, const std::string& text) {
    add(name, text_type(text.size()).get(), simple_space({}).get(), text.data());
  }

  static TypeHandle text_type(std::size_t bytes) {
    TypeHandle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), bytes);
    return type;
  }

  /// Makes "out.h5" with the source's attributes and `texts`, and opens its dataset.
  void carry_over(std::vector<TextAttribute> texts = {}) {
    source_.close();
    source_file_.close();
    OutputSpec spec;
    spec.path = path("out.h5");
    spec.dataset = "y";
    spec.shape = {2, 2};
    spec.format = {ElementType::i64, ByteOrder::little};
    spec.attributes_from = {path("in.h5"), "x"};
    spec.text_attributes = std::move(texts);
    StagedFile(spec).commit();
    file_ = FileHandle(H5Fopen(path("out.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    dataset_ = DatasetHandle(H5Dopen2(file_.get(), "y", H5P_DEFAULT));
  }

  bool has(const std::string& name) const { return H5Aexists(dataset_.get(), name.c_str()) > 0; }

  AttributeHandle open(const std::string& name) const {
    AttributeHandle attribute(H5Aopen(dataset_.get(), name.c_str(), H5P_DEFAULT));
    EXPECT_TRUE(attribute) << name;
    return attribute;
  }

  std::string text(const std::string& name) const {
    const AttributeHandle attribute = open(name);
    const TypeHandle type(H5Aget_type(attribute.get()));
    std::string value(H5Tget_size(type.get()), '\0');
    EXPECT_GE(H5Aread(attribute.get(), type.get(), value.data()), 0);
    return value;
  }

  DatasetHandle source_;
  FileHandle source_file_;
  FileHandle file_;
  DatasetHandle dataset_;
};

TEST_F(AttributesTest, NumbersKeepTypeShapeAndValues) {
  const std::array<double, 6> values{1.5, -2.0, 3.25, 0.0, 1e300, -7.0};
  const SpaceHandle space = simple_space({2, 3});
  const AttributeHandle attribute(
      H5Acreate2(source_.get(), "numbers", H5T_IEEE_F64BE, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  ASSERT_GE(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, values.data()), 0);
  carry_over();
  const AttributeHandle copy = open("numbers");
  const TypeHandle type(H5Aget_type(copy.get()));
  EXPECT_GT(H5Tequal(type.get(), H5T_IEEE_F64BE), 0);
  const SpaceHandle copied_space(H5Aget_space(copy.get()));
  EXPECT_GT(H5Sextent_equal(copied_space.get(), space.get()), 0);
  std::array<double, 6> copied{};
  EXPECT_GE(H5Aread(copy.get(), H5T_NATIVE_DOUBLE, copied.data()), 0);
  EXPECT_EQ(copied, values);
}

TEST_F(AttributesTest, StringsOfBothKinds) {
  add_text("units", "m/s");
  TypeHandle variable = text_type(1);
  H5Tset_size(variable.get(), H5T_VARIABLE);
  H5Tset_cset(variable.get(), H5T_CSET_UTF8);
  const std::array<const char*, 2> words{"größe", "a much longer second string"};
  add("words", variable.get(), simple_space({2}).get(), words.data());
  carry_over();
  EXPECT_EQ(text("units"), "m/s");
  const AttributeHandle copy = open("words");
  std::array<char*, 2> copied{};
  ASSERT_GE(H5Aread(copy.get(), variable.get(), copied.data()), 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_STREQ(copied[i], words[i]);
    H5free_memory(copied[i]);
  }
}

TEST_F(AttributesTest, CompoundsAndNamedTypes) {
  struct Pair {
    std::int32_t number;
    float factor;
  };
  const TypeHandle type(H5Tcreate(H5T_COMPOUND, sizeof(Pair)));
  H5Tinsert(type.get(), "number", offsetof(Pair, number), H5T_STD_I32LE);
  H5Tinsert(type.get(), "factor", offsetof(Pair, factor), H5T_IEEE_F32LE);
  H5Tcommit2(source_file_.get(), "pair", type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const Pair value{-3, 0.5F};
  add("pair", type.get(), simple_space({}).get(), &value);
  carry_over();
  Pair copied{};
  EXPECT_GE(H5Aread(open("pair").get(), type.get(), &copied), 0);
  EXPECT_EQ(copied.number, value.number);
  EXPECT_EQ(copied.factor, value.factor);
}

TEST_F(AttributesTest, StringsWithinCompoundsAndArrays) {
  struct Entry {
    std::int64_t number;
    std::array<const char*, 2> words;
  };
  TypeHandle variable = text_type(1);
  H5Tset_size(variable.get(), H5T_VARIABLE);
  const hsize_t extent = 2;
  const TypeHandle words(H5Tarray_create2(variable.get(), 1, &extent));
  const TypeHandle type(H5Tcreate(H5T_COMPOUND, sizeof(Entry)));
  H5Tinsert(type.get(), "number", offsetof(Entry, number), H5T_NATIVE_INT64);
  H5Tinsert(type.get(), "words", offsetof(Entry, words), words.get());
  const std::array<Entry, 2> entries{{{-1, {"one", "a second word"}}, {2, {"", "four"}}}};
  add("entries", type.get(), simple_space({2}).get(), entries.data());
  carry_over();
  std::array<Entry, 2> copied{};
  ASSERT_GE(H5Aread(open("entries").get(), type.get(), copied.data()), 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(copied[i].number, entries[i].number);
    for (std::size_t word = 0; word < extent; ++word) {
      EXPECT_STREQ(copied[i].words[word], entries[i].words[word]);
      H5free_memory(const_cast<char*>(copied[i].words[word]));
    }
  }
}

TEST_F(AttributesTest, EmptyOnes) {
  add("null", H5T_STD_I32LE, SpaceHandle(H5Screate(H5S_NULL)).get(), nullptr);
  add("none", H5T_STD_I32LE, simple_space({0}).get(), nullptr);
  carry_over();
  EXPECT_TRUE(has("null"));
  EXPECT_TRUE(has("none"));
}

TEST_F(AttributesTest, LargeOnes) {
  std::string bytes(200000, 'x');
  bytes[123456] = 'y';
  add("small", H5T_STD_I8LE, simple_space({60000}).get(), bytes.data());
  const PropertiesHandle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  source_.close();
  source_file_.close();
  source_file_ = FileHandle(H5Fopen(path("in.h5").c_str(), H5F_ACC_RDWR, access.get()));
  source_ = io::create_dataset(source_file_.get(), "large", H5T_STD_I32LE, {3});
  H5Ldelete(source_file_.get(), "x", H5P_DEFAULT);
  H5Lmove(source_file_.get(), "large", source_file_.get(), "x", H5P_DEFAULT, H5P_DEFAULT);
  add("large", H5T_STD_I8LE, simple_space({bytes.size()}).get(), bytes.data());
  carry_over({{"long text", bytes}});
  std::string copied(bytes.size(), '\0');
  EXPECT_GE(H5Aread(open("large").get(), H5T_STD_I8LE, copied.data()), 0);
  EXPECT_EQ(copied, bytes);
  EXPECT_EQ(text("long text"), bytes);
}

TEST_F(AttributesTest, WhatRefersToTheSourceFileStaysThere) {
  hobj_ref_t reference{};
  ASSERT_GE(H5Rcreate(&reference, source_file_.get(), "x", H5R_OBJECT, -1), 0);
  add("a reference", H5T_STD_REF_OBJ, simple_space({}).get(), &reference);
  const TypeHandle list(H5Tvlen_create(H5T_STD_REF_OBJ));
  hvl_t references{1, &reference};
  add("DIMENSION_LIST", list.get(), simple_space({}).get(), &references);
  const std::int32_t number = 1;
  add("_Netcdf4Dimid", H5T_STD_I32LE, simple_space({}).get(), &number);
  add("_FillValue", H5T_STD_I32LE, simple_space({}).get(), &number);
  add("missing_value", H5T_STD_I32LE, simple_space({}).get(), &number);
  add_text("CLASS", "DIMENSION_SCALE");
  add_text("NAME", "time");
  add_text("units", "s");
  carry_over();
  for (const char* name :
       {"a reference", "DIMENSION_LIST", "_Netcdf4Dimid", "_FillValue", "CLASS", "NAME"}) {
    EXPECT_FALSE(has(name)) << name;
  }
  EXPECT_TRUE(has("missing_value"));
  EXPECT_EQ(text("units"), "s");
}

TEST_F(AttributesTest, OtherClassesAndFittingFillValuesAreKept) {
  const std::int64_t fill = -1;
  add("_FillValue", H5T_STD_I64LE, simple_space({}).get(), &fill);
  add_text("CLASS", "IMAGE");
  add_text("NAME", "portrait");
  carry_over();
  EXPECT_TRUE(has("_FillValue"));
  EXPECT_EQ(text("CLASS"), "IMAGE");
  EXPECT_EQ(text("NAME"), "portrait");
}

TEST_F(AttributesTest, TextsReplaceTheSources) {
  add_text("history", "old");
  carry_over({{"history", "größer"}, {"empty", ""}});
  EXPECT_EQ(text("history"), "größer");
  EXPECT_EQ(text("empty"), std::string(1, '\0'));
  const AttributeHandle attribute = open("history");
  const TypeHandle type(H5Aget_type(attribute.get()));
  EXPECT_EQ(H5Tget_cset(type.get()), H5T_CSET_UTF8);
  EXPECT_EQ(H5Tis_variable_str(type.get()), 0);
}

TEST_F(AttributesTest, TheSourceMayBeOpen) {
  add_text("units", "m");
  source_.close();
  source_file_.close();
  const Dataset reader(path("in.h5"), "x");
  carry_over();
  EXPECT_EQ(text("units"), "m");
}

TEST_F(AttributesTest, AMissingSourceIsReportedAndLeavesNothing) {
  source_.close();
  source_file_.close();
  OutputSpec spec;
  spec.path = path("out.h5");
  spec.dataset = "y";
  spec.shape = {1};
  spec.attributes_from = {path("in.h5"), "z"};
  EXPECT_EQ(error_of([&] { StagedFile(spec).commit(); }).problem(),
            "cannot read 'z' in '" + path("in.h5") + "'");
  EXPECT_EQ(files_in_folder(), std::vector<std::string>{"in.h5"});
}

}  // namespace
}  // namespace warpfold::io
