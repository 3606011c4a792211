#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/optics/fourier_lens.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/phase_math.h>
#include <numbers>
#include <vector>

namespace holotone {
namespace {

void validate(std::string_view where, const FourierLensOptions& options) {
  require_grid(where, options.grid);
  require_positive(where, "focal_length_m", options.focal_length_m);
}

/// Largest shift: its phases keep 1e-9 turns in float64.
constexpr double max_shift = 1e6;

/// Phase factors of one axis at the panel and in the picture.
///   exp(-2 pi i (n - c)(k - c + s) / N) = exp(-2 pi i n k / N) exp(2 pi i n (c - s) / N) exp(2 pi i c (k - c + s) / N)
/// The panel's factors contain the quadratic phase of the defocus and 1 / sqrt(N).
struct AxisFactors {
  std::vector<Complex> panel;
  std::vector<Complex> picture;
};

/// `curvature`: quadratic phase in turns a squared pixel.
AxisFactors make_factors(std::int64_t count, double shift, double curvature) {
  const auto n = static_cast<double>(count);
  const double centre = (n - 1) / 2;
  const auto unit = [](double turns, double gain) {
    const double angle = 2 * std::numbers::pi * (turns - round_nearest(turns));
    return Complex(static_cast<float>(gain * std::cos(angle)), static_cast<float>(gain * std::sin(angle)));
  };
  AxisFactors factors;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<double>(i);
    const double x = k - centre;
    factors.panel.push_back(unit(k * (centre - shift) / n - curvature * x * x, 1 / std::sqrt(n)));
    factors.picture.push_back(unit(centre * (x + shift) / n, 1));
  }
  return factors;
}

/// target = source times the factors of row and column, or their conjugates.
void multiply(const Complex* source, const std::vector<Complex>& rows, const std::vector<Complex>& columns,
              bool conjugate, View<Complex, 2> target) {
  const auto [ny, nx] = target.shape();
  parallel_rows(ny, nx, [&, width = nx](std::int64_t first, std::int64_t last) {
    for (std::int64_t y = first; y < last; ++y) {
      const Complex row = rows[static_cast<std::size_t>(y)];
      const Complex* const from = source + y * width;
      Complex* const to = target.data() + y * width;
      for (std::int64_t x = 0; x < width; ++x) {
        const Complex factor = product(row, columns[static_cast<std::size_t>(x)]);
        to[x] = product(from[x], conjugate ? std::conj(factor) : factor);
      }
    }
  });
}

}  // namespace

double largest_defocus_m(const FourierLensOptions& options) {
  validate("largest_defocus_m", options);
  const auto& grid = options.grid;
  const auto largest = static_cast<double>(std::max(grid.nx, grid.ny));
  const double f = options.focal_length_m;
  return grid.wavelength_m * f * f / (largest * grid.pitch_m * grid.pitch_m);
}

struct FourierLensPlan::State {
  FourierLensOptions options;
  Queue queue;
  FftPlan fft;
  Array<Complex, 2> work;

  void require(std::string_view where, const LensPlane& plane) const {
    const double most = largest_defocus_m(options);
    if (!(std::abs(plane.defocus_m) <= most * (1 + 1e-9))) {
      throw_argument(where, "plane.defocus_m",
                     fmt::format("at most {} from the focal plane (lambda f^2 / (N pitch^2))", format_length(most)),
                     fmt::format("{} m", plane.defocus_m));
    }
    require_range(where, "plane.down", plane.down, -max_shift, max_shift);
    require_range(where, "plane.right", plane.right, -max_shift, max_shift);
  }

  [[nodiscard]] std::array<AxisFactors, 2> factors(const LensPlane& plane) const {
    const auto& grid = options.grid;
    const double ratio = grid.pitch_m / options.focal_length_m;
    const double curvature = plane.defocus_m * ratio * ratio / (2 * grid.wavelength_m);
    return {make_factors(grid.ny, plane.down, curvature), make_factors(grid.nx, plane.right, curvature)};
  }

  /// Leaves in `work` the picture without its own factors.
  void transform(View<const Complex, 2> field, const std::array<AxisFactors, 2>& axes) {
    multiply(field.data(), axes[0].panel, axes[1].panel, false, work.view());
    fft.execute(work.view(), FftDirection::forward);
  }
};

FourierLensPlan::FourierLensPlan(const FourierLensOptions& options, Queue queue) {
  validate("FourierLensPlan", options);
  if (queue.device().backend != Backend::cpu) throw_no_backend("FourierLensPlan", queue.device());
  const Shape<2> shape = options.grid.shape();
  FftPlan fft(shape, queue, {.scale_inverse = false});
  Array<Complex, 2> work(shape, queue);
  state_ = std::make_unique<State>(State{options, std::move(queue), std::move(fft), std::move(work)});
}

FourierLensPlan::~FourierLensPlan() = default;
FourierLensPlan::FourierLensPlan(FourierLensPlan&&) noexcept = default;
FourierLensPlan& FourierLensPlan::operator=(FourierLensPlan&&) noexcept = default;

void FourierLensPlan::execute(View<const Complex, 2> field, View<Complex, 2> picture, const LensPlane& plane) {
  constexpr std::string_view where = "FourierLensPlan::execute";
  State& state = *state_;
  require_view(where, "field", field, state.fft.shape(), state.queue.device());
  require_view(where, "picture", picture, state.fft.shape(), state.queue.device());
  state.require(where, plane);
  const auto axes = state.factors(plane);
  state.transform(field, axes);
  multiply(state.work.data(), axes[0].picture, axes[1].picture, false, picture);
}

void FourierLensPlan::execute_intensity(View<const Complex, 2> field, View<float, 2> intensity,
                                        const LensPlane& plane) {
  constexpr std::string_view where = "FourierLensPlan::execute_intensity";
  State& state = *state_;
  require_view(where, "field", field, state.fft.shape(), state.queue.device());
  require_view(where, "intensity", intensity, state.fft.shape(), state.queue.device());
  state.require(where, plane);
  state.transform(field, state.factors(plane));
  const auto [ny, nx] = intensity.shape();
  parallel_rows(ny, nx, [&, width = nx](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first * width; i < last * width; ++i) {
      const Complex value = state.work.data()[i];
      intensity.data()[i] = value.real() * value.real() + value.imag() * value.imag();
    }
  });
}

void FourierLensPlan::adjoint(View<const Complex, 2> picture, View<Complex, 2> field, const LensPlane& plane) {
  constexpr std::string_view where = "FourierLensPlan::adjoint";
  State& state = *state_;
  require_view(where, "picture", picture, state.fft.shape(), state.queue.device());
  require_view(where, "field", field, state.fft.shape(), state.queue.device());
  state.require(where, plane);
  const auto axes = state.factors(plane);
  multiply(picture.data(), axes[0].picture, axes[1].picture, true, state.work.view());
  state.fft.execute(state.work.view(), FftDirection::inverse);
  multiply(state.work.data(), axes[0].panel, axes[1].panel, true, field);
}

const FourierLensOptions& FourierLensPlan::options() const { return state_->options; }

std::size_t FourierLensPlan::workspace_bytes() const { return state_->work.bytes() + state_->fft.workspace_bytes(); }

}  // namespace holotone
