// Engines of direct and recurrence, which differ in their kernels alone.
#include <algorithm>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/native_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/hologram/point_cloud/points_opencl.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>

namespace holotone::point_cloud {
namespace {

constexpr std::string_view folder = "holotone/hologram/point_cloud/direct/";
constexpr std::int64_t padding = 64;  // points that a kernel loads at once

/// Pixels of a group, and its work items, of which each owns some of them.
struct Tile {
  std::size_t columns;
  std::size_t rows;
  std::size_t items;
};
constexpr Tile direct_tile{128, 8, 128};
constexpr Tile recurrence_tile{256, 8, 128};
constexpr Tile wide_tile{128, 32, 1};

/// Most pairs of a point and a pixel in one launch: about a second of a slow device, for progress, Ctrl-C and drivers
/// that stop long kernels.
std::int64_t max_pairs(const Queue& queue) {
  const bool on_cpu = (opencl::info<CL_DEVICE_TYPE>(opencl::device_of(queue)) & CL_DEVICE_TYPE_CPU) != 0;
  return std::int64_t{1} << (on_cpu ? 33 : 37);
}

/// Lag of the spherical wave: SPHERICAL of direct_opencl.cl.
int lag_of(const PointCloudOptions& options) {
  if (options.wave == Wave::fresnel) return 0;
  return small_lag(options) ? 1 : 2;
}

class SumOpencl final : public PointCloudPlan::Engine {
 public:
  SumOpencl(PointMethod method, const PointCloudOptions& options, const Queue& queue, SumKernels kernels)
      : method_(method),
        options_(options),
        queue_(queue),
        points_(options, queue, padding),
        native_(kernels == SumKernels::native),
        wide_(kernels == SumKernels::wide),
        tile_(wide_                           ? wide_tile
              : method == PointMethod::direct ? direct_tile
                                              : recurrence_tile) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override { points_.set(points.sources); }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const std::int64_t nx = options_.shape[1];
    const std::int64_t pairs_a_row = std::max<std::int64_t>(1, points_.padded_count() * nx);
    const auto tile_rows = static_cast<std::int64_t>(tile_.rows);
    const std::int64_t most = std::max(tile_rows, max_pairs(queue_) / pairs_a_row / tile_rows * tile_rows);
    const auto from = [&](auto* begin, std::int64_t row) { return begin == nullptr ? nullptr : begin + row * nx; };
    for (std::int64_t row = 0; row < part.rows; row += most) {
      const std::int64_t rows = std::min(most, part.rows - row);
      sum({part.first_row + row, rows}, from(output.field.data(), row), from(output.real.data(), row),
          from(output.phase.data(), row), only_real(output));
      if (most < part.rows) queue_.synchronize();
      progress.step("summing points", row + rows, part.rows);
    }
  }

  [[nodiscard]] PointCloudInfo info() const override {
    std::string arithmetic = "float32, phases reduced in turns";
    if (wide_) arithmetic = "float32, phases in 32-bit turns";
    if (method_ == PointMethod::recurrence) {
      arithmetic = fmt::format("fixed point 2^-32 turn, anchored every {} pixels, float32 sum", wide_ ? 128 : 16);
    }
    return {method_, std::move(arithmetic), point_cloud_tolerance_floor, points_.bytes()};
  }

 private:
  void sum(const RowRange& part, std::complex<float>* field, float* real, std::uint8_t* phase, bool real_alone) {
    const auto nx = static_cast<std::size_t>(options_.shape[1]);
    const auto rows = static_cast<std::size_t>(part.rows);
    kernel(real_alone)(
        {(nx + tile_.columns - 1) / tile_.columns * tile_.items, (rows + tile_.rows - 1) / tile_.rows, 1},
        {tile_.items, 1, 1}, points_.position(), points_.wave(), points_.lit(), cl_long{points_.padded_count()},
        static_cast<cl_int>(nx), static_cast<cl_int>(part.first_row), static_cast<cl_int>(rows),
        opencl::two_floats(2 * options_.wavelength_m / options_.pitch_m),
        static_cast<cl_float>(1 / limit_cosine(options_)), field, real, phase);
  }

  /// Kernels are built when they are first used.
  opencl::Kernel& kernel(bool real_alone) {
    auto& kernel = kernels_[real_alone ? 1 : 0];
    if (kernel) return kernel;
    const bool recurrence = method_ == PointMethod::recurrence;
    const std::string_view name = wide_ ? "wide_sum" : recurrence ? "recurrence_sum" : "direct_sum";
    const std::string_view file = wide_ ? "wide_sum" : recurrence ? "recurrence" : "direct";
    kernel = opencl::Kernel(queue_, fmt::format("{}{}_opencl.cl", folder, file), name.data(),
                            {fmt::format("-DREAL_ALONE={:d}", real_alone), fmt::format("-DRECURRENCE={:d}", recurrence),
                             fmt::format("-DSPHERICAL={}", lag_of(options_)),
                             fmt::format("-DLIMITED={:d}", options_.wave == Wave::spherical && options_.band_limit),
                             fmt::format("-DFALLOFF={:d}", options_.falloff), fmt::format("-DNATIVE={:d}", native_)});
    return kernel;
  }

  PointMethod method_;
  PointCloudOptions options_;
  Queue queue_;
  OpenclPoints points_;
  bool native_;
  bool wide_;
  Tile tile_;
  opencl::Kernel kernels_[2];
};

SumKernels kernels_for(Wave wave, const Queue& queue) {
  if (wave == Wave::fresnel && opencl::prefers_vectors(queue)) return SumKernels::wide;
  return opencl::native_wave_error(queue) <= native_error ? SumKernels::native : SumKernels::portable;
}

}  // namespace

EnginePointer sum_opencl(PointMethod method, const PointCloudOptions& options, const Queue& queue, SumKernels kernels) {
  return std::make_unique<SumOpencl>(method, options, queue, kernels);
}

EnginePointer direct_opencl(const PointCloudOptions& options, const Queue& queue) {
  return sum_opencl(PointMethod::direct, options, queue, kernels_for(options.wave, queue));
}

EnginePointer recurrence_opencl(const PointCloudOptions& options, const Queue& queue) {
  return sum_opencl(PointMethod::recurrence, options, queue, kernels_for(options.wave, queue));
}

}  // namespace holotone::point_cloud
