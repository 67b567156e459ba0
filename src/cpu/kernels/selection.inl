/// Values of elements, and which of them count.

/// As ordered_key() orders values of the type.
template <class T>
static inline NativeKey<T> native_key(T x) {
  using Key = NativeKey<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = __builtin_bit_cast(Key, x + T{0});
    const Key all_if_negative = Key{0} - (bits >> (8 * sizeof(Key) - 1));
    return bits ^ (all_if_negative | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(x)) ^ sign;
  } else {
    return x;
  }
}

template <int excluded, class T>
static void select_but(const T* __restrict x, std::size_t n, const KeyFilter<NativeKey<T>>& from,
                       std::uint8_t* __restrict counts) {
  using Key = NativeKey<T>;
  const KeyFilter<Key> filter = from;
  const Key nan = filter.nan ? 1 : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Key key = native_key(x[i]);
    Key selected = static_cast<Key>(key - filter.minimum) <= filter.span ? 1 : 0;
    for (int e = 0; e < excluded; ++e) selected &= key != filter.excluded[e] ? 1 : 0;
    if constexpr (std::is_floating_point_v<T>) selected = x[i] == x[i] ? selected : nan;
    counts[i] = static_cast<std::uint8_t>(selected);
  }
}

template <class T>
static std::size_t select_values(const T* x, std::size_t n, const KeyFilter<NativeKey<T>>& filter,
                                 std::uint8_t* counts) {
  if (filter.excluded_count == 0)
    select_but<0>(x, n, filter, counts);
  else if (filter.excluded_count == 1)
    select_but<1>(x, n, filter, counts);
  else if (filter.excluded_count == 2)
    select_but<2>(x, n, filter, counts);
  else
    select_but<max_excluded_keys>(x, n, filter, counts);
  std::uint32_t selected = 0;
  for (std::size_t i = 0; i < n; ++i) selected += counts[i];
  return selected;
}

/// NaN canonical.
template <class T>
static inline T with_one_nan(T x) {
  return x == x ? x : static_cast<T>(__builtin_nan(""));
}

template <class T, class Value>
static void unpack_values(const T* __restrict x, std::size_t n, const UnpackTerms& terms,
                          Value* __restrict values) {
  const auto offset = static_cast<Value>(terms.offset);
  if (sizeof(Value) > sizeof(float) && terms.product_is_f32) {
    const auto scale = static_cast<float>(terms.scale);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = with_one_nan(static_cast<Value>(static_cast<float>(x[i]) * scale) + offset);
  } else {
    const auto scale = static_cast<Value>(terms.scale);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = with_one_nan(static_cast<Value>(x[i]) * scale + offset);
  }
}

template <class T>
static void replace_values(const T* __restrict x, std::size_t n,
                           const std::uint8_t* __restrict counts, T left_out,
                           T* __restrict values) {
  for (std::size_t i = 0; i < n; ++i) {
    T value = x[i];
    if constexpr (std::is_floating_point_v<T>) value = with_one_nan(value);
    values[i] = counts[i] != 0 ? value : left_out;
  }
}
