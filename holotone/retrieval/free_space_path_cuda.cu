#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/fft.hpp>
#include <holotone/fft/padded_filter_cuda.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <holotone/optics/reconstruction_engine.hpp>
#include <holotone/retrieval/light_factors.hpp>
#include <holotone/retrieval/light_path_cuda.hpp>
#include <holotone/retrieval/retrieval_math.h>
#include <optional>

namespace holotone::retrieval {
namespace {

using cuda::as_float2;
using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;
using propagation::Transfer;

/// Aperture of the pixels at the frequencies 0 to half of the padded array.
struct Gains {
  const float* down = nullptr;
  const float* across = nullptr;
};

/// H of a CudaPaddedFilter: a row for each frequency along x, `frequencies` along y.
__global__ void fill_filter_kernel(float2* __restrict__ table, const int* __restrict__ frequencies, int rows,
                                   int columns, Transfer t, Gains gains) {
  const std::int64_t column = thread_index();
  if (column >= columns) return;
  const int ky = frequencies[column];
  for (std::int64_t kx = blockIdx.y; kx < rows; kx += gridDim.y) {
    float2& h = table[kx * columns + column];
    light_transfer(t, ky, kx, gains.down[ky] * gains.across[kx], h.x, h.y);
  }
}

/// A quarter of H: rows of frequencies along y.
__global__ void fill_quarter_kernel(float2* __restrict__ table, int rows, int columns, Transfer t, Gains gains) {
  const std::int64_t kx = thread_index();
  if (kx >= columns) return;
  for (std::int64_t ky = blockIdx.y; ky < rows; ky += gridDim.y) {
    float2& h = table[ky * columns + kx];
    light_transfer(t, ky, kx, gains.down[ky] * gains.across[kx], h.x, h.y);
  }
}

/// Carries light through the planes' transfer functions.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void forward(const Complex* panel) = 0;
  virtual void receive(std::size_t plane, std::size_t positions, Complex* pictures) = 0;
  virtual void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) = 0;
};

/// What both carriers need.
struct Setting {
  explicit Setting(const PhaseRetrievalOptions& options, const Queue& own_queue)
      : queue(own_queue),
        field(options.grid.shape()),
        padded(propagation::angular_spectrum_layout(propagation_options(options)).padded),
        gains_down(to_device(aperture_gains(options.response, padded[0]), queue)),
        gains_across(to_device(aperture_gains(options.response, padded[1]), queue)) {
    for (const auto& plane : options.planes) {
      transfers.push_back(propagation::make_transfer(propagation_options(options), -plane.distance_m));
    }
  }
  [[nodiscard]] Gains gains() const { return {gains_down.data(), gains_across.data()}; }
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue); }

  Queue queue;
  Shape<2> field;
  Shape<2> padded;
  Array<float, 1> gains_down;
  Array<float, 1> gains_across;
  std::vector<Transfer> transfers;
};

/// In three passes over memory, where there is a CudaPaddedFilter of the size.
class FilterCarrier final : public Carrier {
 public:
  FilterCarrier(const Setting& setting, std::unique_ptr<fft::CudaPaddedFilter> filter) : filter_(std::move(filter)) {
    const auto [rows, columns] = filter_->transfer_shape();
    for (const Transfer& transfer : setting.transfers) {
      auto& table = tables_.emplace_back(filter_->transfer_shape(), setting.queue);
      fill_filter_kernel<<<grid_over(columns, rows), threads, 0, setting.stream()>>>(
          as_float2(table.data()), filter_->transfer_frequencies().data(), static_cast<int>(rows),
          static_cast<int>(columns), transfer, setting.gains());
      cuda::check_launch("retrieval transfer table");
    }
  }

  void forward(const Complex* panel) override { filter_->forward(panel); }
  void receive(std::size_t plane, std::size_t positions, Complex* pictures) override {
    if (positions == 1) {
      filter_->apply(tables_[plane].data(), pictures, nullptr, true);
    } else {
      filter_->apply_four(tables_[plane].data(), pictures);
    }
  }
  void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) override {
    if (positions == 1) {
      filter_->adjoint(tables_[plane].data(), pictures, panel);
    } else {
      filter_->adjoint_four(tables_[plane].data(), pictures, panel);
    }
  }

 private:
  std::unique_ptr<fft::CudaPaddedFilter> filter_;
  std::vector<Array<Complex, 2>> tables_;
};

