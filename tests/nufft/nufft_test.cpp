// Both directions against the float64 sums, adjointness and the other relations, on every device.
#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/nufft/nufft.hpp>
#include <omp.h>
#include <tests/nufft/transform.hpp>
#include <tests/reference/nufft.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::NufftPlan;
using holotone::Queue;
using holotone::Shape;
using nufft_cases::Cloud;
using nufft_cases::make_points;
using nufft_cases::random_numbers;
using nufft_cases::Transform;
using support::Complex64;
using support::expect_error;
using support::expect_within;
using support::relative_error;

template <class Real, std::size_t Rank>
void expect_tolerance(const std::string& what, Shape<Rank> shape, Cloud cloud, double tolerance, Device device) {
  constexpr std::size_t count = 300;
  const auto points = make_points<Real, Rank>(cloud, count, 1);
  Transform<Real, Rank> transform(shape, points, device, {.tolerance = tolerance});
  const auto strengths = random_numbers<Real>(count, 2);
  const auto label =
      what + " " + holotone::to_string(shape) + ", width " + std::to_string(transform.plan().info().width);
  expect_within(
      label + ", type 1",
      relative_error(transform.type1(strengths).data(), reference::nufft_type1<Rank>(shape, points, strengths)),
      tolerance);
  const auto modes = random_numbers<Real>(static_cast<std::size_t>(holotone::element_count(shape)), 3);
  std::vector<Complex64> values;
  std::vector<Complex64> gradient;
  reference::nufft_type2<Rank>(shape, points, modes, values, gradient);
  expect_within(label + ", type 2", relative_error(transform.type2(modes).data(), values), tolerance);
  const auto [own_values, own_gradient] = transform.type2_with_gradient(modes);
  expect_within(label + ", with gradient", relative_error(own_values.data(), values), tolerance);
  if (holotone::element_count(shape) > 1) {
    expect_within(label + ", gradient", relative_error(own_gradient.data(), gradient), 7 * tolerance);
  }
}

class Nufft : public support::OnEachDevice {};

TEST_P(Nufft, HoldsEveryToleranceInFloat32) {
  on_each([](Device device) {
    for (const double tolerance : {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5}) {
      expect_tolerance<float, 2>("uniform", {31, 40}, Cloud::uniform, tolerance, device);
      expect_tolerance<float, 3>("uniform", {6, 17, 20}, Cloud::uniform, tolerance, device);
    }
  });
}

TEST_P(Nufft, ClustersEdgesAndHugeCoordinatesHoldItToo) {
  on_each([](Device device) {
    for (const double tolerance : {1e-2, 1e-4}) {
      for (const auto& [name, cloud] :
           {std::pair("clustered", Cloud::clustered), std::pair("edges", Cloud::edges), std::pair("far", Cloud::far)}) {
        // Strengths of equal points add up: the error relative to random strengths may grow by the cluster's sum.
        expect_tolerance<float, 2>(name, {30, 41}, cloud, tolerance, device);
        expect_tolerance<float, 3>(name, {5, 12, 19}, cloud, tolerance, device);
      }
    }
  });
}

TEST(Nufft64, HoldsEveryTolerance) {
  for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    expect_tolerance<double, 2>("uniform", {31, 40}, Cloud::uniform, tolerance, Device{});
    expect_tolerance<double, 3>("uniform", {6, 17, 20}, Cloud::uniform, tolerance, Device{});
  }
}

TEST_P(Nufft, SmallShapesAndFewPoints) {
  on_each([](Device device) {
    for (const Shape<2> shape : {Shape<2>{1, 1}, Shape<2>{1, 7}, Shape<2>{9, 1}, Shape<2>{2, 3}}) {
      expect_tolerance<float, 2>("small", shape, Cloud::uniform, 1e-4, device);
    }
    expect_tolerance<float, 3>("small", {1, 2, 3}, Cloud::uniform, 1e-4, device);

    // One point: |F| is one everywhere. No points: zero modes and no values.
    const Shape<2> shape{8, 9};
    Transform<float, 2> transform(shape, std::vector<float>{0.3F, -0.2F}, device, {.tolerance = 1e-4});
    for (const auto& mode : transform.type1(std::vector<std::complex<float>>{{1, 0}}))
      EXPECT_NEAR(std::abs(mode), 1, 5e-4);
    transform.set_points({});
    for (const auto& mode : transform.type1(std::vector<std::complex<float>>{})) EXPECT_EQ(mode, std::complex<float>());
    EXPECT_TRUE(transform.type2(random_numbers<float>(72, 1)).empty());
  });
}

