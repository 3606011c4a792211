#include "views.hpp"
#include "tables_generated.hpp"

namespace holotone::python {

int PythonViews::channels() const {
  int channels = 0;
  Job::ask(job_, [&] {
    nb::object given = object_.attr("channels")();
    if (nb::try_cast(given, channels)) return;
    throw_argument("", "channels()", "int", shown(given));
  });
  return channels;
}

bool PythonViews::has_distances() const {
  bool has = false;
  Job::ask(job_, [&] { has = nb::cast<bool>(nb::bool_(nb::object(object_.attr("has_distances")()))); });
  return has;
}

void PythonViews::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  Job::ask(job_, [&] {
    CallbackArgument<View<float, 2>> seen(intensity);
    CallbackArgument<View<float, 2>> far(distance_m);
    object_.attr("look")(rays, channel, seen.object, far.object);
    seen.finish();
    far.finish();
  });
}

Argument<const ViewSource&>::Argument(Context& context, const Name& /*name*/) {
  const nb::handle value = context.given.next();
  const auto take = [&]<class Source>(const Bound<Source>* bound) {
    if (!source_ && nb::try_cast(value, bound) && bound) source_ = bound->plan.get();
  };
  take(static_cast<const Bound<ViewGrid>*>(nullptr));
  take(static_cast<const Bound<LayerViews>*>(nullptr));
  take(static_cast<const Bound<DiceScene>*>(nullptr));
  take(static_cast<const Bound<LightFieldViews>*>(nullptr));
  if (source_) return;
  if (!nb::hasattr(value, "look") || !nb::hasattr(value, "channels") || !nb::hasattr(value, "has_distances")) {
    throw_argument(context.call.function(), context.given.name(),
                   "a source of views: ViewGrid, LayerViews, DiceScene, LightFieldViews, or an object with channels(), "
                   "has_distances() and look(rays, channel, intensity, distance_m)",
                   shown(value));
  }
  own_ = std::make_unique<PythonViews>(value, context.call.job());
}

std::vector<std::int64_t> find_extents(const Dots& /*dots*/, std::string_view member) {
  if (member == "position") return {2};
  return {};
}

std::vector<std::int64_t> find_extents(const SmoeModel& model, std::string_view member) {
  if (member == "centre") return {model.dimensions};
  if (member == "covariance") return {triangle_size(model.dimensions)};
  if (member == "colour") return {model.channels};
  if (member == "slope") return {model.channels, model.dimensions};
  return {};
}

std::vector<std::int64_t> find_extents(const SmoeGradient& gradient, std::string_view member) {
  const auto count = static_cast<std::int64_t>(gradient.log_weight.size());
  const std::int64_t channels = count ? static_cast<std::int64_t>(gradient.colour.size()) / count : 1;
  if (member == "centre") return {2};
  if (member == "covariance") return {3};
  if (member == "colour") return {channels};
  if (member == "slope") return {channels, 2};
  return {};
}

SlicedPicture copied(const SlicedPicture& picture) {
  return {copy_of(picture.intensity.view(), {}), copy_of(picture.layer.view(), {}), picture.distance_m, picture.beyond};
}

}  // namespace holotone::python
