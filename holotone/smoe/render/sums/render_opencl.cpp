// Rendering of models on OpenCL: many views at a time, a group of work items for each area of a picture.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/smoe/render/image_components.hpp>
#include <holotone/smoe/render/moving_component.hpp>
#include <holotone/smoe/render/render_engine.hpp>

namespace holotone::smoe {
namespace {

constexpr std::int64_t items = 256;
constexpr std::int64_t pack = 16;
constexpr std::int64_t area_side = 32;
constexpr std::int64_t tile_side = 8;
constexpr std::int64_t quarter_side = 4;
constexpr std::int64_t placed_rows = 4;
constexpr std::size_t max_bytes = std::size_t{1} << 30;  // of components in views, if several do not fit

/// Sizes and Settings of the kernels.
struct Sizes {
  cl_int width, height, areas_x, areas;
  cl_uint count, padded;
  cl_int fixed;
};
struct Settings {
  float tolerance, window;
  cl_int window_block, selection, robust;
};

/// Rows of a view's frame.
struct Frame {
  cl_float2 corner[2], a_step[2], step[2], fixed[2];
};

std::int64_t in_wholes(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

/// The order of a model's components in memory: by the curve through their places, those of like size together. Small
/// ones have one class, as the reach of a pack is that of its largest.
std::vector<std::uint32_t> order_of(const SmoeModel& model, const std::vector<MovingComponent>& moving) {
  const double area = (model.high[0] - model.low[0]) * (model.high[1] - model.low[1]);
  const double spacing = std::sqrt(area / static_cast<double>(model.count()));
  const auto size = [&](std::uint32_t j) {
    const double larger = std::log2(static_cast<double>(moving[j].deviation) / (2 * spacing)) / 2;
    return static_cast<int>(std::clamp(std::ceil(larger), 0.0, 8.0));
  };
  auto order = order_along_curve(model);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) < size(b); });
  return order;
}

template <int Dimensions>
std::vector<MovingComponent> moving_components(const SmoeModel& model) {
  const auto numbers = count_numbers(model);
  std::vector<MovingComponent> moving(static_cast<std::size_t>(model.count()));
  parallel_for(0, in_wholes(model.count(), items), [&](std::int64_t part) {
    for (std::int64_t j = part * items; j < std::min(model.count(), (part + 1) * items); ++j) {
      moving[static_cast<std::size_t>(j)] = moving_component<Dimensions>(numbers, j);
    }
  });
  return moving;
}

cl_float4 join(cl_float2 a, cl_float2 b) { return {{a.s[0], a.s[1], b.s[0], b.s[1]}}; }
cl_float4 four(const float* numbers) { return {{numbers[0], numbers[1], numbers[2], numbers[3]}}; }

/// The rows of float4 that components_opencl.cl names. In float64 on the host, with the check of the model: a device
/// need not have it, and covariances near singular need more than two floats.
std::vector<cl_float4> make_rows(const SmoeModel& model, std::int64_t padded) {
  const auto moving = model.dimensions == 2   ? moving_components<2>(model)
                      : model.dimensions == 3 ? moving_components<3>(model)
                                              : moving_components<4>(model);
  const auto order = order_of(model, moving);
  double highest = moving.front().shape.peak;
  for (const auto& component : moving) highest = std::max(highest, component.shape.peak);
  const std::size_t rows = model.dimensions == 2 ? 6 : 13;
  std::vector<cl_float4> all(rows * static_cast<std::size_t>(padded));
  const auto two = [](double value) { return opencl::two_floats(value); };
  parallel_for(0, in_wholes(model.count(), items), [&](std::int64_t part) {
    for (std::int64_t i = part * items; i < std::min(model.count(), (part + 1) * items); ++i) {
      const MovingComponent& component = moving[order[static_cast<std::size_t>(i)]];
      const Expert& expert = component.expert;
      constexpr double root_of_half_log2_e = 0.84932180028801904272;
      const auto scale = [&](int k, int axis) { return two(root_of_half_log2_e * component.scale[k][axis]); };
      const cl_float4 numbers[] = {
          {{static_cast<float>(component.x), static_cast<float>(component.y), component.steep, 0}},
          join(two(component.shape.across), two(component.shape.skew)),
          join(two(component.shape.down), two(component.shape.peak - highest)),
          four(expert.colour),
          four(expert.slope_x),
          four(expert.slope_y),
          {{static_cast<float>(component.at[0]), static_cast<float>(component.at[1]), 0, 0}},
          join(two(component.shift_x[0]), two(component.shift_x[1])),
          join(two(component.shift_y[0]), two(component.shift_y[1])),
          join(scale(0, 0), scale(1, 0)),
          join(scale(1, 1), {}),
          four(component.drift[0]),
          four(component.drift[1])};
      for (std::size_t row = 0; row < rows; ++row) {
        all[row * static_cast<std::size_t>(padded) + static_cast<std::size_t>(i)] = numbers[row];
      }
    }
  });
  return all;
}

