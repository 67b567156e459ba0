#include "io/hdf5/hdf5_type.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "warpfold/core/float16.hpp"

namespace warpfold::io {
namespace {

constexpr const char* cannot_inspect = "cannot inspect a datatype";

/// Positions of the parts of an IEEE-style float, in bits from the lowest.
struct FloatFields {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  std::size_t bias = 0;
  std::size_t bytes = 0;

  bool operator==(const FloatFields&) const = default;
};

struct FloatKind {
  ElementType type;
  std::string_view name;
  FloatFields fields;
};

/// Types of one byte are those of the Open Compute Project; HDF5 has them as of version 2.
constexpr std::array<FloatKind, 6> float_kinds{{
    {ElementType::f16, "float16", {15, 10, 5, 0, 10, 15, 2}},
    {ElementType::bf16, "bfloat16", {15, 7, 8, 0, 7, 127, 2}},
    {ElementType::f32, "float32", {31, 23, 8, 0, 23, 127, 4}},
    {ElementType::f64, "float64", {63, 52, 11, 0, 52, 1023, 8}},
    {ElementType::f16, "float8 E4M3", {7, 3, 4, 0, 3, 7, 1}},
    {ElementType::f16, "float8 E5M2", {7, 2, 5, 0, 2, 15, 1}},
}};

std::optional<ByteOrder> byte_order(hid_t type) {
  switch (H5Tget_order(type)) {
    case H5T_ORDER_LE:
      return ByteOrder::little;
    case H5T_ORDER_BE:
      return ByteOrder::big;
    default:
      return std::nullopt;
  }
}

std::string with_order(std::string name, std::size_t bytes, ByteOrder order) {
  if (bytes > 1 && order == ByteOrder::big) name += " big-endian";
  return name;
}

std::optional<ElementType> integer_type(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? ElementType::i8 : ElementType::u8;
    case 2:
      return is_signed ? ElementType::i16 : ElementType::u16;
    case 4:
      return is_signed ? ElementType::i32 : ElementType::u32;
    case 8:
      return is_signed ? ElementType::i64 : ElementType::u64;
    default:
      return std::nullopt;
  }
}

StoredType describe_integer(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const std::size_t precision = H5Tget_precision(type);
  const H5T_sign_t sign = require(H5Tget_sign(type), cannot_inspect);
  const bool is_signed = sign == H5T_SGN_2;
  const std::string stem = is_signed ? "int" : "uint";
  StoredType stored;
  stored.name = stem + std::to_string(8 * bytes);
  const auto order = byte_order(type);
  if (!order) {
    stored.name += " in VAX or mixed byte order";
    return stored;
  }
  stored.exact = precision == 8 * bytes;
  if (!stored.exact) stored.name += " of " + std::to_string(precision) + " bits";
  stored.name = with_order(stored.name, bytes, *order);
  if (const auto element = integer_type(bytes, is_signed)) {
    stored.format = ElementFormat{*element, bytes == 1 ? native_byte_order : *order};
    if (!stored.exact) {
      using enum NarrowElements::Kind;
      stored.narrow = {is_signed ? with_sign : without_sign, stored.format->order,
                       static_cast<unsigned>(precision),
                       static_cast<unsigned>(require(H5Tget_offset(type), cannot_inspect))};
    }
  }
  return stored;
}

/// Bits are read as an integer without a sign; PyTables keeps booleans so.
StoredType describe_bitfield(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  StoredType stored;
  stored.name = "bitfield of " + std::to_string(H5Tget_precision(type)) + " bits";
  stored.exact = bytes == 1 && H5Tget_precision(type) == 8;
  if (stored.exact) stored.format = ElementFormat{ElementType::u8, native_byte_order};
  return stored;
}

/// IEEE 754's.
std::size_t usual_bias(std::size_t exponent_bits) {
  return (std::size_t{1} << (exponent_bits - 1)) - 1;
}

std::string name_of_odd_float(const FloatFields& fields) {
  if (fields.exponent_bits == 15 && fields.mantissa_bits == 64) {
    return "x87 extended-precision float (long double)";
  }
  if (fields.exponent_bits == 15 && fields.mantissa_bits == 112) return "float128";
  return "float" + std::to_string(8 * fields.bytes) + " with " +
         std::to_string(fields.exponent_bits) + " exponent and " +
         std::to_string(fields.mantissa_bits) + " mantissa bits" +
         (fields.bias == usual_bias(fields.exponent_bits)
              ? ""
              : " and the exponent bias " + std::to_string(fields.bias));
}

/// Returns whether a float has the sign, the exponent and the first bits of the mantissa of
/// another, in adjacent bits.
bool shortens(const FloatFields& fields, const FloatFields& whole) {
  const bool adjacent = fields.exponent == fields.mantissa + fields.mantissa_bits &&
                        fields.sign == fields.exponent + fields.exponent_bits;
  return adjacent && fields.bytes == whole.bytes && fields.exponent_bits == whole.exponent_bits &&
         fields.bias == whole.bias && fields.mantissa_bits < whole.mantissa_bits;
}

FloatFields fields_of(hid_t type) {
  FloatFields fields;
  require(H5Tget_fields(type, &fields.sign, &fields.exponent, &fields.exponent_bits,
                        &fields.mantissa, &fields.mantissa_bits),
          cannot_inspect);
  fields.bias = H5Tget_ebias(type);
  fields.bytes = H5Tget_size(type);
  return fields;
}

/// Returns the value of a float of one byte, which a float16 can have. E5M2 is the first byte of
/// one; E4M3 has no infinities, and NaN only where all bits but the sign are set.
Float16 value_of_byte(unsigned bits, std::size_t mantissa_bits) {
  if (mantissa_bits == 2) return {static_cast<std::uint16_t>(bits << 8)};
  if ((bits & 0x7f) == 0x7f) return Float16::from_double(std::nan(""));
  const int exponent = static_cast<int>(bits >> 3 & 15);
  const int significand = static_cast<int>(bits & 7) + (exponent > 0 ? 8 : 0);
  const double size = std::ldexp(significand, std::max(exponent, 1) - 10);
  return Float16::from_double((bits & 0x80) != 0 ? -size : size);
}

/// Converts floats of one byte to float16 in place, the last one first.
herr_t convert_bytes(hid_t from, hid_t to, H5T_cdata_t* conversion, std::size_t count,
                     std::size_t stride, std::size_t, void* elements, void*, hid_t) noexcept try {
  if (conversion->command == H5T_CONV_FREE) return 0;
  const FloatFields fields = fields_of(from);
  if (conversion->command == H5T_CONV_INIT) {
    const auto kind = std::ranges::find(float_kinds, fields, &FloatKind::fields);
    const bool converts = kind != float_kinds.end() && fields.bytes == 1 &&
                          fields_of(to) == float_kinds.front().fields &&
                          byte_order(to) == native_byte_order;
    return converts ? 0 : -1;
  }
  std::array<Float16, 256> values;
  for (unsigned bits = 0; bits < values.size(); ++bits)
    values[bits] = value_of_byte(bits, fields.mantissa_bits);
  auto* bytes = static_cast<std::byte*>(elements);
  for (std::size_t i = count; i-- > 0;) {
    const auto bits = std::to_integer<std::size_t>(bytes[i * (stride == 0 ? 1 : stride)]);
    std::memcpy(bytes + i * (stride == 0 ? sizeof(Float16) : stride), &values[bits],
                sizeof(Float16));
  }
  return 0;
} catch (const Error&) {
  return -1;
}

/// HDF5 itself would take the greatest values of E4M3 for infinities and NaN.
void register_conversion_of_bytes() {
  static const herr_t registered = H5Tregister(H5T_PERS_SOFT, "floats of a byte", H5T_NATIVE_FLOAT,
                                               H5T_NATIVE_FLOAT, convert_bytes);
  require(registered, cannot_inspect);
}

StoredType describe_float(hid_t type) {
  const FloatFields fields = fields_of(type);
  const auto order = fields.bytes == 1 ? native_byte_order : byte_order(type);
  const bool implied = H5Tget_norm(type) == H5T_NORM_IMPLIED;
  const bool plain =
      implied && H5Tget_precision(type) == 8 * fields.bytes && H5Tget_offset(type) == 0;
  StoredType stored;
  stored.name = name_of_odd_float(fields);
  for (const FloatKind& kind : float_kinds) {
    if (plain && fields == kind.fields) {
      stored.name = kind.name;
      stored.exact = order.has_value() && fields.bytes > 1;
      if (fields.bytes == 1) register_conversion_of_bytes();
    } else if (order && implied && fields.bytes > 2 && shortens(fields, kind.fields)) {
      stored.narrow = {NarrowElements::Kind::floating, *order,
                       static_cast<unsigned>(1 + fields.exponent_bits + fields.mantissa_bits),
                       static_cast<unsigned>(fields.mantissa)};
    } else {
      continue;
    }
    if (order) stored.format = ElementFormat{kind.type, *order};
  }
  if (!order) {
    stored.name += " in VAX byte order";
  } else {
    stored.name = with_order(stored.name, fields.bytes, *order);
  }
  return stored;
}

/// Converts PyTables' times, seconds in the high and microseconds in the low half of 64 bits, to
/// doubles in place.
herr_t convert_times(hid_t from, hid_t, H5T_cdata_t* conversion, std::size_t count,
                     std::size_t stride, std::size_t, void* elements, void*, hid_t) noexcept {
  if (conversion->command == H5T_CONV_INIT) return H5Tget_size(from) == 8 ? 0 : -1;
  if (conversion->command != H5T_CONV_CONV) return 0;
  const bool swapped = byte_order(from) != native_byte_order;
  auto* element = static_cast<std::byte*>(elements);
  for (std::size_t i = 0; i < count; ++i, element += stride == 0 ? sizeof(double) : stride) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    if (swapped) bits = __builtin_bswap64(bits);
    const auto seconds = static_cast<std::int32_t>(bits >> 32);
    const auto microseconds = static_cast<std::int32_t>(bits);
    const double time = (seconds * 1e6 + microseconds) / 1e6;
    std::memcpy(element, &time, sizeof time);
  }
  return 0;
}