// <type 1 c, F> = <c, type 2 F> up to rounding: both types consist of the same steps.
TEST_P(Nufft, TheTypesAreAdjoint) {
  on_each([](Device device) {
    const Shape<2> shape{33, 26};
    constexpr std::size_t count = 500;
    Transform<float, 2> transform(shape, make_points<float, 2>(Cloud::uniform, count, 4), device, {.tolerance = 1e-2});
    const auto strengths = random_numbers<float>(count, 5);
    const auto modes = random_numbers<float>(33 * 26, 6);
    const auto sums = transform.type1(strengths);
    const auto values = transform.type2(modes);
    Complex64 left = 0;
    Complex64 right = 0;
    double size = 0;
    for (std::size_t i = 0; i < modes.size(); ++i) left += Complex64(sums[i]) * std::conj(Complex64(modes[i]));
    for (std::size_t j = 0; j < count; ++j) {
      right += Complex64(strengths[j]) * std::conj(Complex64(values[j]));
      size += std::abs(Complex64(strengths[j]) * Complex64(values[j]));
    }
    expect_within("adjoint", std::abs(left - right) / size, 1e-7);
  });
}

TEST_P(Nufft, IsLinearAndForgetsOldPoints) {
  on_each([](Device device) {
    const Shape<2> shape{20, 24};
    constexpr std::size_t count = 400;
    const auto points = make_points<float, 2>(Cloud::uniform, count, 7);
    Transform<float, 2> transform(shape, make_points<float, 2>(Cloud::clustered, 900, 8), device, {.tolerance = 1e-3});
    transform.set_points(points);
    Transform<float, 2> fresh(shape, points, device, {.tolerance = 1e-3});
    const auto a = random_numbers<float>(count, 9);
    const auto b = random_numbers<float>(count, 10);
    std::vector<std::complex<float>> both(count);
    for (std::size_t j = 0; j < count; ++j) both[j] = a[j] + 2.0F * b[j];
    const auto of_a = transform.type1(a);
    const auto of_b = fresh.type1(b);
    std::vector<Complex64> expected(of_a.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = Complex64(of_a[i]) + 2.0 * Complex64(of_b[i]);
    expect_within("sum", relative_error(transform.type1(both).data(), expected), 1e-6);
  });
}

TEST_P(Nufft, RealStrengthsAreComplexOnesWithoutImaginaryPart) {
  on_each([](Device device) {
    for (const Shape<2> shape : {Shape<2>{20, 24}, Shape<2>{21, 25}}) {
      constexpr std::size_t count = 300;
      Transform<float, 2> transform(shape, make_points<float, 2>(Cloud::uniform, count, 11), device,
                                    {.tolerance = 1e-4});
      auto strengths = random_numbers<float>(count, 12);
      std::vector<float> real(count);
      for (std::size_t j = 0; j < count; ++j) {
        real[j] = strengths[j].real();
        strengths[j] = real[j];
      }
      const auto full = transform.type1(strengths);
      const auto half = transform.type1(real);
      const auto columns = shape[1] / 2 + 1;
      std::vector<Complex64> expected;
      std::vector<std::complex<float>> got;
      for (std::int64_t row = 0; row < shape[0]; ++row) {
        for (std::int64_t k = 0; k < columns && k + shape[1] / 2 < shape[1]; ++k) {
          expected.emplace_back(full[static_cast<std::size_t>(row * shape[1] + k + shape[1] / 2)]);
          got.push_back(half[static_cast<std::size_t>(row * columns + k)]);
        }
      }
      expect_within("half of " + holotone::to_string(shape), relative_error(got.data(), expected), 1e-6);
    }
  });
}

// Half of the modes represent themselves and their conjugates at -k: odd extents have no mode without a partner.
TEST_P(Nufft, RealValuesOfHalfTheModes) {
  on_each([](Device device) {
    const Shape<2> shape{15, 21};
    constexpr std::size_t count = 200;
    const auto points = make_points<float, 2>(Cloud::uniform, count, 13);
    Transform<float, 2> transform(shape, points, device, {.tolerance = 1e-4});
    auto modes = random_numbers<float>(15 * 21, 14);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const std::size_t mirror = modes.size() - 1 - i;
      if (mirror < i) modes[i] = std::conj(modes[mirror]);
      if (mirror == i) modes[i] = modes[i].real();
    }
    std::vector<std::complex<float>> half;
    for (std::size_t row = 0; row < 15; ++row) {
      for (std::size_t k = 10; k < 21; ++k) half.push_back(modes[row * 21 + k]);
    }
    std::vector<Complex64> values;
    std::vector<Complex64> gradient;
    reference::nufft_type2<2>(shape, points, modes, values, gradient);
    const auto [own_values, own_gradient] = transform.real_type2_with_gradient(half);
    expect_within("values", relative_error(own_values.data(), values), 1e-4);
    expect_within("gradient", relative_error(own_gradient.data(), gradient), 7e-4);
  });
}

