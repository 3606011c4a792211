// The plan of non-uniform FFTs: checks, window and grid, the choice of the backend.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/nufft/nufft_engine.hpp>

namespace holotone {
namespace {

constexpr double upsampling = 2;
/// Shares of the tolerance for the window and for its polynomials; the rest is for rounding. In the worst case the
/// polynomials' errors at all nodes and on all axes may add up.
constexpr double window_share = 0.9;
constexpr double polynomial_share = 0.05;
constexpr double worst_polynomial_share = 0.01;
constexpr std::int64_t largest_extent = std::int64_t{1} << 28;
constexpr std::int64_t max_points = 0xFFFFFFFE;

template <class Real>
constexpr double tolerance_floor =
    std::is_same_v<Real, float> ? nufft_tolerance_floor_float : nufft_tolerance_floor_double;

template <class Real, std::size_t Rank>
nufft::Setup<Rank> make_setup(const Shape<Rank>& modes, const NufftOptions& options) {
  for (const auto extent : modes) {
    if (extent < 1 || extent > largest_extent) {
      throw_argument("NufftPlan", "modes", "extents from 1 to 2^28", to_string<Rank>(modes));
    }
  }
  if (!(options.tolerance >= tolerance_floor<Real> && options.tolerance <= 0.1)) {
    throw_argument(
        "NufftPlan", "tolerance",
        fmt::format("{:g} to 0.1 ({})", tolerance_floor<Real>, std::is_same_v<Real, float> ? "float32" : "float64"),
        fmt::format("{:g}", options.tolerance));
  }
  nufft::Setup<Rank> setup;
  setup.modes = modes;
  setup.tolerance = options.tolerance;
  setup.error = options.worst_case ? WindowError::worst : WindowError::mean;
  setup.window = choose_window(window_share * options.tolerance, upsampling, Rank, setup.error);
  setup.polynomial_error = (options.worst_case ? worst_polynomial_share : polynomial_share) * options.tolerance;
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    // The grid holds at least two windows side by side.
    const auto least = std::max<std::int64_t>(static_cast<std::int64_t>(upsampling * static_cast<double>(modes[axis])),
                                              2 * setup.window.width);
    setup.grid[axis] = fft_friendly_size(least);
  }
  return setup;
}

template <class Real, std::size_t Rank>
nufft::EnginePointer<Real, Rank> make_engine(const nufft::Setup<Rank>& setup, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return nufft::engine_cpu<Real, Rank>(setup);
    case Backend::cuda:
      if constexpr (std::is_same_v<Real, double>) {
        throw Error(ErrorCode::unsupported,
                    "NufftPlan: queue: expected the CPU for float64, got " + to_string(queue.device()));
      }
#if HOLOTONE_CUDA
      if constexpr (std::is_same_v<Real, float>) return nufft::engine_cuda<Rank>(setup, queue);
#endif
      break;
    case Backend::opencl: break;
  }
  throw_no_backend("NufftPlan", queue.device());
}

}  // namespace

namespace nufft {

std::vector<double> deconvolution(const SpreadWindow& window, std::int64_t modes, std::int64_t grid, bool half) {
  std::vector<double> factor;
  const std::int64_t first = half ? 0 : -(modes / 2);
  const std::int64_t count = half ? modes / 2 + 1 : modes;
  factor.reserve(static_cast<std::size_t>(count));
  const WindowTransform transform(window, 0.5);
  for (std::int64_t i = 0; i < count; ++i) {
    factor.push_back(1 / transform(static_cast<double>(first + i) / static_cast<double>(grid)));
  }
  return factor;
}

}  // namespace nufft

template <class Real, std::size_t Rank>
struct NufftPlan<Real, Rank>::State {
  nufft::Setup<Rank> setup;
  Queue queue;
  std::int64_t points = 0;
  nufft::EnginePointer<Real, Rank> engine;

  template <class T, std::size_t ViewRank>
  void require(std::string_view argument, const View<T, ViewRank>& view, const Shape<ViewRank>& shape) const {
    // No points: an empty view may have no memory.
    if (view.data() == nullptr && element_count(shape) == 0 && view.shape() == shape) return;
    require_view("NufftPlan", argument, view, shape, queue.device());
  }
};

