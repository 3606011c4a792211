#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/hologram/layers_engine.hpp>
#include <holotone/optics/propagation.hpp>
#include <numbers>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where_layers = "LayerPlan::set_layers";
constexpr const char* where_execute = "LayerPlan::execute";
constexpr const char* where_adjoint = "LayerPlan::adjoint";

layers::EnginePointer make_engine(const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return layers::engine_cpu();
    case Backend::cuda:
#if HOLOTONE_CUDA
      return layers::engine_cuda(queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return layers::engine_opencl(queue);
#else
      break;
#endif
  }
  throw_no_backend("LayerPlan", queue.device());
}

PropagationOptions propagation_options(const LayerOptions& options) {
  require_grid("LayerPlan", options.grid);
  return {.grid = options.grid, .method = PropagationMethod::angular_spectrum};
}

/// Layer in the order of computation.
struct Slab {
  double distance_m = 0;
  View<const float, 2> intensity;
  View<const float, 2> mask;
  layers::Source source;   ///< compose sets its pointers to intensity and mask
  std::size_t number = 0;  ///< in the caller's order
};

void require_layer(const Layer& layer, std::size_t number, const Shape<2>& shape, Device device) {
  const auto check = [&](const char* name, const View<const float, 2>& view) {
    require_view(where_layers, fmt::format("layer {}: {}", number, name), view, shape,
                 view.device() == Device{} ? Device{} : device);
  };
  check("intensity", layer.intensity);
  if (layer.mask.data() != nullptr) check("mask", layer.mask);
  if (!std::isfinite(layer.distance_m)) {
    throw_argument(where_layers, fmt::format("layer {}: distance_m", number), "a finite number",
                   fmt::format("{}", layer.distance_m));
  }
}

void require_set(const char* where, std::size_t layers) {
  if (layers == 0) throw_argument(where, "layers", "a call of set_layers or set_picture before", "none");
}

}  // namespace

std::string_view to_string(LayerPhase phase) { return name_of(phase); }

std::string_view to_string(LayerSpacing spacing) { return name_of(spacing); }

struct LayerPlan::State {
  State(const LayerOptions& chosen, Queue line)
      : options(chosen),
        queue(std::move(line)),
        propagation(propagation_options(chosen), queue),
        engine(make_engine(queue)) {}

  LayerOptions options;
  Queue queue;
  PropagationPlan propagation;
  layers::EnginePointer engine;
  std::vector<Slab> slabs;        ///< far to near
  Array<float, 2> intensity;      ///< of a picture, or of the current layer
  Array<float, 2> mask;           ///< of the current layer
  Array<std::uint16_t, 2> layer;  ///< of a picture
  Array<Complex, 2> front;        ///< light in the plane of a layer in front of the panel
  Array<Complex, 2> returning;    ///< the adjoint's field on its way to the far layers

  [[nodiscard]] layers::Source source() const {
    layers::Source source;
    source.random = options.phase == LayerPhase::random;
    source.seed = options.seed;
    return source;
  }

  template <class T>
  void take(Array<T, 2>& array) {
    if (array.data() == nullptr) array = Array<T, 2>(options.grid.shape(), queue);
  }

  /// Sorts the slabs and allocates the memory for those in front of the panel.
  void prepare() {
    std::stable_sort(slabs.begin(), slabs.end(),
                     [](const Slab& a, const Slab& b) { return a.distance_m > b.distance_m; });
    if (slabs.back().distance_m < 0) take(front);
  }

  /// Returns the view's data on the plan's device; data from the host are copied to `staged`.
  const float* on_device(const View<const float, 2>& view, Array<float, 2>& staged) const {
    if (view.data() == nullptr || view.device() == queue.device()) return view.data();
    copy<float, 2>(staged.view(), view, queue);
    return staged.data();
  }

  void compose(View<Complex, 2> field, const Slab& slab, layers::Carry carry, bool dark = false) {
    layers::Source source = slab.source;
    source.dark = dark;
    source.intensity = on_device(slab.intensity, intensity);
    source.mask = on_device(slab.mask, mask);
    engine->compose(field, source, carry);
  }

