#include <algorithm>
#include <bench/baselines/gwosdek.hpp>
#include <bit>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>
#include <numbers>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::FftDirection;
using holotone::Queue;
using holotone::Shape;
using holotone::View;
using holotone::electrostatic::Setup;

constexpr std::int64_t max_cells = std::int64_t{1} << 27;

/// The library's tables of the paper's kernel, Eq. (5) to (9), in float64.
Setup setup_of(Shape<2> page, std::int64_t count, const GwosdekOptions& options) {
  holotone::ElectrostaticOptions adapted;
  adapted.sum = holotone::ForceSum::taylor;
  adapted.window_cutoff = options.cutoff;
  adapted.taylor_degree = options.degree;
  Setup setup = holotone::electrostatic::make_setup(page, count, adapted);
  if (options.radius_by_plane) {
    setup.inner = options.degree / static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(2 * setup.modes)));
  }
  return setup;
}

gwosdek::Window make_window(int cutoff, std::int64_t modes, std::int64_t side) {
  gwosdek::Window window{};
  const double upsampling = static_cast<double>(side) / static_cast<double>(modes);
  const double shape = std::numbers::pi * (2 - 1 / upsampling);
  const double peak = std::cyl_bessel_i(0.0, shape * cutoff);
  window.cutoff = cutoff;
  window.terms = gwosdek::max_terms;
  window.shape = static_cast<float>(shape);
  window.scaled_bessel = static_cast<float>(peak * std::exp(-shape * cutoff));
  window.turn = static_cast<float>(2 * std::numbers::pi / static_cast<double>(side));
  constexpr int samples = 64;
  for (int k = 0; k < window.terms; ++k) {
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      const double angle = std::numbers::pi * (i + 0.5) / samples;
      // u = 2 (d / m)^2 - 1, so that m^2 - d^2 = m^2 (1 - u) / 2.
      const double root = cutoff * std::sqrt(0.5 * (1 - std::cos(angle)));
      sum += std::cyl_bessel_i(0.0, shape * root) / peak * std::cos(k * angle);
    }
    window.chebyshev[k] = static_cast<float>((k == 0 ? 1 : 2) * sum / samples);
  }
  while (window.terms > 2 && std::abs(window.chebyshev[window.terms - 1]) < 1e-8F) --window.terms;
  return window;
}

/// b_j of 0 <= j < N / 2 on both axes.
std::vector<float> make_factors(const Setup& setup) {
  const auto table = regularised_spectrum(setup);
  const std::int64_t half = setup.modes / 2;
  std::vector<float> factors;
  for (std::int64_t y = half; y < setup.modes; ++y) {
    for (std::int64_t x = half; x < setup.modes; ++x) {
      factors.push_back(static_cast<float>(table[static_cast<std::size_t>(y * setup.modes + x)]));
    }
  }
  return factors;
}

template <class T>
Array<T, 1> uploaded(const std::vector<T>& values, const Queue& queue) {
  Array<T, 1> array({std::ssize(values)}, queue);
  copy_bytes(array.data(), queue.device(), values.data(), Device{}, values.size() * sizeof(T), queue);
  queue.synchronize();
  return array;
}

template <class Body>
void each_cpu(const Body& body, std::int64_t count) {
  constexpr std::int64_t task = 512;
  holotone::parallel_for(0, (count + task - 1) / task, [&](std::int64_t t) {
    for (std::int64_t i = t * task; i < std::min(count, (t + 1) * task); ++i) body(i);
  });
}

/// Plain sums of every pair.
struct DirectSum {
  const gwosdek::Pair* dots;
  std::int64_t count;
  gwosdek::Pair* repulsion;
  void operator()(std::int64_t i) const {
    const gwosdek::Pair dot = dots[i];
    gwosdek::Pair sum{0, 0};
    for (std::int64_t j = 0; j < count; ++j) {
      const float dx = dot.x - dots[j].x;
      const float dy = dot.y - dots[j].y;
      const float size = 1 / (dx * dx + dy * dy + 1e-30F);
      sum = {sum.x + size * dx, sum.y + size * dy};
    }
    repulsion[i] = sum;
  }
};

