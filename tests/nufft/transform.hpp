#pragma once
// Points, numbers and a plan with host vectors for the tests of non-uniform transforms.
#include <complex>
#include <cstdint>
#include <holotone/core/random.hpp>
#include <holotone/nufft/nufft.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace nufft_cases {

/// Complex numbers with parts from -1 to 1.
template <class Real>
std::vector<std::complex<Real>> random_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<std::complex<Real>> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = {static_cast<Real>(2 * holotone::random_uniform64(seed, 2 * i) - 1),
                 static_cast<Real>(2 * holotone::random_uniform64(seed, 2 * i + 1) - 1)};
  }
  return values;
}

enum class Cloud { uniform, clustered, edges, far };

/// Points spread over the period (and some periods beyond), mostly clustered in a small corner, on and next to the
/// period's ends, or with coordinates up to the largest numbers.
template <class Real, std::size_t Rank>
std::vector<Real> make_points(Cloud cloud, std::size_t count, std::uint64_t seed) {
  std::vector<Real> points(count * Rank);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double u = holotone::random_uniform64(seed, i) - 0.5;
    double value = 3 * u;
    if (cloud == Cloud::clustered && i / Rank % 10 != 0) value = 0.37 + 0.01 * u;
    if (cloud == Cloud::edges) {
      constexpr double places[] = {-0.5, 0.5, 0.0, 1.0, -1e-20, 1e-20, 0.4999999, -2.0, 0.9999999};
      value = places[holotone::random_bits(seed, i) % std::size(places)];
    }
    if (cloud == Cloud::far)
      value = u * (i % 3 == 0 ? 1e4 : i % 3 == 1 ? 1e30 : 2.0 * std::numeric_limits<Real>::max());
    points[i] = static_cast<Real>(value);
  }
  return points;
}

/// A plan with its points, and transforms of host vectors through its device.
template <class Real, std::size_t Rank>
class Transform {
 public:
  using Number = std::complex<Real>;
  Transform(holotone::Shape<Rank> shape, const std::vector<Real>& points, holotone::Device device,
            const holotone::NufftOptions& options)
      : device_(device), queue_(holotone::Queue::create(device)), plan_(shape, queue_, options) {
    set_points(points);
  }

  void set_points(const std::vector<Real>& points) {
    count_ = static_cast<std::int64_t>(points.size() / Rank);
    holotone::Array<Real, 2> positions({count_, static_cast<std::int64_t>(Rank)}, queue_);
    put(positions, points.data());
    plan_.set_points(positions.view());
    queue_.synchronize();
  }
  std::vector<Number> type1(const std::vector<Number>& strengths) {
    holotone::Array<Number, 1> device_strengths({count_}, queue_);
    put(device_strengths, strengths.data());
    holotone::Array<Number, Rank> modes(plan_.shape(), queue_);
    plan_.type1(device_strengths.view(), modes.view());
    return get(modes);
  }
  std::vector<Number> type1(const std::vector<Real>& strengths) {
    holotone::Array<Real, 1> values({count_}, queue_);
    put(values, strengths.data());
    holotone::Array<Number, Rank> modes(holotone::half_modes_shape(plan_.shape()), queue_);
    plan_.type1(values.view(), modes.view());
    return get(modes);
  }
  /// Type 1 of a plan that rejected its points.
  std::vector<Number> type1_of_none() {
    holotone::Array<Number, Rank> modes(plan_.shape(), queue_);
    plan_.type1(holotone::View<const Number, 1>(nullptr, {0}, device_), modes.view());
    return get(modes);
  }
  std::vector<Number> type2(const std::vector<Number>& modes) {
    holotone::Array<Number, Rank> device_modes(plan_.shape(), queue_);
    put(device_modes, modes.data());
    holotone::Array<Number, 1> values({count_}, queue_);
    plan_.type2(device_modes.view(), values.view());
    return get(values);
  }
  std::pair<std::vector<Number>, std::vector<Number>> type2_with_gradient(const std::vector<Number>& modes) {
    holotone::Array<Number, Rank> device_modes(plan_.shape(), queue_);
    put(device_modes, modes.data());
    holotone::Array<Number, 1> values({count_}, queue_);
    holotone::Array<Number, 2> gradient({count_, static_cast<std::int64_t>(Rank)}, queue_);
    plan_.type2(device_modes.view(), values.view(), gradient.view());
    return {get(values), get(gradient)};
  }
  std::pair<std::vector<Real>, std::vector<Real>> real_type2_with_gradient(const std::vector<Number>& half_modes) {
    holotone::Array<Number, Rank> modes(holotone::half_modes_shape(plan_.shape()), queue_);
    put(modes, half_modes.data());
    holotone::Array<Real, 1> values({count_}, queue_);
    holotone::Array<Real, 2> gradient({count_, static_cast<std::int64_t>(Rank)}, queue_);
    plan_.type2(modes.view(), values.view(), gradient.view());
    return {get(values), get(gradient)};
  }
  holotone::NufftPlan<Real, Rank>& plan() { return plan_; }

 private:
  template <class T, std::size_t R>
  void put(holotone::Array<T, R>& target, const T* source) {
    copy<T, R>(target.view(), holotone::View<const T, R>(source, target.shape()), queue_);
    queue_.synchronize();
  }
  template <class T, std::size_t R>
  std::vector<T> get(const holotone::Array<T, R>& source) {
    const auto host = source.to(holotone::Device{});
    return {host.data(), host.data() + host.size()};
  }

  holotone::Device device_;
  holotone::Queue queue_;
  holotone::NufftPlan<Real, Rank> plan_;
  std::int64_t count_ = 0;
};

}  // namespace nufft_cases