/// Times of 32 bits are seconds. HDF5 itself converts no times.
StoredType describe_time(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const ByteOrder order = byte_order(type).value_or(native_byte_order);
  if (bytes == 4)
    return {with_order("time of 32 bits", 4, order), ElementFormat{ElementType::i32, order}, true};
  static const herr_t registered =
      H5Tregister(H5T_PERS_SOFT, "times", H5T_UNIX_D64LE, H5T_NATIVE_DOUBLE, convert_times);
  require(registered, cannot_inspect);
  return {"time of 64 bits", ElementFormat{ElementType::f64, native_byte_order}, false};
}

std::string member_name(hid_t type, unsigned index) {
  const std::unique_ptr<char, herr_t (*)(void*)> name(H5Tget_member_name(type, index),
                                                      H5free_memory);
  return name ? name.get() : "";
}

/// Knows bool as h5py and netCDF write it: an enumeration of int8 with FALSE = 0 and TRUE = 1.
bool is_boolean(hid_t type) {
  if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  for (unsigned i = 0; i < 2; ++i) {
    std::int8_t value = -1;
    if (H5Tget_member_value(type, i, &value) < 0) return false;
    if (member_name(type, i) != (value == 0 ? "FALSE" : "TRUE") || value < 0 || value > 1) {
      return false;
    }
  }
  return true;
}

