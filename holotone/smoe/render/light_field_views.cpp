// A light field model as the source of views of a stereogram.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/units.hpp>
#include <holotone/smoe/light_field_views.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <mutex>

namespace holotone {
namespace {

constexpr std::string_view where = "LightFieldViews";

/// Coordinate that is linear in the position p at which a ray crosses the panel and in its slope t: base + panel p +
/// slope t.
struct Linear {
  double base = 0;
  double panel = 0;
  double slope = 0;
  [[nodiscard]] double at(double p, double t) const { return base + panel * p + slope * t; }
};

/// Coordinates x and u of rays, or y and v. One of them, the counting one, runs along the rays through a point; the
/// other follows from it.
struct Axis {
  Linear picture;
  Linear camera;
  std::array<double, 2> picture_range{};
  std::array<double, 2> camera_range{};
  bool by_picture = false;
  double ratio = 0;  ///< other coordinate = w + ratio (counting coordinate)

  void choose() {
    const double slope = std::abs(picture.slope) / (picture_range[1] - picture_range[0]);
    const double other = std::abs(camera.slope) / (camera_range[1] - camera_range[0]);
    by_picture = slope > other;
    ratio = by_picture ? camera.slope / picture.slope : picture.slope / camera.slope;
  }
  [[nodiscard]] const Linear& counting() const { return by_picture ? picture : camera; }
  [[nodiscard]] const Linear& fixed() const { return by_picture ? camera : picture; }
  /// w: the same for all rays through p.
  [[nodiscard]] double slice_at(double p) const { return fixed().at(p, 0) - ratio * counting().at(p, 0); }
  /// True if a ray meets both the picture and the cameras.
  [[nodiscard]] bool is_inside(double p, double t) const {
    const double x = picture.at(p, t);
    const double u = camera.at(p, t);
    return x >= picture_range[0] && x <= picture_range[1] && u >= camera_range[0] && u <= camera_range[1];
  }
};

/// Extends a model without v to one that is constant in v.
SmoeModel with_four_dimensions(const SmoeModel& model) {
  if (model.dimensions == 4) return model;
  SmoeModel lifted = model;
  lifted.dimensions = 4;
  lifted.low[3] = -1;
  lifted.high[3] = 1;
  lifted.centre.clear();
  lifted.covariance.clear();
  lifted.slope.clear();
  for (std::int64_t j = 0; j < model.count(); ++j) {
    lifted.centre.insert(lifted.centre.end(), model.centre.begin() + 3 * j, model.centre.begin() + 3 * j + 3);
    lifted.centre.push_back(0);
    lifted.covariance.insert(lifted.covariance.end(), model.covariance.begin() + 6 * j,
                             model.covariance.begin() + 6 * j + 6);
    lifted.covariance.insert(lifted.covariance.end(), {0, 0, 0, 1});
  }
  for (std::size_t i = 0; i < model.slope.size(); i += 3) {
    lifted.slope.insert(lifted.slope.end(), {model.slope[i], model.slope[i + 1], model.slope[i + 2], 0});
  }
  return lifted;
}

/// The model in coordinates {counting along x, counting along y, fixed along x, fixed along y}.
SmoeModel sheared(SmoeModel model, const std::array<Axis, 2>& axes) {
  std::array<int, 2> counting{};
  std::array<int, 2> fixed{};
  for (int a = 0; a < 2; ++a) {
    counting[a] = axes[a].by_picture ? a : a + 2;
    fixed[a] = axes[a].by_picture ? a + 2 : a;
  }
  smoe::Matrix t{};  // new coordinates by old ones
  for (int a = 0; a < 2; ++a) {
    t[a][counting[a]] = 1;
    t[a + 2][fixed[a]] = 1;
    t[a + 2][counting[a]] = -axes[a].ratio;
  }
  const auto q = static_cast<std::int64_t>(model.channels);
  for (std::int64_t j = 0; j < model.count(); ++j) {
    float* const centre = model.centre.data() + 4 * j;
    const std::array<float, 4> old{centre[0], centre[1], centre[2], centre[3]};
    const auto r = smoe::symmetric(model.covariance.data() + 10 * j, 4);
    float* triangle = model.covariance.data() + 10 * j;
    for (int row = 0; row < 4; ++row) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += t[row][k] * static_cast<double>(old[static_cast<std::size_t>(k)]);
      centre[row] = static_cast<float>(sum);
      for (int column = 0; column <= row; ++column) {
        double product = 0;
        for (int k = 0; k < 4; ++k) {
          for (int l = 0; l < 4; ++l) product += t[row][k] * r[k][l] * t[column][l];
        }
        *triangle++ = static_cast<float>(product);
      }
    }
    for (std::int64_t c = 0; c < q; ++c) {
      float* const slope = model.slope.data() + 4 * (j * q + c);
      const std::array<float, 4> before{slope[0], slope[1], slope[2], slope[3]};
      for (int a = 0; a < 2; ++a) {
        const auto of = [&](int axis) { return static_cast<double>(before[static_cast<std::size_t>(axis)]); };
        slope[a] = static_cast<float>(of(counting[a]) + axes[a].ratio * of(fixed[a]));
        slope[a + 2] = static_cast<float>(of(fixed[a]));
      }
    }
  }
  for (int a = 0; a < 2; ++a) {
    const auto& axis = axes[a];
    const auto& range = axis.by_picture ? axis.picture_range : axis.camera_range;
    const auto& other = axis.by_picture ? axis.camera_range : axis.picture_range;
    model.low[static_cast<std::size_t>(a)] = range[0];
    model.high[static_cast<std::size_t>(a)] = range[1];
    const double reach = std::abs(axis.ratio) * std::max(std::abs(range[0]), std::abs(range[1]));
    model.low[static_cast<std::size_t>(a) + 2] = other[0] - reach;
    model.high[static_cast<std::size_t>(a) + 2] = other[1] + reach;
  }
  return model;
}

/// The model's channel c alone.
SmoeModel extract_channel(const SmoeModel& model, int c) {
  SmoeModel one = model;
  one.channels = 1;
  one.colour.clear();
  one.slope.clear();
  const auto d = static_cast<std::int64_t>(model.dimensions);
  for (std::int64_t j = 0; j < model.count(); ++j) {
    const std::int64_t at = j * model.channels + c;
    one.colour.push_back(model.colour[static_cast<std::size_t>(at)]);
    one.slope.insert(one.slope.end(), model.slope.begin() + at * d, model.slope.begin() + (at + 1) * d);
  }
  return one;
}

std::array<Axis, 2> find_axes(const SmoeModel& model, const LightFieldGeometry& geometry) {
  const double width = model.high[0] - model.low[0];
  const double scale = width / geometry.size_m;  // pixels a metre
  std::array<Axis, 2> axes;
  for (int a = 0; a < 2; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const double sign = a == 0 ? 1 : -1;  // y of pictures and v go down
    Axis& axis = axes[i];
    axis.picture_range = {model.low[i], model.high[i]};
    axis.picture = {0.5 * (model.low[i] + model.high[i]), sign * scale, -sign * scale * geometry.distance_m};
    const double low = model.low[i + 2];
    const double high = model.high[i + 2];
    const double camera = sign * (high - low) / (a == 0 ? geometry.width_m : geometry.height_m);
    const double margin = geometry.margin_m * std::abs(camera);
    axis.camera = {0.5 * (low + high), camera, camera * geometry.view_distance_m};
    axis.camera_range = {low - margin, high + margin};
    axis.choose();
  }
  return axes;
}

/// Weights of four neighbours, the second and third around `t` in [0, 1]. Source: Keys 1981, a = -1/2.
std::array<float, 4> cubic_weights(float t) {
  const float s = 1 - t;
  return {-0.5F * t * s * s, 1 + t * t * (1.5F * t - 2.5F), 1 + s * s * (1.5F * s - 2.5F), -0.5F * s * t * t};
}

constexpr double max_samples = 32768;

/// Evenly spaced samples along an axis of a slice's picture.
struct Samples {
  double first = 0;  ///< coordinate of the first
  double step = 0;
  std::int64_t count = 0;
};

/// Samples that enclose all rays between two slopes, as close as the rays.
Samples enclose_rays(const Axis& axis, double p, const std::array<double, 2>& slopes, double step) {
  const Linear& line = axis.counting();
  const double a = line.at(p, slopes[0]);
  const double b = line.at(p, slopes[1]);
  Samples samples;
  // Slopes diverge as cosines approach 1: the number of samples is limited there.
  samples.step = std::max(std::abs(line.slope) * step, std::abs(b - a) / max_samples);
  samples.first = std::min(a, b) - 1.5 * samples.step;
  samples.count = static_cast<std::int64_t>(std::ceil(std::abs(b - a) / samples.step)) + 5;
  return samples;
}

}  // namespace