__global__ void pad_kernel(const float2* __restrict__ field, float2* __restrict__ padded, int ny, int nx, int ly,
                           int lx) {
  const std::int64_t x = thread_index();
  if (x >= lx) return;
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    padded[y * lx + x] = x < nx && y < ny ? field[y * nx + x] : float2{0, 0};
  }
}

__global__ void crop_kernel(const float2* __restrict__ padded, float2* __restrict__ field, int ny, int nx, int lx) {
  const std::int64_t x = thread_index();
  if (x >= nx) return;
  for (std::int64_t y = blockIdx.y; y < ny; y += gridDim.y) field[y * nx + x] = padded[y * lx + x];
}

/// H at a frequency, moved by the factors of a position.
__device__ __forceinline__ float2 factor_at(const float2* quarter, const float2* along_y, const float2* along_x,
                                            std::int64_t y, std::int64_t x, int ly, int lx) {
  const float2 h = quarter[min(y, ly - y) * (lx / 2 + 1) + min(x, lx - x)];
  return product(h, product(along_y[y], along_x[x]));
}

__global__ void multiply_kernel(const float2* __restrict__ spectrum, float2* __restrict__ result,
                                const float2* __restrict__ quarter, const float2* __restrict__ along_y,
                                const float2* __restrict__ along_x, int ly, int lx) {
  const std::int64_t x = thread_index();
  if (x >= lx) return;
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    result[y * lx + x] = product(spectrum[y * lx + x], factor_at(quarter, along_y, along_x, y, x, ly, lx));
  }
}

__global__ void add_conjugated_kernel(const float2* __restrict__ spectrum, float2* __restrict__ sum, bool is_first,
                                      const float2* __restrict__ quarter, const float2* __restrict__ along_y,
                                      const float2* __restrict__ along_x, int ly, int lx) {
  const std::int64_t x = thread_index();
  if (x >= lx) return;
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    const float2 h = factor_at(quarter, along_y, along_x, y, x, ly, lx);
    const float2 value = product(spectrum[y * lx + x], {h.x, -h.y});
    const float2 before = is_first ? float2{0, 0} : sum[y * lx + x];
    sum[y * lx + x] = {before.x + value.x, before.y + value.y};
  }
}

/// Of any size, by the FFT library on padded arrays.
class FftCarrier final : public Carrier {
 public:
  explicit FftCarrier(const Setting& setting)
      : queue_(setting.queue),
        ny_(static_cast<int>(setting.field[0])),
        nx_(static_cast<int>(setting.field[1])),
        ly_(static_cast<int>(setting.padded[0])),
        lx_(static_cast<int>(setting.padded[1])),
        spectrum_(setting.padded, queue_),
        work_(setting.padded, queue_),
        fft_(setting.padded, queue_, {.scale_inverse = false, .first_row = 0, .rows = ny_}) {
    for (std::size_t half = 0; half < 2; ++half) {
      along_y_[half] = to_device(shift_factors(ly_, 0.5 * static_cast<double>(half)), queue_);
      along_x_[half] = to_device(shift_factors(lx_, 0.5 * static_cast<double>(half)), queue_);
    }
    for (const Transfer& transfer : setting.transfers) {
      const int rows = ly_ / 2 + 1;
      const int columns = lx_ / 2 + 1;
      auto& quarter = quarters_.emplace_back(Shape<2>{rows, columns}, queue_);
      fill_quarter_kernel<<<grid_over(columns, rows), threads, 0, stream()>>>(as_float2(quarter.data()), rows, columns,
                                                                              transfer, setting.gains());
      cuda::check_launch("retrieval transfer function");
    }
  }

