#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/warp_kernels.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda::test {
namespace {

struct Combine {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a + b; }
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
  __device__ int128 operator()(int128 a, int128 b) const { return a + b; }
  __device__ Extremum operator()(const Extremum& a, const Extremum& b) const {
    return BetterExtremum{}(a, b);
  }
  __device__ Affine operator()(const Affine& first, const Affine& second) const {
    return {first.factor * second.factor, first.offset * second.factor + second.offset};
  }
};

struct Reduce {
  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::reduce(value, Combine{});
  }
};

struct ReduceXor {
  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::reduce_xor(value, Combine{});
  }
};

struct Scan {
  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::inclusive_scan(value, Combine{});
  }
};

struct Shuffle {
  int source;

  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::shuffle(value, source);
  }
};

struct ShuffleUp {
  int delta;

  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::shuffle_up(value, delta);
  }
};

struct ShuffleDown {
  int delta;

  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::shuffle_down(value, delta);
  }
};

struct ShuffleXor {
  int bits;

  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::shuffle_xor(value, bits);
  }
};

struct Ballot {
  __device__ std::uint32_t operator()(std::uint32_t says) const { return warp::ballot(says != 0); }
};

struct Any {
  __device__ std::uint32_t operator()(std::uint32_t says) const { return warp::any(says != 0); }
};

struct All {
  __device__ std::uint32_t operator()(std::uint32_t says) const { return warp::all(says != 0); }
};

struct MatchAny {
  template <class T>
  __device__ std::uint32_t operator()(const T& value) const {
    return warp::match_any(value);
  }
};

struct PassDown {
  std::uint32_t mask;

  __device__ std::uint32_t operator()(std::uint32_t value) const {
    __shared__ std::uint32_t slots[warp::lanes];
    if ((mask >> warp::lane() & 1) == 0) return value;
    const unsigned members = static_cast<unsigned>(__popc(mask));
    const unsigned rank = warp::rank_among(mask);
    slots[rank] = value;
    warp::synchronize(mask);
    return slots[(rank + 1) % members];
  }
};

struct RankAmong {
  __device__ std::uint32_t operator()(std::uint32_t mask) const { return warp::rank_among(mask); }
};

template <class In, class Out, class Function>
__global__ void warp_kernel(const In* in, Out* out, const Function function) {
  out[threadIdx.x] = function(in[threadIdx.x]);
}

/// One block, a thread an element.
template <class Out, class In, class Function>
std::vector<Out> run(const std::vector<In>& in, const Function& function) {
  const Stream stream;
  std::vector<Out> out(in.size());
  const DeviceBuffer device_in(in.size() * sizeof(In));
  const DeviceBuffer device_out(out.size() * sizeof(Out));
  copy_to_device(device_in.data(), in.data(), device_in.size(), stream.get());
  launch("a test's kernel", warp_kernel<In, Out, Function>,
         {1, static_cast<int>(in.size()), stream.get()},
         reinterpret_cast<const In*>(device_in.data()), reinterpret_cast<Out*>(device_out.data()),
         function);
  copy_to_host(out.data(), device_out.data(), device_out.size(), stream.get());
  stream.synchronize();
  return out;
}

}  // namespace

template <class T>
std::vector<T> reduced(const std::vector<T>& lanes) {
  return run<T>(lanes, Reduce{});
}
template <class T>
std::vector<T> reduced_xor(const std::vector<T>& lanes) {
  return run<T>(lanes, ReduceXor{});
}
template <class T>
std::vector<T> inclusively_scanned(const std::vector<T>& lanes) {
  return run<T>(lanes, Scan{});
}
template <class T>
std::vector<T> shuffled(const std::vector<T>& lanes, int source) {
  return run<T>(lanes, Shuffle{source});
}
template <class T>
std::vector<T> shuffled_up(const std::vector<T>& lanes, int delta) {
  return run<T>(lanes, ShuffleUp{delta});
}
template <class T>
std::vector<T> shuffled_down(const std::vector<T>& lanes, int delta) {
  return run<T>(lanes, ShuffleDown{delta});
}
template <class T>
std::vector<T> shuffled_xor(const std::vector<T>& lanes, int bits) {
  return run<T>(lanes, ShuffleXor{bits});
}

std::vector<std::uint32_t> ballots(const std::vector<std::uint32_t>& lanes) {
  return run<std::uint32_t>(lanes, Ballot{});
}
std::vector<std::uint32_t> anys(const std::vector<std::uint32_t>& lanes) {
  return run<std::uint32_t>(lanes, Any{});
}
std::vector<std::uint32_t> alls(const std::vector<std::uint32_t>& lanes) {
  return run<std::uint32_t>(lanes, All{});
}
template <class T>
std::vector<std::uint32_t> matches_any(const std::vector<T>& lanes) {
  return run<std::uint32_t>(lanes, MatchAny{});
}
std::vector<std::uint32_t> passed_down(const std::vector<std::uint32_t>& lanes,
                                       std::uint32_t mask) {
  return run<std::uint32_t>(lanes, PassDown{mask});
}
std::vector<std::uint32_t> ranks_among(const std::vector<std::uint32_t>& masks) {
  return run<std::uint32_t>(masks, RankAmong{});
}

#define WARPFOLD_INSTANTIATE(T)                                        \
  template std::vector<T> reduced(const std::vector<T>&);              \
  template std::vector<T> reduced_xor(const std::vector<T>&);          \
  template std::vector<T> inclusively_scanned(const std::vector<T>&);  \
  template std::vector<T> shuffled(const std::vector<T>&, int source); \
  template std::vector<T> shuffled_up(const std::vector<T>&, int);     \
  template std::vector<T> shuffled_down(const std::vector<T>&, int);   \
  template std::vector<T> shuffled_xor(const std::vector<T>&, int)

WARPFOLD_INSTANTIATE(std::int32_t);
WARPFOLD_INSTANTIATE(std::int64_t);
WARPFOLD_INSTANTIATE(int128);
WARPFOLD_INSTANTIATE(Extremum);
WARPFOLD_INSTANTIATE(Affine);

#undef WARPFOLD_INSTANTIATE

template std::vector<std::uint32_t> matches_any(const std::vector<std::int32_t>&);
template std::vector<std::uint32_t> matches_any(const std::vector<std::uint32_t>&);
template std::vector<std::uint32_t> matches_any(const std::vector<std::uint64_t>&);
template std::vector<std::uint32_t> matches_any(const std::vector<float>&);
template std::vector<std::uint32_t> matches_any(const std::vector<double>&);

}  // namespace warpfold::cuda::test