/// Real transforms in place on the CPU: rows, then the columns of the half spectrum.
class PlaneTransformCpu final : public gwosdek::PlaneTransform {
 public:
  explicit PlaneTransformCpu(const gwosdek::Plane& plane)
      : plane_(plane),
        forward_(plane.side, 1, plane.row_length / 2, FftDirection::forward),
        inverse_(plane.side, 1, plane.row_length / 2, FftDirection::inverse) {}
  void forward(float* values) override {
    rows(forward_, values);
    columns(values, FftDirection::forward);
  }
  void inverse(float* values) override {
    columns(values, FftDirection::inverse);
    rows(inverse_, values);
  }

 private:
  using Complex = std::complex<float>;
  void rows(const holotone::fft::RealLinePlan<float>& plan, float* values) const {
    holotone::parallel_for(0, plane_.side, [&](std::int64_t row) {
      plan.execute(reinterpret_cast<Complex*>(values + row * plane_.row_length));
    });
  }
  void columns(float* values, FftDirection direction) const {
    holotone::electrostatic::transform_columns(reinterpret_cast<Complex*>(values), plane_.side, plane_.side / 2 + 1,
                                               plane_.row_length / 2, direction);
  }

  gwosdek::Plane plane_;
  holotone::fft::RealLinePlan<float> forward_;
  holotone::fft::RealLinePlan<float> inverse_;
};

}  // namespace

GwosdekStep::GwosdekStep(Shape<2> page, std::int64_t count, Queue queue, const GwosdekOptions& options)
    : queue_(std::move(queue)),
      options_(options),
      setup_(setup_of(page, count, options)),
      count_(count),
      half_{static_cast<float>(0.5 * setup_.scale * static_cast<double>(page[1])),
            static_cast<float>(0.5 * setup_.scale * static_cast<double>(page[0]))},
      dots_({count}, queue_),
      repulsion_({count}, queue_),
      counts_({3}, queue_) {
  if (options.sum == GwosdekSum::direct) return;
  plane_.side = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * setup_.modes)));
  plane_.row_length = 2 * holotone::fft::line_distance(plane_.side / 2 + 1);
  plane_memory_ = Array<float, 1>({plane_.side * plane_.row_length}, queue_);
  plane_.values = plane_memory_.data();
  window_ = make_window(options.cutoff, setup_.modes, plane_.side);
  factors_ = uploaded(make_factors(setup_), queue_);
  sums_ = Array<float, 1>({3 * count}, queue_);
#if HOLOTONE_CUDA
  if (queue_.device().backend == holotone::Backend::cuda) {
    transform_ = gwosdek::plane_transform_cuda(plane_, queue_);
    return;
  }
#endif
  transform_ = std::make_unique<PlaneTransformCpu>(plane_);
}

template <class Body>
void GwosdekStep::each(const Body& body, std::int64_t count) {
#if HOLOTONE_CUDA
  if (queue_.device().backend == holotone::Backend::cuda) {
    gwosdek::each_cuda(body, count, queue_);
    return;
  }
#endif
  each_cpu(body, count);
}

void GwosdekStep::set_ink(View<const float, 2> ink) {
  const auto table = holotone::electrostatic::attraction_table(setup_.page, ink.data(), holotone::ImageForce::points);
  std::vector<gwosdek::Pair> pairs;
  for (std::size_t i = 0; i < table.size(); i += 2) {
    pairs.push_back({static_cast<float>(table[i]), static_cast<float>(table[i + 1])});
  }
  attraction_ = uploaded(pairs, queue_);
  if (options_.sum == GwosdekSum::direct) return;
  const double densest =
      static_cast<double>(count_) * options_.room * holotone::electrostatic::densest_ink(setup_.page, ink.data());
  const double area = static_cast<double>(holotone::element_count(setup_.page));
  const double side = std::max(1 / std::sqrt(densest), std::sqrt(area / max_cells));
  const auto cells = [&](std::int64_t pixels) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(pixels) / side));
  };
  map_.rows = cells(setup_.page[0]);
  map_.columns = cells(setup_.page[1]);
  map_.corner = {-half_.x, -half_.y};
  map_.inverse = static_cast<float>(1 / (side * setup_.scale));
  holotone::reserve(cells_, map_.rows * map_.row_length(), queue_);
  map_.cells = cells_.data();
}