template <class Real, std::size_t Rank>
NufftPlan<Real, Rank>::NufftPlan(Shape<Rank> modes, Queue queue, NufftOptions options) {
  const auto setup = make_setup<Real, Rank>(modes, options);
  auto engine = make_engine<Real, Rank>(setup, queue);
  state_ = std::make_unique<State>(State{setup, std::move(queue), 0, std::move(engine)});
}

template <class Real, std::size_t Rank>
NufftPlan<Real, Rank>::~NufftPlan() = default;
template <class Real, std::size_t Rank>
NufftPlan<Real, Rank>::NufftPlan(NufftPlan&&) noexcept = default;
template <class Real, std::size_t Rank>
NufftPlan<Real, Rank>& NufftPlan<Real, Rank>::operator=(NufftPlan&&) noexcept = default;

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::set_points(View<const Real, 2> points) {
  const std::int64_t count = points.shape()[0];
  if (count > max_points) {
    throw_argument("NufftPlan", "points", fmt::format("at most {}", max_points), fmt::format("{}", count));
  }
  state_->require("points", points, Shape<2>{count, static_cast<std::int64_t>(Rank)});
  state_->points = 0;
  state_->engine->set_points(points);
  state_->points = count;
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type1(View<const Complex, 1> strengths, View<Complex, Rank> modes) {
  state_->require("strengths", strengths, {state_->points});
  state_->require("modes", modes, shape());
  state_->engine->type1(reinterpret_cast<const Real*>(strengths.data()), 2, modes.data());
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type1(View<const Real, 1> strengths, View<Complex, Rank> half_modes) {
  state_->require("strengths", strengths, {state_->points});
  state_->require("half_modes", half_modes, half_modes_shape(shape()));
  state_->engine->type1(strengths.data(), 1, half_modes.data());
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type2(View<const Complex, Rank> modes, View<Complex, 1> values) {
  state_->require("modes", modes, shape());
  state_->require("values", values, {state_->points});
  state_->engine->type2(modes.data(), 2, reinterpret_cast<Real*>(values.data()), nullptr);
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type2(View<const Complex, Rank> modes, View<Complex, 1> values, View<Complex, 2> gradient) {
  state_->require("modes", modes, shape());
  if (!values.empty()) state_->require("values", values, {state_->points});
  state_->require("gradient", gradient, {state_->points, static_cast<std::int64_t>(Rank)});
  state_->engine->type2(modes.data(), 2, reinterpret_cast<Real*>(values.data()),
                        reinterpret_cast<Real*>(gradient.data()));
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type2(View<const Complex, Rank> half_modes, View<Real, 1> values) {
  state_->require("half_modes", half_modes, half_modes_shape(shape()));
  state_->require("values", values, {state_->points});
  state_->engine->type2(half_modes.data(), 1, values.data(), nullptr);
}

template <class Real, std::size_t Rank>
void NufftPlan<Real, Rank>::type2(View<const Complex, Rank> half_modes, View<Real, 1> values, View<Real, 2> gradient) {
  state_->require("half_modes", half_modes, half_modes_shape(shape()));
  if (!values.empty()) state_->require("values", values, {state_->points});
  state_->require("gradient", gradient, {state_->points, static_cast<std::int64_t>(Rank)});
  state_->engine->type2(half_modes.data(), 1, values.data(), gradient.data());
}

template <class Real, std::size_t Rank>
const Shape<Rank>& NufftPlan<Real, Rank>::shape() const {
  return state_->setup.modes;
}

template <class Real, std::size_t Rank>
std::int64_t NufftPlan<Real, Rank>::points() const {
  return state_->points;
}

template <class Real, std::size_t Rank>
NufftInfo<Rank> NufftPlan<Real, Rank>::info() const {
  const auto& setup = state_->setup;
  return {setup.grid, setup.window.width, window_error(setup.window, Rank, setup.error), state_->engine->bytes()};
}

template class NufftPlan<float, 2>;
template class NufftPlan<float, 3>;
template class NufftPlan<double, 2>;
template class NufftPlan<double, 3>;

}  // namespace holotone