struct LightFieldViews::State {
  LightFieldOptions options;
  Device device;
  std::array<Axis, 2> axes;
  std::vector<SmoeModel> models;  ///< models of the channels
  bool linear = false;
  /// Idle renderers of each channel. GPU: one each.
  std::mutex lock;
  std::vector<std::vector<std::unique_ptr<SmoeRenderer>>> idle;
  std::mutex gpu_lock;

  std::unique_ptr<SmoeRenderer> take(std::size_t channel) {
    {
      const std::lock_guard guard(lock);
      auto& renderers = idle[channel];
      if (!renderers.empty()) {
        auto renderer = std::move(renderers.back());
        renderers.pop_back();
        return renderer;
      }
    }
    return std::make_unique<SmoeRenderer>(models[channel], Queue(device),
                                          SmoeRenderOptions{.tolerance = options.tolerance});
  }

  /// Renders a slice as linear light.
  Array<float, 2> picture(std::size_t channel, const SmoeView& view) {
    std::unique_lock<std::mutex> turn(gpu_lock, std::defer_lock);
    if (device.backend != Backend::cpu) turn.lock();
    auto renderer = take(channel);
    const std::int64_t colours = models[channel].channels;
    Array<float, 3> image({view.size[0], view.size[1], colours}, device);
    renderer->render(view, image.view());
    if (device.backend != Backend::cpu) image = image.to(Device{});
    {
      const std::lock_guard guard(lock);
      idle[channel].push_back(std::move(renderer));
    }
    constexpr std::array<double, 3> luminance{0.2126, 0.7152, 0.0722};
    Array<float, 2> light(view.size);
    for (std::int64_t i = 0; i < light.size(); ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < std::min<std::int64_t>(colours, 3); ++c) {
        const double code = std::max(0.0, static_cast<double>(image.data()[i * colours + c]));
        const double weight = colours >= 3 ? luminance[static_cast<std::size_t>(c)] : 1;
        sum += weight * (linear ? code : srgb_to_linear(code));
      }
      light.data()[i] = static_cast<float>(sum);
    }
    return light;
  }
};