void GwosdekStep::set_positions(View<const float, 2> positions) {
  each(gwosdek::Place{reinterpret_cast<const gwosdek::Pair*>(positions.data()), dots_.data(), centre_px(),
                      static_cast<float>(setup_.scale)},
       count_);
}

void GwosdekStep::positions(View<float, 2> positions) {
  const gwosdek::Pair corner{-half_.x, -half_.y};
  each(gwosdek::Place{dots_.data(), reinterpret_cast<gwosdek::Pair*>(positions.data()), corner,
                      static_cast<float>(1 / setup_.scale)},
       count_);
}

void GwosdekStep::forces(View<float, 2> forces) {
  sum_repulsion();
  each(gwosdek::WriteForce{net(), reinterpret_cast<gwosdek::Pair*>(forces.data())}, count_);
}

void GwosdekStep::step() {
  sum_repulsion();
  each(gwosdek::Move{net(), dots_.data(), half_}, count_);
}

GwosdekNeighbours GwosdekStep::neighbours() {
  fill_map();
  each(gwosdek::CountFound{dots_.data(), map_, radius(), counts_.data() + 1}, count_);
  each(gwosdek::CountWithin{dots_.data(), count_, radius(), counts_.data() + 2}, count_);
  queue_.synchronize();
  const auto counts = counts_.to(Device{});
  const auto count = [&](std::int64_t i) { return static_cast<std::int64_t>(counts(i)); };
  return {count(2), count(1), count(0)};
}

std::vector<unsigned long long> GwosdekStep::map_cells() const {
  const auto cells = cells_.to(Device{});
  return {cells.data(), cells.data() + map_.rows * map_.row_length()};
}

void GwosdekStep::clear(void* target, int byte, std::size_t bytes) {
#if HOLOTONE_CUDA
  if (queue_.device().backend == holotone::Backend::cuda) {
    gwosdek::clear_cuda(target, byte, bytes, queue_);
    return;
  }
#endif
  std::memset(target, byte, bytes);
}

void GwosdekStep::fill_map() {
  clear(counts_.data(), 0, counts_.bytes());
  clear(map_.cells, 0xFF, static_cast<std::size_t>(map_.rows * map_.row_length()) * sizeof(gwosdek::empty_cell));
  each(gwosdek::Insert{dots_.data(), map_, counts_.data()}, count_);
}

void GwosdekStep::sum_repulsion() {
  if (options_.sum == GwosdekSum::direct) {
#if HOLOTONE_CUDA
    if (queue_.device().backend == holotone::Backend::cuda) {
      gwosdek::direct_cuda(dots_.data(), count_, repulsion_.data(), queue_);
      return;
    }
#endif
    each_cpu(DirectSum{dots_.data(), count_, repulsion_.data()}, count_);
    return;
  }
  for (int sum = 0; sum < 3; ++sum) {
    clear(plane_.values, 0, plane_memory_.bytes());
    each(gwosdek::Spread{dots_.data(), sum, window_, plane_}, count_);
    transform_->forward(plane_.values);
    each(gwosdek::Scale{window_, plane_, setup_.modes, factors_.data()}, plane_.side * (plane_.side / 2 + 1));
    transform_->inverse(plane_.values);
    each(gwosdek::Gather{dots_.data(), window_, plane_, sums_.data() + sum * count_}, count_);
  }
  fill_map();
  each(gwosdek::Near{dots_.data(), map_, radius(), options_.degree, sums_.data(), count_, repulsion_.data()}, count_);
}

gwosdek::Pair GwosdekStep::centre_px() const {
  return {0.5F * static_cast<float>(setup_.page[1]), 0.5F * static_cast<float>(setup_.page[0])};
}

gwosdek::Net GwosdekStep::net() const {
  return {dots_.data(),
          repulsion_.data(),
          attraction_.data(),
          setup_.page[1] + 4,
          centre_px(),
          static_cast<float>(setup_.scale),
          static_cast<float>(count_)};
}

}  // namespace bench
