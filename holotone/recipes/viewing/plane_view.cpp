#include <algorithm>
#include <holotone/optics/propagation.hpp>
#include <holotone/recipes/viewing/plane_view.hpp>

namespace holotone {

PlaneView::PlaneView(const HologramViewOptions& options, std::vector<HologramLight> lights)
    : HologramView(options.viewing), queue_(Queue::create(options.devices.front())) {
  describe(lights.front());
  intensity_ = Array<float, 2>(grid_.shape(), queue_);
  for (auto& light : lights) add(light, options, lights.size() == 3);
  std::vector<double> factors;
  factors.reserve(channels_.size());
  for (const auto& channel : channels_) factors.push_back(channel.factor);
  unit_ = common_unit(factors);
}

void PlaneView::add(HologramLight& light, const HologramViewOptions& options, bool colour) {
  ReconstructionOptions plane;
  plane.grid = light.grid;
  plane.aperture = options_.aperture;
  plane.method = choose_method(light.grid, options.any_distance);
  const double factor = expose(light, colour);
  channels_.push_back({ReconstructionPlan(plane, queue_), light.field.to(queue_.device()), factor});
  auto& channel = channels_.back();
  channel.plan.set_field(channel.field.view());
  if (options.keeps_light) lights_.push_back(std::move(light));
}

/// The method of all distances; automatic where they have several.
PropagationMethod PlaneView::choose_method(const FieldGrid& grid, bool any_distance) const {
  if (any_distance) return options_.method;
  const PropagationOptions options{.grid = grid, .method = options_.method};
  const auto distances = distances_m();
  const auto first = propagation_method(options, distances.front());
  const bool alike = std::ranges::all_of(
      distances, [&](double distance_m) { return propagation_method(options, distance_m) == first; });
  return alike ? first : PropagationMethod::automatic;
}

LightPicture PlaneView::picture(double distance_m, std::size_t /*frame*/, Progress& /*progress*/) {
  LightPicture picture;
  const bool stays = queue_.device().backend == Backend::cuda &&
                     std::ranges::all_of(channels_, [&](const Channel& channel) { return channel.factor == unit_; });
  if (stays) picture.queue = queue_;
  for (auto& colour : channels_) {
    if (stays) {
      Array<float, 2> channel(grid_.shape(), queue_);
      with_option_names([&] { colour.plan.execute(distance_m, channel.view()); });
      picture.channels.push_back(std::move(channel));
      continue;
    }
    with_option_names([&] { colour.plan.execute(distance_m, intensity_.view()); });
    Array<float, 2> channel(grid_.shape());
    copy<float, 2>(channel.view(), intensity_.view(), queue_);
    queue_.synchronize();
    if (const auto factor = static_cast<float>(colour.factor / unit_); factor != 1) {
      for (float& value : channel.host()) value *= factor;
    }
    picture.channels.push_back(std::move(channel));
  }
  return picture;
}

Array<Complex, 2> PlaneView::field(double distance_m) {
  if (channels_.size() > 1) return HologramView::field(distance_m);
  Array<Complex, 2> field(grid_.shape(), queue_);
  with_option_names([&] { channels_.front().plan.execute_field(distance_m, field.view()); });
  Array<Complex, 2> values(grid_.shape());
  copy<Complex, 2>(values.view(), field.view(), queue_);
  queue_.synchronize();
  return values;
}

bool PlaneView::set_aperture(const std::optional<Aperture>& aperture) {
  options_.aperture = aperture;
  for (auto& channel : channels_) {
    with_option_names([&] { channel.plan.set_aperture(aperture); });
    channel.plan.set_field(channel.field.view());
  }
  return true;
}

}  // namespace holotone
