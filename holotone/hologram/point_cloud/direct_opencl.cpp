#include <fmt/format.h>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/hologram/point_cloud/points_opencl.hpp>

namespace holotone::point_cloud {
namespace {

constexpr auto general_source = "holotone/hologram/point_cloud/direct_opencl.cl";
constexpr auto wide_source = "holotone/hologram/point_cloud/direct_wide_opencl.cl";
constexpr std::int64_t tile_points = 64;
constexpr std::size_t tile_columns = 128;
constexpr std::size_t tile_rows = 8;
constexpr std::size_t wide_tile_rows = 32;

/// Parts of the sphere's lag: SPHERICAL of direct_opencl.cl.
int lag_of(const PointCloudOptions& options) {
  if (options.wave == Wave::fresnel) return 0;
  return options.band_limit ? 1 : 2;
}

class DirectOpencl final : public PointCloudPlan::Engine {
 public:
  DirectOpencl(const PointCloudOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        points_(options, queue, tile_points),
        wide_(options.wave == Wave::fresnel && opencl::prefers_vectors(queue)) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override { points_.set(points.sources); }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const auto nx = static_cast<std::size_t>(options_.shape[1]);
    const auto rows = static_cast<std::size_t>(part.rows);
    const auto run = [&](const opencl::Range& items, const opencl::Range& group, const auto&... slope) {
      kernel(only_real(output))(items, group, points_.position(), points_.wave(), points_.lit(),
                                cl_long{points_.padded_count()}, static_cast<cl_int>(nx),
                                static_cast<cl_int>(part.first_row), static_cast<cl_int>(rows), slope...,
                                output.field.data(), output.real.data(), output.phase.data());
    };
    if (wide_) {
      run({(nx + tile_columns - 1) / tile_columns, (rows + wide_tile_rows - 1) / wide_tile_rows, 1}, {1, 1, 1});
    } else {
      run({nx, (rows + tile_rows - 1) / tile_rows, 1}, {tile_columns, 1, 1},
          opencl::two_floats(2 * options_.wavelength_m / options_.pitch_m));
    }
    progress.step("summing points", 1, 1);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::direct, wide_ ? "float32, 32-bit turns" : "float32, phases reduced in turns", 2e-6,
            points_.bytes()};
  }

 private:
  /// Kernels are built when they are first used.
  opencl::Kernel& kernel(bool real_alone) {
    auto& own = kernels_[real_alone ? 1 : 0];
    if (!own) {
      const std::string real = fmt::format("-DREAL_ALONE={:d}", real_alone);
      own = wide_ ? opencl::Kernel(queue_, wide_source, "direct_wide", {real})
                  : opencl::Kernel(queue_, general_source, "direct_sum",
                                   {real, fmt::format("-DSPHERICAL={}", lag_of(options_))});
    }
    return own;
  }

  PointCloudOptions options_;
  Queue queue_;
  OpenclPoints points_;
  bool wide_;
  opencl::Kernel kernels_[2];
};

}  // namespace

EnginePointer direct_opencl(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<DirectOpencl>(options, queue);
}

}  // namespace holotone::point_cloud
