#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/retrieval/problem.hpp>

namespace holotone::retrieval {

double common_scale(std::span<const RegionSums> sums, const std::vector<RetrievalPlane>& planes) {
  double light = 0;
  double agreement = 0;
  const std::size_t positions = sums.size() / planes.size();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double weight = planes[i / positions].weight;
    light += weight * sums[i].light;
    agreement += weight * sums[i].agreement;
  }
  return light > 0 ? agreement / light : 0;
}

double psnr_db(double peak, double count, double error) {
  return 10 * std::log10(peak * peak * count / std::max(error, 1e-30));
}

Problem::Problem(Engine& engine, const PhaseRetrievalOptions& options, Queue queue, RetrievalCamera camera)
    : engine_(engine), options_(options), queue_(std::move(queue)), camera_(std::move(camera)) {
  engine_.clear_weights();
  if (!camera_) return;
  measured_ = Array<float, 4>({static_cast<std::int64_t>(options.planes.size()), static_cast<std::int64_t>(positions()),
                               options.grid.ny, options.grid.nx});
}

void Problem::copy(float* target, const float* source) {
  copy_bytes(target, queue_.device(), source, queue_.device(),
             static_cast<std::size_t>(element_count(shape())) * sizeof(float), queue_);
}

void Problem::measure(const float* phase) {
  const auto host = copy_of(View<const float, 3>(phase, shape(), queue_.device()), Device{});
  float* values = measured_.data();
  for (std::size_t plane = 0; plane < options_.planes.size(); ++plane) {
    for (std::size_t position = 0; position < positions(); ++position) {
      engine_.amplitude(plane, position, values);
      values += options_.grid.ny * options_.grid.nx;
    }
  }
  camera_(host.view(), measured_.view());
  for (const float value : measured_.host()) {
    if (!std::isfinite(value) || value < 0) {
      throw_argument("PhaseRetrievalPlan", "camera", "finite amplitudes >= 0", fmt::format("{}", value));
    }
  }
  engine_.set_measured(measured_.data());
}

double Problem::scale_of(const std::vector<RegionSums>& sums) {
  if (options_.efficiency == 0) return common_scale(sums, options_.planes);
  if (fixed_scale_ == 0) {
    double target = 0;
    for (const auto& sum : sums) target += sum.target / static_cast<double>(sums.size());
    fixed_scale_ = std::sqrt(target / (options_.efficiency * engine_.panel_light()));
  }
  return fixed_scale_;
}

Loss Problem::loss_of(const std::vector<RegionSums>& sums) {
  Loss loss;
  loss.scale = scale_of(sums);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double weight = options_.planes[i / positions()].weight;
    loss.value += 0.5 * weight * sums[i].error(loss.scale);
  }
  loss.value = std::max(0.0, loss.value);
  return loss;
}

Loss Problem::assess(const float* phase) {
  engine_.propagate(phase, positions());
  if (camera_) measure(phase);
  return loss_of(engine_.sums(options_.loss));
}

double Problem::evaluate(const float* phase, float* derivative) {
  const Loss loss = assess(phase);
  engine_.differentiate(phase, loss.scale, derivative);
  if (held_ != nullptr) engine_.hold_levels(phase, *held_, derivative);
  return loss.value;
}

double Problem::psnr_db(double peak) const {
  const auto sums = engine_.sums(RetrievalLoss::amplitude);
  const double scale = common_scale(sums, options_.planes);
  double error = 0;
  for (const auto& sum : sums) error += sum.error(scale);
  const auto count =
      static_cast<double>(options_.region.rows * options_.region.columns) * static_cast<double>(sums.size());
  return retrieval::psnr_db(peak, count, error);
}

}  // namespace holotone::retrieval