  void forward(const Complex* panel) override {
    pad(panel, spectrum_);
    fft_.execute(spectrum_.view(), FftDirection::forward);
  }
  void receive(std::size_t plane, std::size_t positions, Complex* pictures) override {
    for (std::size_t position = 0; position < positions; ++position) {
      multiply_kernel<<<grid_over(lx_, ly_), threads, 0, stream()>>>(
          as_float2(spectrum_.data()), as_float2(work_.data()), as_float2(quarters_[plane].data()), along_y(position),
          along_x(position), ly_, lx_);
      cuda::check_launch("retrieval transfer");
      fft_.execute(work_.view(), FftDirection::inverse);
      crop(work_, pictures + static_cast<std::int64_t>(position) * ny_ * nx_);
    }
  }
  void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) override {
    for (std::size_t position = 0; position < positions; ++position) {
      pad(pictures + static_cast<std::int64_t>(position) * ny_ * nx_, work_);
      fft_.execute(work_.view(), FftDirection::forward);
      add_conjugated_kernel<<<grid_over(lx_, ly_), threads, 0, stream()>>>(
          as_float2(work_.data()), as_float2(spectrum_.data()), position == 0, as_float2(quarters_[plane].data()),
          along_y(position), along_x(position), ly_, lx_);
      cuda::check_launch("retrieval transfer back");
    }
    fft_.execute(spectrum_.view(), FftDirection::inverse);
    crop(spectrum_, panel);
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] const float2* along_y(std::size_t position) const {
    return as_float2(along_y_[static_cast<std::size_t>(half_pixels[position][0])].data());
  }
  [[nodiscard]] const float2* along_x(std::size_t position) const {
    return as_float2(along_x_[static_cast<std::size_t>(half_pixels[position][1])].data());
  }
  void pad(const Complex* field, Array<Complex, 2>& padded) {
    pad_kernel<<<grid_over(lx_, ly_), threads, 0, stream()>>>(as_float2(field), as_float2(padded.data()), ny_, nx_, ly_,
                                                              lx_);
    cuda::check_launch("retrieval padding");
  }
  void crop(const Array<Complex, 2>& padded, Complex* field) {
    crop_kernel<<<grid_over(nx_, ny_), threads, 0, stream()>>>(as_float2(padded.data()), as_float2(field), ny_, nx_,
                                                               lx_);
    cuda::check_launch("retrieval cropping");
  }

  Queue queue_;
  int ny_, nx_, ly_, lx_;
  Array<Complex, 2> spectrum_;  ///< of the panel's light; then sums of the derivatives' spectra
  Array<Complex, 2> work_;
  FftPlan fft_;
  std::array<Array<Complex, 1>, 2> along_y_;  ///< by no and by half a pixel
  std::array<Array<Complex, 1>, 2> along_x_;
  std::vector<Array<Complex, 2>> quarters_;
};

std::unique_ptr<Carrier> make_carrier(const PhaseRetrievalOptions& options, const Queue& queue) {
  const Setting setting(options, queue);
  const auto along_y = shift_factors(setting.padded[0], 0.5);
  const auto along_x = shift_factors(setting.padded[1], 0.5);
  auto filter =
      fft::CudaPaddedFilter::make(setting.field, setting.padded, queue, {.along_y = along_y, .along_x = along_x});
  if (filter) return std::make_unique<FilterCarrier>(setting, std::move(filter));
  return std::make_unique<FftCarrier>(setting);
}

/// Band-limited angular spectrum, through the planes' pupils.
class FreeSpacePath final : public CudaLightPath {
 public:
  FreeSpacePath(const PhaseRetrievalOptions& options, const Queue& queue)
      : queue_(queue), shape_(options.grid.shape()), carrier_(make_carrier(options, queue)) {
    for (const auto& plane : options.planes) {
      pupils_.push_back(plane.pupil ? reconstruction::pupil_cuda(options.grid, *plane.pupil, queue) : nullptr);
      if (plane.pupil && seen_.empty()) seen_ = Array<Complex, 2>(shape_, queue);
    }
  }

  void send(const Complex* panel) override {
    panel_ = panel;
    sent_through_.reset();
  }
  void receive(std::size_t plane, std::size_t positions, Complex* pictures) override {
    auto* const pupil = pupils_[plane].get();
    if (sent_through_ != pupil) {
      if (pupil != nullptr) pupil->apply({panel_, shape_, queue_.device()}, seen_.view());
      carrier_->forward(pupil != nullptr ? seen_.data() : panel_);
      sent_through_ = pupil;
    }
    carrier_->receive(plane, positions, pictures);
  }
  void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) override {
    carrier_->back(plane, positions, pictures, panel);
    // A pupil is its own adjoint.
    const View<Complex, 2> light(panel, shape_, queue_.device());
    if (pupils_[plane]) pupils_[plane]->apply(light, light);
  }

 private:
  Queue queue_;
  Shape<2> shape_;
  std::unique_ptr<Carrier> carrier_;
  std::vector<reconstruction::PupilPointer> pupils_;  ///< one a plane, or null
  Array<Complex, 2> seen_;                            ///< light of the panel through a pupil
  const Complex* panel_ = nullptr;
  std::optional<reconstruction::PupilEngine*> sent_through_;  ///< through which the carrier has the light
};

}  // namespace

std::unique_ptr<CudaLightPath> free_space_path_cuda(const PhaseRetrievalOptions& options, const Queue& queue) {
  return std::make_unique<FreeSpacePath>(options, queue);
}

}  // namespace holotone::retrieval
