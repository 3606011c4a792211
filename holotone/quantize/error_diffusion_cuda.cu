// Error diffusion on CUDA: the scale of a hologram, and the run of the compiled wavefront.
#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/runtime_compiler_cuda.hpp>
#include <holotone/quantize/error_diffusion_kernel_cuda.hpp>
#include <holotone/quantize/error_diffusion_wavefront.h>
#include <limits>

namespace holotone::diffusion {
namespace {

constexpr int bins = 2048;  // of 11 bits
constexpr int copies = 8;   // copies of a histogram, for lanes that count at the same time
constexpr int counting_threads = 512;
constexpr unsigned long long none = ~0ULL;

struct Pixel {
  std::uint32_t bits;  // upper half of the float64 square of the modulus
  bool finite;
};

__device__ Pixel to_pixel(float2 value, bool phase) {
  const auto re = static_cast<double>(value.x);
  const auto im = phase ? static_cast<double>(value.y) : 0.0;
  const double square = __dadd_rn(__dmul_rn(re, re), __dmul_rn(im, im));
  return {static_cast<std::uint32_t>(__double2hiint(square)), isfinite(value.x) && isfinite(value.y)};
}

/// Counts the values of bits [shift, upper) of the pixels whose bits from `upper` on are `prefix`. Also finds the first
/// pixel that is not finite.
__global__ void count_moduli(const float2* field, std::int64_t count, bool phase, int shift, int upper,
                             std::uint32_t prefix, unsigned long long* histogram, unsigned long long* broken) {
  extern __shared__ unsigned counts[];
  for (int i = threadIdx.x; i < bins * copies; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  unsigned* const replica = counts + (threadIdx.x % copies);
  unsigned long long first = none;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const Pixel pixel = to_pixel(field[i], phase);
    if (!pixel.finite) {
      if (first == none) first = static_cast<unsigned long long>(i);
      continue;
    }
    const std::uint32_t above = upper < 32 ? pixel.bits >> upper : 0;
    const std::uint32_t bin = (pixel.bits >> shift) & ((1U << (upper - shift)) - 1);
    if (above == prefix) atomicAdd(replica + copies * bin, 1U);
  }
  if (first != none) atomicMin(broken, first);
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    unsigned long long sum = 0;
    for (int copy = 0; copy < copies; ++copy) sum += counts[bin * copies + copy];
    if (sum > 0) atomicAdd(histogram + bin, sum);
  }
}

int device_attribute(const Queue& queue, cudaDeviceAttr attribute) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, attribute, queue.device().index), "cudaDeviceGetAttribute");
  return value;
}

class CudaEngine : public Engine {
 public:
  CudaEngine(const Job& job, const std::string& cache_folder, const Queue& queue)
      : queue_(queue),
        kernel_(WavefrontKernel::of(job, device_attribute(queue, cudaDevAttrMaxSharedMemoryPerBlockOptin))),
        cache_folder_(cache_folder),
        processors_(device_attribute(queue, cudaDevAttrMultiProcessorCount)) {
    const cuda::DeviceScope scope(queue.device());
    device_weights_ = Array<float, 1>({std::max<std::int64_t>(job.weights.values.size(), 1)}, queue);
    if (!job.weights.values.empty()) upload(device_weights_, job.weights.values.data(), job.weights.values.size());
    device_levels_ = Array<float, 1>({2 * std::ssize(job.levels.re)}, queue);
    boundaries_ = Array<float, 1>({std::max<std::int64_t>(std::ssize(job.levels.boundary), 1)}, queue);
    boundary_codes_ = Array<std::uint8_t, 1>({std::max<std::int64_t>(std::ssize(job.levels.code), 1)}, queue);
    upload(boundaries_, job.levels.boundary.data(), std::ssize(job.levels.boundary));
    upload(boundary_codes_, job.levels.code.data(), std::ssize(job.levels.code));
    words_ = Array<unsigned long long, 1>({bins + 2}, queue);
    reset_words(cuda::stream_of(queue));
    rows_packed_ = job.shape[1] % 8 == 0 && (job.hogels[1] == 1 || job.side % 8 == 0);
    set_arguments(job);
    (void)find_function(job, false, rows_packed_);
    if (kernel_.pattern.taps > 0) make_borders(job);
    queue.synchronize();
  }