LightFieldViews::LightFieldViews(const SmoeModel& model, const LightFieldOptions& options, Device device) {
  require_model(where, model);
  if (model.dimensions < 3) {
    throw_argument(where, "model", "a light field's, of 3 or 4 dimensions", std::to_string(model.dimensions));
  }
  if (model.channels == 2) throw_argument(where, "model", "1, 3 or 4 channels", "2");
  const auto& geometry = options.geometry;
  require_positive(where, "view_distance_m", geometry.view_distance_m);
  require_positive(where, "width_m", geometry.width_m);
  require_positive(where, "height_m", geometry.height_m);
  require_positive(where, "size_m", geometry.size_m);
  require_range(where, "margin_m", geometry.margin_m, 0, 1e9);
  if (!(geometry.distance_m > -geometry.view_distance_m) || !std::isfinite(geometry.distance_m)) {
    throw_argument(where, "distance_m",
                   fmt::format("more than {}, behind the cameras' plane", format_length(-geometry.view_distance_m)),
                   format_length(geometry.distance_m));
  }
  state_ = std::make_unique<State>();
  state_->options = options;
  state_->device = device;
  state_->linear = model.linear;
  const SmoeModel padded = with_four_dimensions(model);
  state_->axes = find_axes(padded, geometry);
  // Without v there is one row of cameras, whose light is not limited vertically.
  if (model.dimensions == 3) state_->axes[1].camera_range = {-INFINITY, INFINITY};
  const auto whole = sheared(padded, find_axes(padded, geometry));
  const bool one = model.channels == 1 || options.luminance;
  for (int c = 0; c < (one ? 1 : 3); ++c) state_->models.push_back(one ? whole : extract_channel(whole, c));
  state_->idle.resize(state_->models.size());
  for (std::size_t c = 0; c < state_->models.size(); ++c) state_->idle[c].push_back(state_->take(c));
}

