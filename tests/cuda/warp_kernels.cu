#include "cuda/copy.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/kernels/comparable.hpp"
#include "cuda/kernels/warp.hpp"
#include "cuda/stream.hpp"
#include "cuda/warp_kernels.hpp"

namespace warpfold::cuda::test {
namespace {

struct Combine {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a + b; }
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
  __device__ int128 operator()(int128 a, int128 b) const { return a + b; }
  __device__ DoublePair operator()(DoublePair a, DoublePair b) const { return add(a, b); }
  __device__ Extremum operator()(const Extremum& a, const Extremum& b) const {
    return BetterExtremum{}(a, b);
  }
};

struct Reduce {
  template <class T>
  __device__ T operator()(const T& value) const {
    return warp::reduce(value, Combine{});
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

template <class T, class Function>
__global__ void warp_kernel(T* lanes, const Function function) {
  lanes[threadIdx.x] = function(lanes[threadIdx.x]);
}

template <class T, class Function>
std::vector<T> run(std::vector<T> lanes, const Function& function) {
  const Stream stream;
  const std::uint64_t bytes = lanes.size() * sizeof(T);
  const DeviceBuffer device(bytes);
  copy_to_device(device.data(), lanes.data(), bytes, stream.get());
  warp_kernel<<<1, warp::lanes, 0, stream.get()>>>(reinterpret_cast<T*>(device.data()), function);
  check_launch("a test's kernel");
  copy_to_host(lanes.data(), device.data(), bytes, stream.get());
  stream.synchronize();
  return lanes;
}

}  // namespace

template <class T>
std::vector<T> reduced(const std::vector<T>& lanes) {
  return run(lanes, Reduce{});
}
template <class T>
std::vector<T> inclusively_scanned(const std::vector<T>& lanes) {
  return run(lanes, Scan{});
}
template <class T>
std::vector<T> shuffled(const std::vector<T>& lanes, int source) {
  return run(lanes, Shuffle{source});
}
template <class T>
std::vector<T> shuffled_up(const std::vector<T>& lanes, int delta) {
  return run(lanes, ShuffleUp{delta});
}
template <class T>
std::vector<T> shuffled_down(const std::vector<T>& lanes, int delta) {
  return run(lanes, ShuffleDown{delta});
}

#define WARPFOLD_INSTANTIATE(T)                                        \
  template std::vector<T> reduced(const std::vector<T>&);              \
  template std::vector<T> inclusively_scanned(const std::vector<T>&);  \
  template std::vector<T> shuffled(const std::vector<T>&, int source); \
  template std::vector<T> shuffled_up(const std::vector<T>&, int);     \
  template std::vector<T> shuffled_down(const std::vector<T>&, int)

WARPFOLD_INSTANTIATE(std::int32_t);
WARPFOLD_INSTANTIATE(std::int64_t);
WARPFOLD_INSTANTIATE(int128);
WARPFOLD_INSTANTIATE(DoublePair);
WARPFOLD_INSTANTIATE(Extremum);

#undef WARPFOLD_INSTANTIATE

}  // namespace warpfold::cuda::test