// Coordinates near the period's end keep their position between grid cells: 4096 modes of a float32 point.
TEST_P(Nufft, Float32PointsKeepTheirPlace) {
  on_each([](Device device) {
    const Shape<2> shape{4096, 2};
    constexpr std::size_t count = 20;
    const auto points = make_points<float, 2>(Cloud::uniform, count, 15);
    Transform<float, 2> transform(shape, points, device, {.tolerance = 1e-5});
    const auto strengths = random_numbers<float>(count, 16);
    expect_within(
        "4096 modes",
        relative_error(transform.type1(strengths).data(), reference::nufft_type1<2>(shape, points, strengths)), 1e-5);
  });
}

TEST(NufftCpu, TheSameBitsOnAnyNumberOfThreads) {
  const Shape<2> shape{200, 180};
  const auto points = make_points<float, 2>(Cloud::clustered, 50000, 17);
  const auto strengths = random_numbers<float>(50000, 18);
  const int threads = omp_get_max_threads();
  std::vector<std::complex<float>> one;
  for (const int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    Transform<float, 2> transform(shape, points, Device{}, {.tolerance = 1e-3});
    const auto modes = transform.type1(strengths);
    if (count == 1) one = modes;
    EXPECT_EQ(modes, one) << count << " threads";
  }
  omp_set_num_threads(threads);
}

TEST_P(Nufft, GivesTheSameBitsEveryTime) {
  on_each([](Device device) {
    constexpr std::size_t count = 100000;
    const auto points = make_points<float, 2>(Cloud::clustered, count, 23);
    const auto strengths = random_numbers<float>(count, 24);
    std::vector<std::complex<float>> first;
    for (int run = 0; run < 3; ++run) {
      Transform<float, 2> transform({200, 180}, points, device, {.tolerance = 1e-3});
      const auto modes = transform.type1(strengths);
      if (run == 0) first = modes;
      EXPECT_EQ(modes, first) << "run " << run;
      EXPECT_EQ(transform.type1(strengths), first) << "run " << run << ", again";
    }
  });
}