LightFieldViews::~LightFieldViews() = default;

int LightFieldViews::channels() const { return static_cast<int>(state_->models.size()); }

void LightFieldViews::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  require_look("LightFieldViews::look", *this, rays, channel, intensity, distance_m);
  std::fill_n(intensity.data(), intensity.size(), 0.0F);
  if (!distance_m.empty()) {
    std::fill_n(distance_m.data(), distance_m.size(), static_cast<float>(state_->options.geometry.distance_m));
  }
  const auto& axes = state_->axes;
  // Slopes of the rays; x is NaN for rays that miss the picture or the cameras.
  std::array<double, 2> across{INFINITY, -INFINITY};
  std::array<double, 2> up = across;
  std::vector<std::array<double, 2>> slopes(static_cast<std::size_t>(element_count(rays.shape)));
  for (std::int64_t r = 0; r < rays.shape[0]; ++r) {
    for (std::int64_t c = 0; c < rays.shape[1]; ++c) {
      auto& [x, y] = slopes[static_cast<std::size_t>(r * rays.shape[1] + c)];
      slopes_of(rays, r, c, x, y);
      if (!std::isfinite(x) || !axes[0].is_inside(rays.x_m, x) || !axes[1].is_inside(rays.y_m, y)) {
        x = NAN;
        continue;
      }
      across = {std::min(across[0], x), std::max(across[1], x)};
      up = {std::min(up[0], y), std::max(up[1], y)};
    }
  }
  if (!(across[0] <= across[1])) return;
  const Samples columns = enclose_rays(axes[0], rays.x_m, across, rays.step);
  const Samples rows = enclose_rays(axes[1], rays.y_m, up, rays.step);
  SmoeView view;
  view.size = {rows.count, columns.count};
  view.corner = {columns.first - 0.5 * columns.step, rows.first - 0.5 * rows.step};
  view.extent = {static_cast<double>(columns.count) * columns.step, static_cast<double>(rows.count) * rows.step};
  view.at = {axes[0].slice_at(rays.x_m), axes[1].slice_at(rays.y_m)};
  const auto light = state_->picture(static_cast<std::size_t>(channel), view);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const auto [x, y] = slopes[i];
    if (!std::isfinite(x)) continue;
    const double column = (axes[0].counting().at(rays.x_m, x) - columns.first) / columns.step;
    const double row = (axes[1].counting().at(rays.y_m, y) - rows.first) / rows.step;
    const auto left = static_cast<std::int64_t>(column);
    const auto top = static_cast<std::int64_t>(row);
    const auto weight_x = cubic_weights(static_cast<float>(column - static_cast<double>(left)));
    const auto weight_y = cubic_weights(static_cast<float>(row - static_cast<double>(top)));
    float sum = 0;
    for (std::int64_t m = 0; m < 4; ++m) {
      const float* const line = light.data() + (top - 1 + m) * columns.count + left - 1;
      float part = 0;
      for (std::size_t n = 0; n < 4; ++n) part += weight_x[n] * line[n];
      sum += weight_y[static_cast<std::size_t>(m)] * part;
    }
    intensity.data()[i] = std::max(0.0F, sum);
  }
}

}  // namespace holotone