  /// Computes the layers behind the panel or in its plane; returns their number.
  std::size_t execute_behind(View<Complex, 2> field, Progress& progress) {
    std::size_t i = 0;
    for (; i < slabs.size() && slabs[i].distance_m >= 0; ++i) {
      step(progress, i);
      if (i > 0) propagate(field, slabs[i - 1].distance_m - slabs[i].distance_m);
      compose(field, slabs[i], i == 0 ? layers::Carry::nothing : layers::Carry::passed);
    }
    if (i > 0) propagate(field, slabs[i - 1].distance_m);
    return i;
  }

  void execute_in_front(View<Complex, 2> field, std::size_t first, Progress& progress) {
    for (std::size_t i = first; i < slabs.size(); ++i) {
      step(progress, i);
      const double towards_viewer = -slabs[i].distance_m;
      if (i == 0) {  // no incident light: the layer's own light propagates directly to the panel
        compose(field, slabs[i], layers::Carry::nothing);
        propagate(field, -towards_viewer);
        continue;
      }
      propagation.execute(field, front.view(), towards_viewer);
      compose(front.view(), slabs[i], layers::Carry::stopped);
      propagate(front.view(), -towards_viewer);
      engine->add(field, front.view());
    }
  }

  /// Applies the adjoint of execute_in_front to `field`, and to it that of each layer's light.
  void adjoint_in_front(View<Complex, 2> field, std::span<const View<Complex, 2>> light, Progress& progress) {
    for (std::size_t i = slabs.size(); i-- > 0 && slabs[i].distance_m < 0;) {
      step(progress, slabs.size() - 1 - i);
      const double towards_viewer = -slabs[i].distance_m;
      const auto& layer_light = light[slabs[i].number];
      propagation.execute(field, layer_light, towards_viewer);
      if (i == 0) return;
      propagation.execute(layer_light, front.view(), 0);
      compose(front.view(), slabs[i], layers::Carry::stopped, true);
      propagate(front.view(), -towards_viewer);
      engine->add(field, front.view());
    }
  }

  void adjoint_behind(View<Complex, 2> field, std::span<const View<Complex, 2>> light, Progress& progress) {
    double at = 0;
    for (std::size_t i = slabs.size(); i-- > 0;) {
      if (slabs[i].distance_m < 0) continue;
      step(progress, slabs.size() - 1 - i);
      propagate(field, at - slabs[i].distance_m);
      at = slabs[i].distance_m;
      propagation.execute(field, light[slabs[i].number], 0);
      if (i > 0) compose(field, slabs[i], layers::Carry::passed, true);
    }
  }

  void propagate(View<Complex, 2> field, double distance_m) {
    if (distance_m != 0) propagation.execute(field, field, distance_m);
  }

  void step(Progress& progress, std::size_t done) const {
    progress.step("propagating layers", static_cast<std::int64_t>(done), static_cast<std::int64_t>(slabs.size()));
  }
};

LayerPlan::LayerPlan(const LayerOptions& options, Queue queue)
    : state_(std::make_unique<State>(options, std::move(queue))) {}

LayerPlan::~LayerPlan() = default;
LayerPlan::LayerPlan(LayerPlan&&) noexcept = default;
LayerPlan& LayerPlan::operator=(LayerPlan&&) noexcept = default;

void LayerPlan::set_layers(std::span<const Layer> layers) {
  auto& state = *state_;
  const auto shape = state.options.grid.shape();
  if (layers.empty()) throw_argument(where_layers, "layers", "at least one", "none");
  for (std::size_t i = 0; i < layers.size(); ++i) require_layer(layers[i], i, shape, state.queue.device());
  state.slabs.clear();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Slab slab{layers[i].distance_m, layers[i].intensity, layers[i].mask, state.source(), i};
    slab.source.first_draw = static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(element_count(shape));
    state.slabs.push_back(slab);
    if (slab.intensity.device() != state.queue.device()) state.take(state.intensity);
    if (slab.mask.data() != nullptr && slab.mask.device() != state.queue.device()) state.take(state.mask);
  }
  state.prepare();
}

