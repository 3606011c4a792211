// Zero-padded fields: FFT, product with a transfer function, FFT back (padded_line_cuda.cuh).
//
// The padded field never exists: rows are transformed out of the field, columns are transformed, multiplied and
// transformed back without a visit to memory, rows return into the field. Memory is the floor: each of three passes
// reads and writes once.
//
// Kernels are compiled for the lengths below, in 17 s. One kernel for all lengths would divide by radices while it
// runs; one compiled when a plan is made would cost its first run a second.
#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/padded_filter_cuda.hpp>
#include <holotone/fft/padded_kernels_cuda.cuh>
#include <numbers>
#include <type_traits>
#include <vector>

namespace holotone::fft {
namespace {

using namespace lines;

/// Kernels of one length.
struct Kernels {
  void (*rows_forward)(const float2*, float2*, const float4*, RowShape);
  void (*rows_back)(const float2*, float2*, float*, const float4*, RowShape);
  using Columns = void (*)(const float2*, float2*, const float4*, ColumnShape, Factors);
  using Pair = void (*)(const float2*, float2*, const float4*, const float2*, RowShape);
  using ColumnPair = void (*)(const float2*, float2*, const float4*, const float2*, ColumnShape, Factors);
  Columns columns, columns_adjoint;
  Pair rows_back_pair, rows_join;
  ColumnPair columns_split, columns_join;
  int length, a, b, c;
  int stored;                                    ///< columns of the values of H, of each half
  int halves, lines, threads;                    ///< of a block
  int shared_bytes, transfer_bytes, kept_bytes;  ///< shared memory of transforms, values of H, kept values
};

template <int A, int B, int C, int Threads, int Group>
Kernels make_kernels() {
  using P = Plan<A, B, C, Threads, Group, Threads <= 128 ? 2 : 1>;
  return {&rows_forward<P>,
          &rows_back<P>,
          &columns<P, false>,
          &columns<P, true>,
          &rows_back_pair<P>,
          &rows_join<P>,
          &columns_split<P>,
          &columns_join<P>,
          P::length,
          A,
          B,
          C,
          stored_pitch<P>,
          P::halves,
          P::lines,
          P::block_threads,
          P::shared_bytes,
          transfer_bytes<P>,
          kept_bytes<P>};
}

/// Halves of padded lines that have kernels: the sides of panels and displays, and one short line.
const std::vector<Kernels>& all_kernels() {
  static const std::vector<Kernels> all = {
      make_kernels<4, 4, 4, 16, 4>(),       // 64
      make_kernels<8, 8, 8, 32, 4>(),       // 512
      make_kernels<10, 4, 15, 64, 4>(),     // 600
      make_kernels<9, 16, 5, 80, 8>(),      // 720
      make_kernels<12, 8, 8, 64, 4>(),      // 768
      make_kernels<10, 16, 5, 80, 8>(),     // 800
      make_kernels<16, 8, 8, 64, 4>(),      // 1024
      make_kernels<9, 8, 15, 120, 8>(),     // 1080
      make_kernels<9, 16, 8, 128, 8>(),     // 1152
      make_kernels<10, 8, 15, 120, 8>(),    // 1200
      make_kernels<10, 16, 8, 128, 8>(),    // 1280
      make_kernels<10, 16, 10, 160, 16>(),  // 1600
      make_kernels<15, 16, 8, 128, 8>(),    // 1920
      make_kernels<16, 16, 8, 128, 8>(),    // 2048
      make_kernels<9, 16, 15, 240, 16>(),   // 2160
      make_kernels<15, 16, 10, 240, 16>(),  // 2400
      make_kernels<10, 16, 16, 256, 16>(),  // 2560
      make_kernels<15, 16, 16, 256, 16>(),  // 3840
      make_kernels<16, 16, 16, 256, 16>(),  // 4096
  };
  return all;
}

const Kernels* kernels_for(std::int64_t padded) {
  for (const Kernels& kernels : all_kernels()) {
    if (2 * kernels.length == padded) return &kernels;
  }
  return nullptr;
}

/// Twiddles of a length, in float64.
std::vector<std::complex<float>> twiddles_of(const Kernels& kernels) {
  std::vector<std::complex<float>> all;
  const auto push_root = [&](int n) {
    const double angle = -std::numbers::pi * n / kernels.length;
    all.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  };
  const int tail = kernels.b * kernels.c;
  for (int j = 0; j < tail; ++j) {
    push_root(2 * j);
    push_root(8 * j);
  }
  for (int i = 0; i < kernels.c; ++i) {
    push_root(2 * kernels.a * i);
    push_root(8 * kernels.a * i);
  }
  for (int j = 0; j < tail; ++j) push_root(j);
  return all;
}

Array<std::complex<float>, 1> device_twiddles(const Kernels& kernels, const Queue& queue) {
  const auto host = twiddles_of(kernels);
  return copy_of(View<const std::complex<float>, 1>(host.data(), {std::ssize(host)}), queue.device());
}

/// Frequency 2 k + h of place p of a half.
int frequency_at(const Kernels& kernels, int place, int half) {
  const int b = place % kernels.b;
  const int a = place / kernels.b % kernels.a;
  const int c = place / (kernels.a * kernels.b);
  return 2 * (a + kernels.a * (b + kernels.b * c)) + half;
}

Array<int, 1> to_device(const std::vector<int>& host, const Queue& queue) {
  return copy_of(View<const int, 1>(host.data(), {std::ssize(host)}), queue.device());
}

Array<int, 1> column_frequencies(const Kernels& kernels, const Queue& queue) {
  std::vector<int> host;
  for (int half = 0; half < 2; ++half) {
    for (int place = 0; place < kernels.length; ++place) host.push_back(frequency_at(kernels, place, half));
  }
  return to_device(host, queue);
}

Array<int, 1> stored_frequencies(const Kernels& kernels, const Queue& queue) {
  std::vector<int> host;
  const int block_kernels = (kernels.c + 1) / 2 * kernels.a * kernels.b;
  for (int half = 0; half < 2; ++half) {
    for (int place = 0; place < kernels.stored; ++place) {
      // Behind the even frequencies stands L / 2 = M.
      const int frequency = place < block_kernels ? frequency_at(kernels, place, half) : kernels.length;
      host.push_back(std::min(frequency, 2 * kernels.length - frequency));
    }
  }
  return to_device(host, queue);
}

/// Conjugates of factors of all frequencies, in the order of the places.
Array<std::complex<float>, 1> conjugated_places(const Kernels& kernels, std::span<const std::complex<float>> factors,
                                                const Queue& queue) {
  std::vector<std::complex<float>> host;
  for (int half = 0; half < 2; ++half) {
    for (int place = 0; place < kernels.length; ++place) {
      host.push_back(std::conj(factors[static_cast<std::size_t>(frequency_at(kernels, place, half))]));
    }
  }
  return copy_of(View<const std::complex<float>, 1>(host.data(), {std::ssize(host)}), queue.device());
}

int column_bytes(const Kernels& kernels) { return kernels.shared_bytes + kernels.transfer_bytes; }
int pair_bytes(const Kernels& kernels) { return kernels.shared_bytes + kernels.kept_bytes; }

int device_attribute(Device device, cudaDeviceAttr attribute) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, attribute, device.index), "cudaDeviceGetAttribute");
  return value;
}

