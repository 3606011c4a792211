#include <holotone/hologram/point_cloud/spectrum/far_sum_cuda.hpp>
#include <vector>

namespace holotone::point_cloud {

FarSum::FarSum(const PointCloudOptions& options, const Queue& queue) : options_(options), queue_(queue), plan_(queue) {}

void FarSum::make(const FarGrid& grid) {
  margin_ = grid.margin;
  plan_.make(*grid.fast.grid, grid.fast.window, options_.tolerance);
  std::vector<float> host = grid.share[0];
  host.insert(host.end(), grid.share[1].begin(), grid.share[1].end());
  reserve(shares_, std::ssize(host), queue_);
  copy_bytes(shares_.data(), queue_.device(), host.data(), Device{}, host.size() * sizeof(float), queue_);
  queue_.synchronize();
  const auto [rows, columns] = grid.shape;
  const auto step = [this](std::int64_t length) { return 1 / (static_cast<double>(length) * options_.pitch_m); };
  filter_ = {static_cast<int>(rows),
             static_cast<int>(columns),
             step(rows),
             step(columns),
             1 / options_.wavelength_m,
             grid.middle_m,
             1 / static_cast<double>(rows * columns),
             shares_.data(),
             shares_.data() + grid.share[0].size()};
  if (transform_ && transform_->shape() == grid.shape) return;
  reserve(field_, rows * columns, queue_);
  transform_.emplace(grid.shape, queue_, FftOptions{.scale_inverse = false});
}

void FarSum::set(const PointSources& sources, const PointSummary& summary) {
  const auto [rows, columns] = transform_->shape();
  const FastCloud cloud =
      fast_cloud(options_, {-margin_[0], -margin_[1], {rows, columns}}, sources.amplitude.size(), summary);
  plan_.set({sources.position_m.data(), sources.amplitude.data(), sources.phase_rad.data(), cloud.count,
             cloud.inverse_pitch, cloud.center_x, cloud.center_y, cloud.turns_metre, 0},
            summary, options_.deterministic);
}

void FarSum::sum(cuda::MatrixProductChoice how) {
  const auto stream = cuda::stream_of(queue_);
  const auto [rows, columns] = transform_->shape();
  const View<std::complex<float>, 2> field{
      reinterpret_cast<std::complex<float>*>(field_.data()), {rows, columns}, queue_.device()};
  write_pixels(plan_.grid(), plan_.sum(how), plan_.factors(), {0, rows}, 0, columns, {field_.data(), nullptr, nullptr},
               stream);
  transform_->execute(field, FftDirection::forward);
  correct_far_field(filter_, field_.data(), stream);
  transform_->execute(field, FftDirection::inverse);
}

}  // namespace holotone::point_cloud