StoredType describe_enumeration(hid_t type) {
  const TypeHandle base(require(H5Tget_super(type), cannot_inspect));
  StoredType stored = describe_type(base.get());
  stored.name = is_boolean(type) ? "bool" : "enum of " + stored.name;
  return stored;
}

/// Knows complex numbers as h5py (r, i), MATLAB and Octave (real, imag) write them.
bool is_complex_pair(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  const std::string real = member_name(type, 0);
  const std::string imaginary = member_name(type, 1);
  if (!(real == "r" && imaginary == "i") && !(real == "real" && imaginary == "imag")) return false;
  const TypeHandle first(require(H5Tget_member_type(type, 0), cannot_inspect));
  const TypeHandle second(require(H5Tget_member_type(type, 1), cannot_inspect));
  const H5T_class_t kind = H5Tget_class(first.get());
  return (kind == H5T_FLOAT || kind == H5T_INTEGER) &&
         require(H5Tequal(first.get(), second.get()), cannot_inspect) > 0;
}

std::string name_of_compound(hid_t type) {
  if (is_complex_pair(type))
    return "complex (compound of " + member_name(type, 0) + " and " + member_name(type, 1) + ")";
  constexpr int max_named = 4;
  const int members = require(H5Tget_nmembers(type), cannot_inspect);
  std::string name = "compound of ";
  for (int i = 0; i < members && i < max_named; ++i) {
    name += (i == 0 ? "'" : ", '") + member_name(type, static_cast<unsigned>(i)) + "'";
  }
  if (members > max_named) name += " and " + std::to_string(members - max_named) + " more";
  return name;
}

std::string name_of_derived(hid_t type, const std::string& prefix) {
  const TypeHandle base(require(H5Tget_super(type), cannot_inspect));
  return prefix + describe_type(base.get()).name;
}