/// The kernels run as code for Hopper or later, which has clusters and waits for earlier kernels itself. A later device
/// may run code of an earlier one.
bool has_hopper_code(const Kernels& kernels) {
  cudaFuncAttributes attributes{};
  cuda::check(cudaFuncGetAttributes(&attributes, kernels.rows_forward), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90;
}

const float2* as_float2(const CudaPaddedFilter::Complex* values) { return reinterpret_cast<const float2*>(values); }

class Filter final : public CudaPaddedFilter {
 public:
  Filter(Shape<2> field, const Kernels& rows, const Kernels& columns, const Queue& queue, Options options)
      : field_(field),
        rows_(rows),
        columns_(columns),
        queue_(queue),
        batch_(options.batch),
        begin_early_(has_hopper_code(rows)),
        twiddles_x_(device_twiddles(rows, queue)),
        twiddles_y_(device_twiddles(columns, queue)),
        column_frequencies_(column_frequencies(rows, queue)),
        stored_frequencies_(stored_frequencies(columns, queue)),
        spectrum_({options.batch * 2 * rows.length * strip_rows(static_cast<int>(field[0]))}, queue) {
    const bool four = !options.along_y.empty();
    if (four) {
      along_y_ = conjugated_places(columns, options.along_y, queue);
      along_x_ = conjugated_places(rows, options.along_x, queue);
    }
    if (four) product_ = Array<Complex, 1>({2 * spectrum_.size()}, queue);
  }

  [[nodiscard]] Shape<2> transfer_shape() const override { return {rows_.length + 1, 2 * columns_.stored}; }
  [[nodiscard]] View<const int, 1> transfer_frequencies() const override { return stored_frequencies_.view(); }

  void forward(const Complex* input) override {
    const cuda::DeviceScope scope(queue_.device());
    launch("padded filter rows", rows_.rows_forward, row_blocks(batch_), rows_, rows_.shared_bytes, as_float2(input),
           strips(spectrum_), twiddles(twiddles_x_), row_shape());
  }

  void apply(const Complex* transfer, Complex* field, float* intensity, bool keep) override {
    const cuda::DeviceScope scope(queue_.device());
    if (keep && product_.empty()) product_ = Array<Complex, 1>(spectrum_.shape(), queue_);
    filter_into(keep ? product_ : spectrum_, columns_.columns, transfer, field, intensity);
  }

  void adjoint(const Complex* transfer, const Complex* field, Complex* result) override {
    forward(field);
    const cuda::DeviceScope scope(queue_.device());
    filter_into(spectrum_, columns_.columns_adjoint, transfer, result, nullptr);
  }

  void apply_four(const Complex* transfer, Complex* fields) override {
    const cuda::DeviceScope scope(queue_.device());
    launch("padded filter columns, split", columns_.columns_split, column_blocks(), columns_, pair_bytes(columns_),
           strips(spectrum_), strips(product_), twiddles(twiddles_y_), as_float2(along_y_.data()), column_shape(),
           factors(transfer));
    launch("padded filter rows back, pairs", rows_.rows_back_pair, row_blocks(2), rows_, pair_bytes(rows_),
           strips(product_), reinterpret_cast<float2*>(fields), twiddles(twiddles_x_), as_float2(along_x_.data()),
           row_shape());
  }

  void adjoint_four(const Complex* transfer, const Complex* fields, Complex* result) override {
    const cuda::DeviceScope scope(queue_.device());
    launch("padded filter rows, joined", rows_.rows_join, row_blocks(2), rows_, pair_bytes(rows_), as_float2(fields),
           strips(product_), twiddles(twiddles_x_), as_float2(along_x_.data()), row_shape());
    launch("padded filter columns, joined", columns_.columns_join, column_blocks(), columns_, pair_bytes(columns_),
           strips(product_), strips(spectrum_), twiddles(twiddles_y_), as_float2(along_y_.data()), column_shape(),
           factors(transfer));
    rows_back_from(spectrum_, result, nullptr);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return twiddles_x_.bytes() + twiddles_y_.bytes() + column_frequencies_.bytes() + stored_frequencies_.bytes() +
           along_y_.bytes() + along_x_.bytes() + spectrum_.bytes() + product_.bytes();
  }

 private:
  /// `blocks`: of whole lines.
  template <class... Parameters>
  void launch(const char* name, void (*kernel)(Parameters...), dim3 blocks, const Kernels& kernels, int shared_bytes,
              std::type_identity_t<Parameters>... arguments) const {
    const unsigned of_a_line = 2 / static_cast<unsigned>(kernels.halves);
    std::array<cudaLaunchAttribute, 2> attributes{};
    unsigned count = 0;
    if (of_a_line > 1) {
      attributes[count].id = cudaLaunchAttributeClusterDimension;
      attributes[count++].val.clusterDim = {of_a_line, 1, 1};
    }
    if (begin_early_) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = {blocks.x * of_a_line, blocks.y, blocks.z};
    config.blockDim = dim3(static_cast<unsigned>(kernels.threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
    config.stream = cuda::stream_of(queue_);
    config.attrs = attributes.data();
    config.numAttrs = count;
    cuda::check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
  }

  [[nodiscard]] RowShape row_shape() const { return {static_cast<int>(field_[0]), static_cast<int>(field_[1])}; }
  [[nodiscard]] ColumnShape column_shape() const { return {static_cast<int>(field_[0]), 2 * rows_.length}; }
  [[nodiscard]] dim3 row_blocks(std::int64_t batch) const {
    return {cuda::blocks_for(field_[0], rows_.lines), static_cast<unsigned>(batch), 1};
  }
  [[nodiscard]] dim3 column_blocks() const {
    return {static_cast<unsigned>(batch_), static_cast<unsigned>(2 * rows_.length / columns_.lines), 1};
  }
  [[nodiscard]] Factors factors(const Complex* transfer) const {
    return {as_float2(transfer), column_frequencies_.data()};
  }

  /// The columns of the spectrum into `target`, and the rows back from there.
  void filter_into(Array<Complex, 1>& target, Kernels::Columns kernel, const Complex* transfer, Complex* field,
                   float* intensity) {
    launch("padded filter columns", kernel, column_blocks(), columns_, column_bytes(columns_), strips(spectrum_),
           strips(target), twiddles(twiddles_y_), column_shape(), factors(transfer));
    rows_back_from(target, field, intensity);
  }
  void rows_back_from(Array<Complex, 1>& source, Complex* field, float* intensity) {
    launch("padded filter rows back", rows_.rows_back, row_blocks(batch_), rows_, rows_.shared_bytes, strips(source),
           reinterpret_cast<float2*>(field), intensity, twiddles(twiddles_x_), row_shape());
  }
  static float2* strips(Array<Complex, 1>& values) { return reinterpret_cast<float2*>(values.data()); }
  static const float4* twiddles(const Array<Complex, 1>& values) {
    return reinterpret_cast<const float4*>(values.data());
  }

  Shape<2> field_;
  Kernels rows_;
  Kernels columns_;
  Queue queue_;
  std::int64_t batch_;
  bool begin_early_;  ///< a kernel is launched before the last one has ended, and waits for it
  Array<Complex, 1> twiddles_x_;
  Array<Complex, 1> twiddles_y_;
  Array<int, 1> column_frequencies_;
  Array<int, 1> stored_frequencies_;
  Array<Complex, 1> along_y_;  ///< conjugated, by places
  Array<Complex, 1> along_x_;
  Array<Complex, 1> spectrum_;
  Array<Complex, 1> product_;  ///< of the spectrum and a transfer function, where the spectrum is kept
};

/// Lets a kernel use its shared memory, of which a device gives a block more than 48 KB on request only.
template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
}

}  // namespace

std::unique_ptr<CudaPaddedFilter> CudaPaddedFilter::make(Shape<2> field, Shape<2> padded, const Queue& queue,
                                                         Options options) {
  if (padded[0] < 2 * field[0] || padded[1] < 2 * field[1]) return nullptr;
  const Kernels* const rows = kernels_for(padded[1]);
  const Kernels* const columns = kernels_for(padded[0]);
  if (rows == nullptr || columns == nullptr) return nullptr;
  const cuda::DeviceScope scope(queue.device());
  const int room = device_attribute(queue.device(), cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const bool four = !options.along_y.empty();
  const int needed = std::max(
      {rows->shared_bytes, column_bytes(*columns), four ? pair_bytes(*rows) : 0, four ? pair_bytes(*columns) : 0});
  if (needed > room) return nullptr;
  if (std::min(rows->halves, columns->halves) == 1 && !has_hopper_code(*rows)) return nullptr;
  allow_shared(rows->rows_forward, rows->shared_bytes);
  allow_shared(rows->rows_back, rows->shared_bytes);
  allow_shared(columns->columns, column_bytes(*columns));
  allow_shared(columns->columns_adjoint, column_bytes(*columns));
  if (four) {
    allow_shared(rows->rows_back_pair, pair_bytes(*rows));
    allow_shared(rows->rows_join, pair_bytes(*rows));
    allow_shared(columns->columns_split, pair_bytes(*columns));
    allow_shared(columns->columns_join, pair_bytes(*columns));
  }
  return std::make_unique<Filter>(field, *rows, *columns, queue, options);
}

}  // namespace holotone::fft