  void set_weights(const Job& job) override {
    const cuda::DeviceScope scope(queue_.device());
    // Behind the kernels that read the previous weights. The call has read the host's memory when it returns.
    if (!job.weights.values.empty()) upload(device_weights_, job.weights.values.data(), job.weights.values.size());
  }

  ScaleFound scale(View<const Complex, 2> field, Modulation modulation, double share) override {
    const cuda::DeviceScope scope(queue_.device());
    const cudaStream_t stream = cuda::stream_of(queue_);
    const std::int64_t count = field.size();
    auto rank =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count))), 1, count);
    std::uint32_t prefix = 0;
    constexpr std::size_t shared_bytes = sizeof(unsigned) * bins * copies;
    cuda::check(cudaFuncSetAttribute(count_moduli, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
                "cudaFuncSetAttribute");
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>(3 * processors_, (count + counting_threads - 1) / counting_threads));
    int upper = 32;
    for (const int shift : {21, 10, 0}) {
      reset_words(stream);
      count_moduli<<<blocks, counting_threads, shared_bytes, stream>>>(reinterpret_cast<const float2*>(field.data()),
                                                                       count, modulation == Modulation::phase, shift,
                                                                       upper, prefix, words_.data() + 2, words_.data());
      cuda::check_launch("count_moduli");
      std::array<unsigned long long, bins + 2> host{};
      cuda::check(cudaMemcpyAsync(host.data(), words_.data(), sizeof(host), cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync");
      queue_.synchronize();
      if (host[0] != none) return {0, static_cast<std::int64_t>(host[0])};
      std::uint32_t bin = 0;
      for (; bin + 1 < bins && static_cast<std::int64_t>(host[bin + 2]) < rank; ++bin)
        rank -= static_cast<std::int64_t>(host[bin + 2]);
      prefix = prefix << (upper - shift) | bin;
      upper = shift;
    }
    return {modulus_of(prefix), -1};
  }

  void diffuse(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) override {
    const cuda::DeviceScope scope(queue_.device());
    const cudaStream_t stream = cuda::stream_of(queue_);
    reset_words(stream);
    WavefrontParameters arguments = arguments_;
    arguments.field = reinterpret_cast<const float*>(field.data());
    arguments.codes = codes.data();
    arguments.ny = job.part.rows;
    arguments.hogels = static_cast<int>(job.end_hogel() - job.first_hogel());
    if (arguments.many_sets != 0) arguments.weights += job.first_hogel() * kernel_.pattern.taps;
    arguments.scale = job.scale;
    // The field stays unscaled if nothing can overflow or underflow: multiplication by a power of two changes no
    // rounding.
    const bool scaled = std::abs(std::ilogb(job.unit)) > 40;
    arguments.unit = scaled ? job.unit : 1;
    arguments.radius = scaled || job.levels.modulation == Modulation::amplitude ? job.radius : job.scale;
    const float factor = arguments.radius / job.radius;
    std::vector<float> shown;
    for (std::size_t i = 0; i < job.level_re.size(); ++i) {
      shown.push_back(job.level_re[i] * factor);
      shown.push_back(job.level_im[i] * factor);
    }
    upload(device_levels_, shown.data(), std::ssize(shown));
    arguments.epoch = next_epoch(stream);
    const bool packed = rows_packed_ && reinterpret_cast<std::uintptr_t>(codes.data()) % 8 == 0;
    const Function& function = find_function(job, scaled, packed);
    void* parameters[] = {&arguments};
    const bool wave = kernel_.pattern.taps > 0;
    const dim3 grid(wave ? static_cast<unsigned>(processors_) : cuda::blocks_for(field.size(), 256 * 16));
    cuda::check(cudaLaunchKernel(function.kernel, grid, dim3(wave ? 32 * kernel_.warps : 256), parameters,
                                 wave ? static_cast<std::size_t>(kernel_.shared_bytes()) : 0, stream),
                "error diffusion");
  }

  std::int64_t broken() override {
    const cuda::DeviceScope scope(queue_.device());
    unsigned long long first = none;
    cuda::check(cudaMemcpyAsync(&first, words_.data(), sizeof(first), cudaMemcpyDeviceToHost, cuda::stream_of(queue_)),
                "cudaMemcpyAsync");
    queue_.synchronize();
    return first == none ? -1 : static_cast<std::int64_t>(first);
  }

 private:
  struct Function {
    cuda::KernelLibrary library;
    const void* kernel = nullptr;
  };

  template <class T>
  void upload(Array<T, 1>& to, const T* from, std::int64_t count) {
    if (count == 0) return;
    cuda::check(cudaMemcpyAsync(to.data(), from, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyHostToDevice,
                                cuda::stream_of(queue_)),
                "cudaMemcpyAsync");
  }

  /// Resets the broken pixel, the ticket and the histogram.
  void reset_words(cudaStream_t stream) {
    cuda::check(cudaMemsetAsync(words_.data(), 0xFF, sizeof(none), stream), "cudaMemsetAsync");
    cuda::check(cudaMemsetAsync(words_.data() + 1, 0, (bins + 1) * sizeof(none), stream), "cudaMemsetAsync");
  }

  /// Returns the kernel, compiled at its first use.
  const Function& find_function(const Job& job, bool scaled, bool packed) {
    Function& function = functions_[2 * static_cast<std::size_t>(scaled) + static_cast<std::size_t>(packed)];
    if (function.kernel != nullptr) return function;
    function.library = cuda::load_kernels(kernel_.source(job, scaled, packed), queue_.device(), cache_folder_);
    function.kernel = function.library.kernel(kernel_.name());
    if (kernel_.pattern.taps == 0) return function;
    const auto shared_bytes = static_cast<int>(kernel_.shared_bytes());
    cuda::check(cudaFuncSetAttribute(function.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
                "cudaFuncSetAttribute");
    return function;
  }

  void make_borders(const Job& job) {
    const auto& pattern = kernel_.pattern;
    const std::int64_t width = std::min(job.side, job.shape[1]);
    const std::int64_t height = std::min(job.side, job.shape[0]);
    arguments_.groups = static_cast<int>((height + 31) / 32);
    arguments_.chunks = static_cast<int>((width + 31 * pattern.lag + pattern.chunk - 1) / pattern.chunk);
    const std::int64_t numbers =
        std::int64_t{4} * pattern.above * pattern.chunk * arguments_.chunks * element_count(job.hogels_at_once);
    borders_ = Array<unsigned long long, 1>({std::max<std::int64_t>(arguments_.groups > 1 ? numbers : 0, 1)}, queue_);
    cuda::check(cudaMemsetAsync(borders_.data(), 0, borders_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    arguments_.borders = borders_.data();
  }

  /// Returns an epoch whose tags no number in the borders has.
  unsigned next_epoch(cudaStream_t stream) {
    const auto groups = static_cast<unsigned>(arguments_.groups);
    if (epoch_ > std::numeric_limits<unsigned>::max() - 2 * groups - 1) {
      cuda::check(cudaMemsetAsync(borders_.data(), 0, borders_.bytes(), stream), "cudaMemsetAsync");
      epoch_ = 0;
    }
    const unsigned epoch = epoch_;
    epoch_ += groups;
    return epoch;
  }

  void set_arguments(const Job& job) {
    auto& arguments = arguments_;
    arguments.weights = device_weights_.data();
    arguments.shown = device_levels_.data();
    arguments.boundaries = boundaries_.data();
    arguments.boundary_codes = boundary_codes_.data();
    arguments.boundary_count = static_cast<int>(job.levels.boundary.size());
    arguments.broken = words_.data();
    arguments.ticket = reinterpret_cast<int*>(words_.data() + 1);
    arguments.one = 1;
    arguments.nx = job.shape[1];
    arguments.side = static_cast<int>(job.side);
    arguments.hogels_across = static_cast<int>(job.hogels[1]);
    arguments.many_sets = job.weights.values.shape()[0] > 1 ? 1 : 0;
    arguments.set_side = static_cast<int>(job.set_side);
    arguments.sets_across = static_cast<int>(job.sets_across);
  }

  Queue queue_;
  WavefrontKernel kernel_;
  std::string cache_folder_;
  std::array<Function, 4> functions_;
  int processors_;
  Array<float, 1> device_weights_;
  Array<float, 1> device_levels_;
  Array<float, 1> boundaries_;
  Array<std::uint8_t, 1> boundary_codes_;
  Array<unsigned long long, 1> words_;  ///< the first broken pixel, the next ticket, a histogram
  Array<unsigned long long, 1> borders_;
  WavefrontParameters arguments_{};
  unsigned epoch_ = 0;
  bool rows_packed_ = false;
};

}  // namespace

std::unique_ptr<Engine> cuda_engine(const Job& job, const std::string& cache_folder, const Queue& queue) {
  return std::make_unique<CudaEngine>(job, cache_folder, queue);
}

}  // namespace holotone::diffusion