std::string name_of_reference(hid_t type) {
  if (require(H5Tequal(type, H5T_STD_REF_OBJ), cannot_inspect) > 0) return "object reference";
  if (require(H5Tequal(type, H5T_STD_REF_DSETREG), cannot_inspect) > 0) return "region reference";
  return "reference";
}

std::string name_of_other(hid_t type, H5T_class_t type_class) {
  switch (type_class) {
    case H5T_COMPOUND:
      return name_of_compound(type);
    case H5T_STRING:
      return require(H5Tis_variable_str(type), cannot_inspect) > 0
                 ? "variable-length string"
                 : "string of " + std::to_string(H5Tget_size(type)) + " bytes";
    case H5T_VLEN:
      return name_of_derived(type, "variable-length sequence of ");
    case H5T_ARRAY:
      return name_of_derived(type, "array of ");
    case H5T_REFERENCE:
      return name_of_reference(type);
    case H5T_OPAQUE:
      return "opaque of " + std::to_string(H5Tget_size(type)) + " bytes";
    default:
      break;
  }
#if WARPFOLD_HDF5_HAS_COMPLEX
  if (type_class == H5T_COMPLEX) return name_of_derived(type, "complex of ");
#endif
  return "HDF5 type class " + std::to_string(static_cast<int>(type_class));
}

hid_t predefined_integer(ElementType type, bool big) {
  switch (type) {
    case ElementType::i8:
      return big ? H5T_STD_I8BE : H5T_STD_I8LE;
    case ElementType::i16:
      return big ? H5T_STD_I16BE : H5T_STD_I16LE;
    case ElementType::i32:
      return big ? H5T_STD_I32BE : H5T_STD_I32LE;
    case ElementType::i64:
      return big ? H5T_STD_I64BE : H5T_STD_I64LE;
    case ElementType::u8:
      return big ? H5T_STD_U8BE : H5T_STD_U8LE;
    case ElementType::u16:
      return big ? H5T_STD_U16BE : H5T_STD_U16LE;
    case ElementType::u32:
      return big ? H5T_STD_U32BE : H5T_STD_U32LE;
    default:
      return big ? H5T_STD_U64BE : H5T_STD_U64LE;
  }
}

const FloatFields& fields_of(ElementType type) {
  return std::ranges::find(float_kinds, type, &FloatKind::type)->fields;
}

TypeHandle make_float(ElementType type, bool big) {
  const std::string problem = "cannot make a datatype";
  const bool is_double = type == ElementType::f64;
  const hid_t single = big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
  const hid_t twice = big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  TypeHandle made(require(H5Tcopy(is_double ? twice : single), problem));
  const FloatFields& fields = fields_of(type);
  if (fields.bytes != 2) return made;
  // The fields have to lie inside the type before it may shrink to two bytes.
  require(H5Tset_fields(made.get(), fields.sign, fields.exponent, fields.exponent_bits,
                        fields.mantissa, fields.mantissa_bits),
          problem);
  require(H5Tset_size(made.get(), fields.bytes), problem);
  require(H5Tset_ebias(made.get(), fields.bias), problem);
  return made;
}

}  // namespace

StoredType describe_type(hid_t type) {
  const H5T_class_t type_class = require(H5Tget_class(type), cannot_inspect);
  switch (type_class) {
    case H5T_INTEGER:
      return describe_integer(type);
    case H5T_FLOAT:
      return describe_float(type);
    case H5T_ENUM:
      return describe_enumeration(type);
    case H5T_BITFIELD:
      return describe_bitfield(type);
    case H5T_TIME:
      return describe_time(type);
    default:
      break;
  }
  StoredType stored;
  stored.name = name_of_other(type, type_class);
  return stored;
}

bool is_complex(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
#if WARPFOLD_HDF5_HAS_COMPLEX
  if (type_class == H5T_COMPLEX) return true;
#endif
  return type_class == H5T_COMPOUND && is_complex_pair(type);
}

TypeHandle make_type(ElementFormat format) {
  const bool big = format.order == ByteOrder::big;
  if (is_floating(format.type)) return make_float(format.type, big);
  return TypeHandle(
      require(H5Tcopy(predefined_integer(format.type, big)), "cannot make a datatype"));
}

std::string unsupported_reason(const StoredType& type) {
  return "its type is " + type.name + ", which is not supported";
}

std::string supported_types_advice() {
  return "Give a dataset of integers of 8, 16, 32 or 64 bits, of float16, bfloat16, float32 or "
         "float64, of bool (also in bits), of an enumeration, of times, or of arrays of them.";
}

}  // namespace warpfold::io
