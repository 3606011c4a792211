// Every kind of OpenCL kernel on every device: those of GPUs run on a CPU here too.
#include <gtest/gtest.h>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

#if HOLOTONE_OPENCL
#include <holotone/core/native_opencl.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/points_opencl.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointMethod;
using holotone::Queue;
using holotone::point_cloud::SumKernels;

class PointCloudOpencl : public support::OnEachDevice {};
HOLOTONE_ON_DEVICES(PointCloudOpencl, "opencl");

TEST_P(PointCloudOpencl, EveryKindOfKernelSumsTheWaves) {
  on_each([](Device device) {
    for (const bool lit_in_part : {false, true}) {
      cases::PointCloudCase c;
      c.options.shape = {37, 301};
      c.count = 90;
      c.phases = true;
      c.near_m = lit_in_part ? 0.004 : 0.2;
      c.far_m = lit_in_part ? 0.012 : 0.3;
      const auto points = cases::make_points(c);
      const auto expected = cases::sample_reference(c, points, c.pixels());
      const auto host = cases::sources(points);
      const Queue queue(device);
      const auto position = copy_of(host.position_m, device);
      const auto amplitude = copy_of(host.amplitude, device);
      const auto phase = copy_of(host.phase_rad, device);
      for (const auto method : {PointMethod::direct, PointMethod::recurrence}) {
        for (const auto kernels : {SumKernels::native, SumKernels::portable, SumKernels::wide}) {
          if (kernels == SumKernels::wide && !holotone::opencl::prefers_vectors(queue)) continue;
          const bool native = kernels == SumKernels::native;
          const double tolerance = native ? std::max(2e-6, 4 * holotone::opencl::native_wave_error(queue)) : 2e-6;
          const auto engine = holotone::point_cloud::sum_opencl(method, c.options, queue, kernels);
          engine->set_points({{position.view(), amplitude.view(), phase.view()}, {}, {}}, {});
          Array<std::complex<float>, 2> field(c.options.shape, queue);
          Array<float, 2> real(c.options.shape, queue);
          engine->execute({0, 37}, {field.view(), {}, {}}, holotone::Progress::none());
          engine->execute({0, 37}, {{}, real.view(), {}}, holotone::Progress::none());
          const std::string what = std::string(to_string(method)) +
                                   (native                        ? ", native"
                                    : kernels == SumKernels::wide ? ", wide"
                                                                  : "") +
                                   (lit_in_part ? ", in part" : "");
          support::expect_within(what, cases::relative_error(expected, field.to(Device{}).data()), tolerance);
          support::expect_within(what + ", real", cases::relative_error(expected, real.to(Device{}).data()), tolerance);
        }
      }
    }
  });
}

// Places whose squares and curvatures float32 does not hold, beside a point on the axis.
TEST_P(PointCloudOpencl, ExtremePointsLeaveTheOthersAlone) {
  on_each([](Device device) {
    Array<float, 2> position({4, 3});
    Array<float, 1> amplitude({4});
    const float places[] = {0, 0, -0.2F, 1e16F, 0, -0.2F, 0, -3e30F, 0.1F, 1e-5F, 2e-5F, -1e-30F};
    std::copy(std::begin(places), std::end(places), position.data());
    std::fill_n(amplitude.data(), 4, 1.0F);
    const auto sum = [&](holotone::Wave wave, Device where) {
      holotone::PointCloudPlan plan({.shape = {36, 300}, .method = PointMethod::direct, .wave = wave}, where);
      plan.set_points({.position_m = position.view(), .amplitude = amplitude.view()});
      Array<std::complex<float>, 2> field({36, 300}, where);
      plan.execute({.field = field.view()});
      return field.to(Device{});
    };
    for (const auto wave : {holotone::Wave::fresnel, holotone::Wave::spherical}) {
      const auto expected = sum(wave, Device{});
      const std::vector<support::Complex64> reference(expected.data(), expected.data() + expected.size());
      support::expect_within("extreme points", support::relative_error(sum(wave, device).data(), reference), 2e-6);
    }
  });
}

}  // namespace
#endif