void LayerPlan::set_picture(const SlicedPicture& picture) {
  constexpr const char* where = "LayerPlan::set_picture";
  auto& state = *state_;
  const auto shape = state.options.grid.shape();
  require_view(where, "intensity", picture.intensity.view(), shape, Device{});
  require_view(where, "layer", picture.layer.view(), shape, Device{});
  if (picture.distance_m.empty() || picture.distance_m.size() > max_picture_layers) {
    throw_argument(where, "distance_m", fmt::format("1 to {} layers", max_picture_layers),
                   fmt::format("{}", picture.distance_m.size()));
  }
  state.slabs.clear();
  state.take(state.intensity);
  state.take(state.layer);
  copy<float, 2>(state.intensity.view(), picture.intensity.view(), state.queue);
  copy<std::uint16_t, 2>(state.layer.view(), picture.layer.view(), state.queue);
  state.queue.synchronize();
  for (std::size_t i = 0; i < picture.distance_m.size(); ++i) {
    Slab slab{picture.distance_m[i], std::as_const(state.intensity).view(), {}, state.source(), i};
    slab.source.number = state.layer.data();
    slab.source.wanted = static_cast<std::uint16_t>(i);
    state.slabs.push_back(slab);
  }
  state.prepare();
}

void LayerPlan::execute(const RowRange& part, View<Complex, 2> field, Progress& progress) {
  const std::int64_t rows = state_->options.grid.ny;
  require_rows(where_execute, part, rows);
  if (part.rows < rows) {
    throw_unsupported(
        where_execute, "part",
        "the whole panel, all of which a layer's waves cross; StereogramPlan computes parts of layers (LayerViews)",
        fmt::format("{} of {} rows", part.rows, rows));
  }
  execute(field, progress);
}

void LayerPlan::execute(View<Complex, 2> field, Progress& progress) {
  auto& state = *state_;
  require_view(where_execute, "field", field, state.options.grid.shape(), state.queue.device());
  require_set(where_execute, state.slabs.size());
  const std::size_t behind = state.execute_behind(field, progress);
  state.execute_in_front(field, behind, progress);
}

void LayerPlan::adjoint(View<const Complex, 2> field, std::span<const View<Complex, 2>> light, Progress& progress) {
  auto& state = *state_;
  const auto shape = state.options.grid.shape();
  require_view(where_adjoint, "field", field, shape, state.queue.device());
  require_set(where_adjoint, state.slabs.size());
  if (light.size() != state.slabs.size()) {
    throw_argument(where_adjoint, "light", fmt::format("one view for each layer, {}", state.slabs.size()),
                   fmt::format("{}", light.size()));
  }
  for (std::size_t i = 0; i < light.size(); ++i) {
    require_view(where_adjoint, fmt::format("light {}", i), light[i], shape, state.queue.device());
  }
  state.take(state.returning);
  state.propagation.execute(field, state.returning.view(), 0);
  state.adjoint_in_front(state.returning.view(), light, progress);
  state.adjoint_behind(state.returning.view(), light, progress);
}

const LayerOptions& LayerPlan::options() const { return state_->options; }

std::size_t LayerPlan::workspace_bytes() const {
  const auto& state = *state_;
  return state.propagation.workspace_bytes() + state.intensity.bytes() + state.mask.bytes() + state.layer.bytes() +
         state.front.bytes() + state.returning.bytes();
}

Array<float, 1> random_phase(std::int64_t count, std::uint64_t seed) {
  Array<float, 1> phase({count});
  parallel_for(0, count, [&](std::int64_t i) {
    const float turns = random_uniform(seed, static_cast<std::uint64_t>(i));
    phase(i) = 2 * std::numbers::pi_v<float> * (turns > 0.5F ? turns - 1.0F : turns);
  });
  return phase;
}

Array<Complex, 2> layer_field(const RgbdPicture& picture, const LayerOptions& options, Device device,
                              Progress& progress) {
  const Queue queue(device);
  LayerPlan plan(options, queue);
  plan.set_picture(slice_picture(picture, options.grid));
  Array<Complex, 2> field(options.grid.shape(), queue);
  plan.execute(field.view(), progress);
  queue.synchronize();
  return field;
}

}  // namespace holotone
