// Memory of holograms of points.
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/point_cloud_detail.hpp>

namespace holotone {
namespace {

// As the plan chooses: products of factors unless wave, device or method exclude them.
TEST(PointMemory, AutomaticCountsTheMethodsThatItMayChoose) {
  PointCloudOptions options;
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::cpu), 12);
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::cuda), 12);
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::opencl), 0);
  options.method = PointMethod::direct;
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::cpu), 0);
  options.method = PointMethod::separable;
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::cpu), 12);
  options.wave = Wave::spherical;
  EXPECT_THROW((void)sum_bytes_a_pixel(options, Backend::cpu), Error);
  options.method = PointMethod::automatic;
  EXPECT_EQ(sum_bytes_a_pixel(options, Backend::cpu), 0);
}

}  // namespace
}  // namespace holotone
