// The renderer of models: checks and the choice of the backend.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/smoe/codes.hpp>
#include <holotone/smoe/render/image_components.hpp>
#include <holotone/smoe/render/render_engine.hpp>
#include <string>

namespace holotone {
namespace {

constexpr const char* where = "SmoeRenderer";
constexpr std::int64_t largest_side = 65536;

void require_options(const SmoeRenderOptions& options) {
  require_bounds(where, "tolerance", options.tolerance, bounds_of<&SmoeRenderOptions::tolerance>);
  require_bounds(where, "window_px", options.window_px, bounds_of<&SmoeRenderOptions::window_px>);
  constexpr Bounds block = bounds_of<&SmoeRenderOptions::window_block_px>;
  const auto side = static_cast<double>(options.window_block_px);
  if (!(side >= block.low && side <= block.high) || options.window_block_px % 16 != 0) {
    throw_argument(where, "window_block_px", "0 or a multiple of 16 up to 65536",
                   std::to_string(options.window_block_px));
  }
}

smoe::EnginePointer make_engine(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options) {
  switch (queue.device().backend) {
    case Backend::cpu: return smoe::engine_cpu(model, options);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return smoe::engine_cuda(model, queue, options);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return smoe::engine_opencl(model, queue, options);
#else
      break;
#endif
  }
  throw_no_backend(where, queue.device());
}

SmoeView checked(const SmoeModel& model, SmoeView view) {
  for (const auto side : view.size) {
    if (side < 1 || side > largest_side) {
      throw_argument(where, "view.size", fmt::format("sides of 1 to {} pixels", largest_side), to_string<2>(view.size));
    }
  }
  if (view.extent == std::array<double, 2>{}) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      view.corner[axis] = model.low[axis];
      view.extent[axis] = model.high[axis] - model.low[axis];
    }
  }
  const auto number = [](double value) { return fmt::format("{:g}", value); };
  for (std::size_t axis = 0; axis < 2; ++axis) {
    require_positive(where, "view.extent", view.extent[axis]);
    const double step = view.extent[axis] / static_cast<double>(view.size[1 - axis]);
    if (!(step >= 1 / farthest_smoe && view.extent[axis] <= 2 * farthest_smoe)) {
      throw_argument(where, "view.extent",
                     fmt::format("steps from pixel to pixel of {:g} to {:g}", 1 / farthest_smoe, farthest_smoe),
                     number(step));
    }
    if (!(std::abs(view.corner[axis]) <= farthest_smoe)) {
      throw_argument(where, "view.corner", fmt::format("numbers within {:g}", farthest_smoe),
                     number(view.corner[axis]));
    }
  }
  if (std::ssize(view.at) != model.dimensions - 2) {
    throw_argument(where, "view.at", fmt::format("{} coordinates", model.dimensions - 2),
                   std::to_string(view.at.size()));
  }
  for (const double value : view.at) {
    if (std::abs(value) <= farthest_smoe) continue;
    throw_argument(where, "view.at", fmt::format("coordinates within {:g}", farthest_smoe), number(value));
  }
  return view;
}

}  // namespace

struct SmoeRenderer::State {
  SmoeModel model;
  Queue queue;
  smoe::EnginePointer engine;
  Array<float, 1> colours;  ///< colours of pictures rendered as codes

  template <class Code>
  void render_codes(SmoeRenderer& renderer, std::span<const SmoeView> views, View<Code, 4> images, int bits) {
    if (views.empty()) throw_argument(where, "views", "at least one", "none");
    const auto& [ny, nx] = checked(model, views.front()).size;
    const Shape<4> shape{std::ssize(views), ny, nx, model.channels};
    reserve(colours, shape[0] * ny * nx * model.channels, queue);
    const View<float, 4> view(colours.data(), shape, queue.device());
    renderer.render(views, view);
    smoe_codes(view, images, {bits, model.linear}, queue);
  }
};

SmoeRenderer::SmoeRenderer(SmoeModel model, Queue queue, const SmoeRenderOptions& options) {
  require_model(where, model);
  if (model.dimensions < 2) throw_argument(where, "model", "at least 2 dimensions", std::to_string(model.dimensions));
  smoe::require_slices(model);
  require_options(options);
  state_ = std::make_unique<State>(State{std::move(model), std::move(queue), nullptr, {}});
  state_->engine = make_engine(state_->model, state_->queue, options);
}

SmoeRenderer::~SmoeRenderer() = default;
SmoeRenderer::SmoeRenderer(SmoeRenderer&&) noexcept = default;
SmoeRenderer& SmoeRenderer::operator=(SmoeRenderer&&) noexcept = default;

void SmoeRenderer::render(const SmoeView& view, View<float, 3> image, Progress& progress) {
  const auto checked_view = checked(state_->model, view);
  const auto [ny, nx] = checked_view.size;
  const std::int64_t channels = state_->model.channels;
  require_view(where, "image", image, Shape<3>{ny, nx, channels}, state_->queue.device());
  state_->engine->render(std::span(&checked_view, 1), {image.data(), {1, ny, nx, channels}, image.device()}, progress);
}

void SmoeRenderer::render(std::span<const SmoeView> views, View<float, 4> images) {
  if (views.empty()) throw_argument(where, "views", "at least one", "none");
  std::vector<SmoeView> checked_views;
  for (const auto& view : views) {
    checked_views.push_back(checked(state_->model, view));
    if (view.size != views.front().size) {
      throw_argument(where, "views", "one size, " + to_string<2>(views.front().size), to_string<2>(view.size));
    }
  }
  const auto& [ny, nx] = checked_views.front().size;
  require_view(where, "images", images, Shape<4>{std::ssize(checked_views), ny, nx, state_->model.channels},
               state_->queue.device());
  state_->engine->render(checked_views, images, Progress::none());
}

void SmoeRenderer::render(std::span<const SmoeView> views, View<std::uint8_t, 4> images) {
  state_->render_codes(*this, views, images, 8);
}

void SmoeRenderer::render(std::span<const SmoeView> views, View<std::uint16_t, 4> images, int bits) {
  state_->render_codes(*this, views, images, bits);
}

const SmoeModel& SmoeRenderer::model() const { return state_->model; }
SmoeRenderInfo SmoeRenderer::info() const { return state_->engine->info(); }

}  // namespace holotone