Frame make_frame(const SmoeView& view) {
  Frame frame{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double step = view.extent[axis] / static_cast<double>(view.size[1 - axis]);
    frame.corner[axis] = opencl::two_floats(view.corner[axis] + 0.5 * step);
    frame.a_step[axis] = opencl::two_floats(1 / step);
    frame.step[axis] = opencl::two_floats(step);
    if (axis < view.at.size()) frame.fixed[axis] = opencl::two_floats(view.at[axis]);
  }
  return frame;
}

bool same(const Frame& a, const Frame& b) {
  using Bits = std::array<std::uint32_t, sizeof(Frame) / sizeof(std::uint32_t)>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// PoCL 5.0's compiler ends the process by an assertion (createParallelRegionBefore) on the loops of these kernels;
/// 3.1 and 6.0 compile them. 4.0 was not tried.
void require_compiler(const Queue& queue) {
  const cl::Platform platform(opencl::info<CL_DEVICE_PLATFORM>(opencl::device_of(queue)));
  const std::string version = platform.getInfo<CL_PLATFORM_VERSION>();
  const auto at = version.find("PoCL ");
  const int major = at == std::string::npos ? 0 : std::atoi(version.c_str() + at + 5);
  if (major != 4 && major != 5) return;
  throw_unsupported("SmoeRenderer", "queue", "a device whose compiler takes these kernels, such as the CPU",
                    fmt::format("{} of {}", to_string(queue.device()), version.substr(at)));
}

class OpenclEngine final : public SmoeRenderer::Engine {
 public:
  OpenclEngine(const SmoeModel& model, Queue queue, const SmoeRenderOptions& options)
      : model_(model),
        queue_(std::move(queue)),
        options_(options),
        padded_(in_wholes(model.count(), items) * items),
        place_(kernel("place")),
        raise_best_(kernel("raise_best")),
        areas_(kernel("areas")),
        exact_areas_(kernel("exact_areas")) {
    const auto rows = make_rows(model, padded_);
    numbers_ = Array<cl_float4, 1>({std::ssize(rows)}, queue_);
    copy_bytes(numbers_.data(), queue_.device(), rows.data(), Device{}, rows.size() * sizeof(cl_float4), queue_);
  }

  void render(std::span<const SmoeView> views, View<float, 4> images, Progress& /*progress*/) override {
    const auto& [all, height, width, channels] = images.shape();
    const std::int64_t areas_x = in_wholes(width, area_side);
    const Sizes sizes{static_cast<cl_int>(width),
                      static_cast<cl_int>(height),
                      static_cast<cl_int>(areas_x),
                      static_cast<cl_int>(areas_x * in_wholes(height, area_side)),
                      static_cast<cl_uint>(model_.count()),
                      static_cast<cl_uint>(padded_),
                      model_.dimensions - 2};
    views_ = all;
    size_ = {height, width};
    reserve(counts_, all * sizes.areas, queue_);
    const std::int64_t at_once = views_at_once(sizes, all);
    for (std::int64_t first = 0; first < all; first += at_once) {
      const std::int64_t number = std::min(at_once, all - first);
      set_views(views.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(number)), sizes);
      sum_views(sizes, number, counts_.data() + first * sizes.areas, &images(first, 0, 0, 0));
    }
  }

  [[nodiscard]] SmoeRenderInfo info() const override {
    const std::int64_t areas = in_wholes(size_[0], area_side) * in_wholes(size_[1], area_side) * views_;
    std::vector<cl_uint4> counts(static_cast<std::size_t>(areas));
    queue_.synchronize();
    if (areas > 0) {
      copy_bytes(counts.data(), Device{}, counts_.data(), queue_.device(), counts.size() * sizeof(cl_uint4), queue_);
    }
    SmoeRenderInfo info;
    info.tile = {tile_side, tile_side};
    double sum = 0;
    for (const auto& count : counts) {
      sum += static_cast<double>(count.s[0]);
      info.max_components = std::max<std::int64_t>(info.max_components, count.s[1]);
      info.robust_tiles += std::popcount(count.s[2]);
    }
    const std::int64_t tiles = in_wholes(size_[0], tile_side) * in_wholes(size_[1], tile_side) * views_;
    info.components_per_tile = tiles > 0 ? sum / static_cast<double>(tiles) : 0;
    return info;
  }

 private:
  opencl::Kernel kernel(const char* name) const {
    return {
        queue_, "holotone/smoe/render/sums/render_opencl.cl", name, {fmt::format("-DCHANNELS={}", model_.channels)}};
  }

  static std::int64_t quarters_of(const Sizes& sizes) {
    return in_wholes(sizes.width, quarter_side) * in_wholes(sizes.height, quarter_side);
  }
  [[nodiscard]] std::int64_t nodes_of_view() const { return padded_ / items + padded_ / pack; }

  [[nodiscard]] std::int64_t views_at_once(const Sizes& sizes, std::int64_t views) const {
    const auto bytes = sizeof(cl_float4) * static_cast<std::size_t>(placed_rows * padded_) +
                       sizeof(cl_float8) * static_cast<std::size_t>(nodes_of_view()) +
                       sizeof(cl_uint) * static_cast<std::size_t>(quarters_of(sizes));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(max_bytes / bytes), 1, views);
  }

  /// Places the components in the views, unless they are there.
  void set_views(std::span<const SmoeView> views, const Sizes& sizes) {
    std::vector<Frame> frames;
    std::transform(views.begin(), views.end(), std::back_inserter(frames), make_frame);
    if (std::equal(frames.begin(), frames.end(), set_.begin(), set_.end(), same)) return;
    const auto number = std::ssize(frames);
    reserve(frames_, number, queue_);
    reserve(placed_, number * placed_rows * padded_, queue_);
    reserve(nodes_, number * nodes_of_view(), queue_);
    copy_bytes(frames_.data(), queue_.device(), frames.data(), Device{}, frames.size() * sizeof(Frame), queue_);
    place_(opencl::over(padded_, number), {items, 1, 1}, sizes, numbers_.data(), frames_.data(), placed_.data(),
           nodes_.data());
    set_ = std::move(frames);
  }

  void sum_views(const Sizes& sizes, std::int64_t number, cl_uint4* counts, float* images) {
    const bool robust = options_.precision == SmoePrecision::robust;
    const std::int64_t quarters = number * quarters_of(sizes);
    reserve(best_, quarters, queue_);
    if (options_.selection != SmoeSelection::window) {
      opencl::clear(best_.data(), static_cast<std::size_t>(quarters) * sizeof(cl_uint), queue_);
      raise_best_(opencl::over(padded_, number), {items, 1, 1}, sizes, placed_.data(), best_.data());
    }
    const Settings settings{static_cast<float>(options_.tolerance), static_cast<float>(options_.window_px),
                            static_cast<cl_int>(options_.window_block_px > 0 ? options_.window_block_px : tile_side),
                            static_cast<cl_int>(options_.selection), robust ? 1 : 0};
    const auto run = [&](opencl::Kernel& kernel) {
      kernel(opencl::over(sizes.areas * items, number), {items, 1, 1}, sizes, settings, numbers_.data(), frames_.data(),
             placed_.data(), nodes_.data(), best_.data(), counts, images);
    };
    if (!robust) run(areas_);
    run(exact_areas_);
  }

  const SmoeModel& model_;
  Queue queue_;
  SmoeRenderOptions options_;
  std::int64_t padded_;
  opencl::Kernel place_;
  opencl::Kernel raise_best_;
  opencl::Kernel areas_;
  opencl::Kernel exact_areas_;
  Array<cl_float4, 1> numbers_;  ///< the model
  std::vector<Frame> set_;
  Array<Frame, 1> frames_;      ///< set_ on the device
  Array<cl_float4, 1> placed_;  ///< components in these views
  Array<cl_float8, 1> nodes_;
  Array<cl_uint, 1> best_;
  Array<cl_uint4, 1> counts_;
  std::int64_t views_ = 0;
  Shape<2> size_{};
};

}  // namespace

EnginePointer engine_opencl(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options) {
  require_compiler(queue);
  return std::make_unique<OpenclEngine>(model, queue, options);
}

}  // namespace holotone::smoe