// 2^27 + 12345 points: coordinates, strengths and records each exceed 2^30 bytes, and byte counts and indices exceed
// 2^31. The points repeat a lattice, with the strengths of one mode. The whole sum is in that mode, and the values of a
// single mode are known at every point. On a GPU only: 7 GiB and, on two cores, half a minute.
TEST_P(Nufft, MoreThanTwoGiBOfPoints) {
  on_each([](Device device) {
    if (device.backend == holotone::Backend::cpu) {
      std::puts("left out on the CPU: it would take 7 GiB and half a minute");
      return;
    }
    constexpr std::int64_t count = (std::int64_t{1} << 27) + 12345;
    constexpr std::int64_t side = 1000;  // of the lattice
    const Shape<2> shape{48, 64};
    const std::int64_t mode[] = {9, -5};  // along x, along y
    const Queue queue = Queue::create(device);
    Array<float, 2> points({count, 2});
    Array<std::complex<float>, 1> strengths({count});
    std::vector<std::complex<float>> turns(side);
    for (std::int64_t i = 0; i < side; ++i) {
      turns[static_cast<std::size_t>(i)] =
          std::complex<float>(std::polar(1.0, 2 * 3.14159265358979323846 * static_cast<double>(i) / side));
    }
    const auto expected = [&](std::int64_t j) {
      const std::int64_t turn = mode[0] * (j % side) + mode[1] * (j / side % side);
      return turns[static_cast<std::size_t>((turn % side + side) % side)];
    };
    for (std::int64_t j = 0; j < count; ++j) {
      points.data()[2 * j] = static_cast<float>(j % side) / side;
      points.data()[2 * j + 1] = static_cast<float>(j / side % side) / side;
      strengths.data()[j] = expected(j);
    }
    NufftPlan<float, 2> plan(shape, queue, {.tolerance = 1e-4});
    {
      Array<float, 2> positions({count, 2}, queue);
      copy<float, 2>(positions.view(), points.view(), queue);
      plan.set_points(positions.view());
    }
    Array<std::complex<float>, 1> device_values({count}, queue);
    copy<std::complex<float>, 1>(device_values.view(), strengths.view(), queue);
    Array<std::complex<float>, 2> modes(shape, queue);
    plan.type1(device_values.view(), modes.view());
    const auto sums = modes.to(Device{});
    std::vector<Complex64> alone(static_cast<std::size_t>(holotone::element_count(shape)));
    const auto at = static_cast<std::size_t>((mode[1] + shape[0] / 2) * shape[1] + mode[0] + shape[1] / 2);
    alone[at] = static_cast<double>(count);
    // The lattice's last pass is incomplete: its 230,073 points give each other mode at most 230,073 / 134,230,073. In
    // total, by Parseval's equation over the 1000 x 1000 modes that the lattice distinguishes, they give 1000
    // sqrt(230,073) / 134,230,073.
    expect_within("type 1 of 134,230,073 points", relative_error(sums.data(), alone), 1e-4 + 3.6e-3);

    Array<std::complex<float>, 2> single(shape);
    for (std::int64_t i = 0; i < single.size(); ++i)
      single.data()[i] = std::complex<float>(Complex64(alone[i] / static_cast<double>(count)));
    copy<std::complex<float>, 2>(modes.view(), single.view(), queue);
    plan.type2(modes.view(), device_values.view());
    const auto values = device_values.to(Device{});
    double worst = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      worst = std::max(worst, static_cast<double>(std::abs(values.data()[j] - expected(j))));
    }
    expect_within("type 2 at 134,230,073 points", worst, 3e-4);
  });
}

TEST_P(Nufft, RefusesWhatItCannotDo) {
  on_each([](Device device) {
    const auto plan = [&](Shape<2> shape, double tolerance) {
      NufftPlan<float, 2>(shape, device, {.tolerance = tolerance});
    };
    expect_error(ErrorCode::invalid_argument, "tolerance: expected 1e-05 to 0.1 (float32), got 1e-06", [&] {
      plan({8, 8}, 1e-6);
    });
    expect_error(ErrorCode::invalid_argument, "tolerance", [&] { plan({8, 8}, NAN); });
    expect_error(ErrorCode::invalid_argument, "modes: expected extents from 1 to 2^28", [&] { plan({0, 8}, 1e-3); });
    auto points = make_points<float, 2>(Cloud::uniform, 20, 19);
    Transform<float, 2> transform({8, 8}, points, device, {.tolerance = 1e-3});
    expect_error(ErrorCode::invalid_argument, "strengths: expected shape {20}", [&] {
      Array<std::complex<float>, 1> strengths({21}, device);
      Array<std::complex<float>, 2> modes({8, 8}, device);
      transform.plan().type1(strengths.view(), modes.view());
    });
    points[11] = NAN;
    points[30] = INFINITY;
    expect_error(ErrorCode::invalid_argument, "at point 5", [&] { transform.set_points(points); });
    EXPECT_EQ(transform.plan().points(), 0) << "a plan that refused its points has none";
    for (const auto& mode : transform.type1_of_none()) EXPECT_EQ(mode, std::complex<float>());
    if (device.backend == holotone::Backend::cuda) {
      expect_error(ErrorCode::unsupported, "expected the CPU for float64, got cuda", [&] {
        NufftPlan<double, 2>({8, 8}, device);
      });
    }
  });
  expect_error(ErrorCode::invalid_argument, "1e-12 to 0.1 (float64)", [] {
    NufftPlan<double, 2>({8, 8}, {}, {.tolerance = 1e-13});
  });
}

HOLOTONE_ON_CPU_AND_CUDA(Nufft);

}  // namespace
