#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/dice_surfaces.hpp>
#include <holotone/hologram/scene.hpp>
#include <limits>
#include <numbers>

namespace holotone {

using dice::Hit;
using dice::Ray;
using dice::Surfaces;
using dice::Vec3d;

struct DiceScene::State {
  DiceSceneOptions options;
  Surfaces surfaces;
};

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double farthest_m = 1e5;
constexpr double min_m = 1e-9;
constexpr std::string_view where = "DiceScene";

void require_colour(const std::string& argument, const Vec3f& colour) {
  for (const float value : colour) require_range(where, argument, static_cast<double>(value), 0, 1);
}

void require_die(const Die& die, std::size_t i) {
  const auto name = [&](const char* member) { return fmt::format("dice[{}].{}", i, member); };
  require_range(where, name("x_m"), die.x_m, -farthest_m, farthest_m);
  require_range(where, name("y_m"), die.y_m, -farthest_m, farthest_m);
  require_range(where, name("distance_m"), die.distance_m, -farthest_m, farthest_m);
  require_range(where, name("side_m"), die.side_m, min_m, 1e3);
  require_range(where, name("roll_rad"), die.roll_rad, -1e3, 1e3);
  require_range(where, name("turn_rad"), die.turn_rad, -1e3, 1e3);
  require_range(where, name("tilt_rad"), die.tilt_rad, -1e3, 1e3);
  require_colour(name("colour"), die.colour);
  require_colour(name("pip_colour"), die.pip_colour);
}

const DiceSceneOptions& checked(const DiceSceneOptions& options) {
  require_range(where, "dice", static_cast<double>(options.dice.size()), 0, 1000);
  for (std::size_t i = 0; i < options.dice.size(); ++i) require_die(options.dice[i], i);
  require_range(where, "board.size_m", options.board.size_m, min_m, 1e3);
  require_range(where, "board.distance_m", options.board.distance_m, -farthest_m, farthest_m);
  require_range(where, "board.squares", options.board.squares, 1, 1000);
  require_colour("board.light_colour", options.board.light_colour);
  require_colour("board.dark_colour", options.board.dark_colour);
  const Vec3d light = scene::unit(options.light);
  if (light == Vec3d{}) throw_argument(where, "light", "a direction", "none");
  require_range(where, "ambient", options.ambient, 0, 1);
  if (options.channels != 1 && options.channels != 3) {
    throw_argument(where, "channels", "1 or 3", std::to_string(options.channels));
  }
  require_range(where, "strata", options.strata, 1, 64);
  return options;
}

void require_eye(std::string_view function, const std::optional<Eye>& eye) {
  if (!eye) return;
  require_range(function, "eye.x_m", eye->x_m, -farthest_m, farthest_m);
  require_range(function, "eye.y_m", eye->y_m, -farthest_m, farthest_m);
  require_range(function, "eye.distance_m", eye->distance_m, min_m, farthest_m);
  require_range(function, "eye.pupil_m", eye->pupil_m, 0, farthest_m);
}

/// Rays through a point of the panel, against the light. Direction cosines whose squares sum to 1 or more give no ray.
struct PanelCamera {
  const Rays& rays;
  static constexpr bool pupil = false;

  [[nodiscard]] Ray at(double row, double col, double, double) const {
    const double cx = rays.first_x + col * rays.step;
    const double cy = rays.first_y - row * rays.step;
    const double square = cx * cx + cy * cy;
    return {
        {rays.x_m, rays.y_m, 0}, {-cx, -cy, -std::sqrt(std::max(0.0, 1 - square))}, square < 1 ? -endless : endless};
  }
};

/// Rays through a plane's pixels, from an eye or along the axis.
struct PlaneCamera {
  const DicePictureOptions& options;
  bool pupil = options.eye && options.eye->pupil_m > 0;

  [[nodiscard]] Ray at(double row, double col, double pupil_x, double pupil_y) const {
    const Vec3d point{(col - 0.5 * static_cast<double>(options.shape[1] - 1)) * options.pitch_m,
                      (0.5 * static_cast<double>(options.shape[0] - 1) - row) * options.pitch_m, -options.plane_m};
    if (!options.eye) return {point, {0, 0, -1}, -endless};
    const Vec3d eye{options.eye->x_m + pupil_x, options.eye->y_m + pupil_y, options.eye->distance_m};
    return {eye, {point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]}, 0};
  }
};

/// Colour and distance of one pixel.
struct Seen {
  std::array<double, 3> colour{};
  double distance_m = 0;
};

template <class Camera>
class Renderer {
 public:
  Renderer(const Surfaces& surfaces, const DiceSceneOptions& options, const Camera& camera, Shape<2> shape)
      : surfaces_(surfaces), options_(options), camera_(camera), shape_(shape) {}

  /// Calls set(row, col, seen) for every pixel. Distances, if requested, are those of the pixels' centres.
  template <class Set>
  void operator()(bool distances, const Set& set) const {
    constexpr std::int64_t at_once = 16;  // rows of a block, which share the rays at the corners between them
    parallel_for(0, (shape_[0] + at_once - 1) / at_once, [&](std::int64_t block) {
      const auto last = std::min(shape_[0], (block + 1) * at_once);
      std::vector<int> above(static_cast<std::size_t>(shape_[1] + 1), 0);
      std::vector<int> below(above);
      if (!camera_.pupil) trace_corners(block * at_once, above);
      for (std::int64_t row = block * at_once; row < last; ++row) {
        if (!camera_.pupil) trace_corners(row + 1, below);
        for (std::int64_t col = 0; col < shape_[1]; ++col) {
          const auto* const over = above.data() + col;
          const auto* const under = below.data() + col;
          const bool plain = !camera_.pupil && over[0] == over[1] && over[0] == under[0] && over[0] == under[1];
          set(row, col, seen(row, col, plain ? std::optional(over[0]) : std::nullopt, distances));
        }
        std::swap(above, below);
      }
    });
  }

 private:
  void trace_corners(std::int64_t row, std::vector<int>& colours) const {
    for (std::int64_t col = 0; col <= shape_[1]; ++col) {
      colours[static_cast<std::size_t>(col)] =
          first(static_cast<double>(row) - 0.5, static_cast<double>(col) - 0.5).colour;
    }
  }

  [[nodiscard]] Hit first(double row, double col, double pupil_x = 0, double pupil_y = 0) const {
    return surfaces_.first(camera_.at(row, col, pupil_x, pupil_y));
  }

  [[nodiscard]] double find_distance_m(const Hit& hit, double row, double col) const {
    const Ray ray = camera_.at(row, col, 0, 0);
    return -(ray.origin[2] + hit.t * ray.direction[2]);
  }

  [[nodiscard]] Seen seen(std::int64_t row, std::int64_t col, std::optional<int> plain, bool distances) const {
    Seen seen;
    const auto y = static_cast<double>(row);
    const auto x = static_cast<double>(col);
    if (plain) {
      add(seen, *plain, 1);
    } else {
      add_samples(seen, row, col);
    }
    if (!distances || (plain && *plain < 0)) return seen;
    if (const Hit hit = first(y, x); hit.colour >= 0) seen.distance_m = find_distance_m(hit, y, x);
    return seen;
  }

  void add(Seen& seen, int colour, double share) const {
    if (colour < 0) return;
    for (std::size_t c = 0; c < 3; ++c) seen.colour[c] += share * static_cast<double>(surfaces_.colour(colour)[c]);
  }

  void add_samples(Seen& seen, std::int64_t row, std::int64_t col) const {
    const int strata = options_.strata;
    const int count = strata * strata;
    const auto draw = [&, pixel = static_cast<std::uint64_t>(row * shape_[1] + col)](int number) {
      const auto draws = static_cast<std::uint64_t>(2 * count + 2);
      return random_uniform64(options_.seed, pixel * draws + static_cast<std::uint64_t>(number));
    };
    for (int i = 0; i < count; ++i) {
      const double y = static_cast<double>(row) - 0.5 + (i / strata + draw(2 * i)) / strata;
      const double x = static_cast<double>(col) - 0.5 + (i % strata + draw(2 * i + 1)) / strata;
      const auto [pupil_x, pupil_y] = pupil_point(i, draw(2 * count), draw(2 * count + 1));
      const Hit hit = first(y, x, pupil_x, pupil_y);
      add(seen, hit.colour, 1.0 / count);
      // Distance for a pixel whose centre ray meets nothing: that of its first sample that meets a surface.
      if (hit.colour >= 0 && seen.distance_m == 0) seen.distance_m = find_distance_m(hit, y, x);
    }
  }

  /// Returns point i of the R2 sequence, spread over the pupil by area: the rays in each row of strata fill the pupil.
  [[nodiscard]] std::array<double, 2> pupil_point(int i, double start_u, double start_v) const {
    if constexpr (std::is_same_v<Camera, PlaneCamera>) {
      if (camera_.pupil) {
        const double u = start_u + 0.7548776662466927 * i;
        const double v = start_v + 0.5698402909980532 * i;
        const double radius = 0.5 * camera_.options.eye->pupil_m * std::sqrt(u - std::floor(u));
        return {radius * std::cos(2 * std::numbers::pi * v), radius * std::sin(2 * std::numbers::pi * v)};
      }
    }
    return {0, 0};
  }

  const Surfaces& surfaces_;
  const DiceSceneOptions& options_;
  const Camera& camera_;
  Shape<2> shape_;
};

}  // namespace

std::vector<Die> paper_dice() {
  constexpr double degree = std::numbers::pi / 180;
  const Die top_left{
      -4.3e-3, 4.0e-3, 9.7e-2, 6e-3, 90 * degree, 38 * degree, 27 * degree, {0.62f, 0.03f, 0.03f}, {0.9f, 0.9f, 0.88f}};
  const Die bottom{-0.4e-3,
                   -3.1e-3,
                   9.1e-2,
                   8e-3,
                   180 * degree,
                   148 * degree,
                   24 * degree,
                   {0.86f, 0.85f, 0.80f},
                   {0.015f, 0.015f, 0.02f}};
  const Die top_right{
      3.7e-3, 3.7e-3, 8.1e-2, 6e-3, 0, -33 * degree, 24 * degree, {0.06f, 0.22f, 0.60f}, {0.9f, 0.9f, 0.88f}};
  return {top_left, bottom, top_right};
}

DiceScene::DiceScene(const DiceSceneOptions& options)
    : state_(std::make_unique<State>(State{checked(options), Surfaces(options)})) {}
DiceScene::~DiceScene() = default;
DiceScene::DiceScene(DiceScene&&) noexcept = default;
DiceScene& DiceScene::operator=(DiceScene&&) noexcept = default;

const DiceSceneOptions& DiceScene::options() const { return state_->options; }
int DiceScene::channels() const { return state_->options.channels; }

void DiceScene::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  constexpr std::string_view function = "DiceScene::look";
  require_range(function, "x_m", rays.x_m, -farthest_m, farthest_m);
  require_range(function, "y_m", rays.y_m, -farthest_m, farthest_m);
  require_range(function, "first_x", rays.first_x, -1e6, 1e6);
  require_range(function, "first_y", rays.first_y, -1e6, 1e6);
  require_positive(function, "step", rays.step);
  require_look(function, *this, rays, channel, intensity, distance_m);
  const bool distances = distance_m.data() != nullptr;
  const PanelCamera camera{rays};
  const auto c = static_cast<std::size_t>(channel);
  Renderer(state_->surfaces, state_->options, camera, rays.shape)(
      distances, [&](std::int64_t row, std::int64_t col, const Seen& seen) {
        const double cx = rays.first_x + static_cast<double>(col) * rays.step;
        const double cy = rays.first_y - static_cast<double>(row) * rays.step;
        const bool is_ray = cx * cx + cy * cy < 1;
        intensity(row, col) = is_ray ? static_cast<float>(seen.colour[c]) : 0;
        if (distances) distance_m(row, col) = static_cast<float>(seen.distance_m);
      });
}

DicePicture DiceScene::picture(const DicePictureOptions& options) const {
  constexpr std::string_view function = "DiceScene::picture";
  for (const auto side : options.shape) require_range(function, "shape", static_cast<double>(side), 1, 65536);
  require_range(function, "pitch_m", options.pitch_m, 1e-12, farthest_m);
  require_range(function, "plane_m", options.plane_m, -farthest_m, farthest_m);
  require_eye(function, options.eye);
  if (options.eye && !(options.plane_m + options.eye->distance_m >= min_m)) {
    throw_argument(function, "plane_m", fmt::format("a plane behind the eye's, above {}", -options.eye->distance_m),
                   fmt::format("{}", options.plane_m));
  }
  const std::int64_t planes = channels();
  DicePicture picture{Array<float, 3>({options.shape[0], options.shape[1], planes}), Array<float, 2>(options.shape)};
  const PlaneCamera camera{options};
  Renderer(state_->surfaces, state_->options, camera, options.shape)(
      true, [&](std::int64_t row, std::int64_t col, const Seen& seen) {
        for (std::int64_t c = 0; c < planes; ++c) {
          picture.colours(row, col, c) = static_cast<float>(seen.colour[static_cast<std::size_t>(c)]);
        }
        picture.distance_m(row, col) = static_cast<float>(seen.distance_m);
      });
  return picture;
}

namespace {

/// Unit direction and distance from a point to the eye; no distance for a viewer at infinity.
struct Sight {
  Vec3d toward{0, 0, 1};
  double distance_m = 0;

  static Sight of(const Vec3d& point, const std::optional<Eye>& eye) {
    if (!eye) return {};
    const Vec3d way{eye->x_m - point[0], eye->y_m - point[1], eye->distance_m - point[2]};
    return {scene::unit(way), std::sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])};
  }
  [[nodiscard]] double cosine(const Vec3d& normal) const {
    return toward[0] * normal[0] + toward[1] * normal[1] + toward[2] * normal[2];
  }
};

/// Points of the R3 sequence on the surfaces that face an eye, each surface by its area.
class Candidates {
 public:
  Candidates(const Surfaces& surfaces, const DicePointsOptions& options) : surfaces_(surfaces), options_(options) {
    double area = 0;
    for (int i = 0; i < surfaces.count(); ++i) {
      if (Sight::of(surfaces.at(i, 0.5, 0.5), options.eye).cosine(surfaces.normal(i)) <= 0) continue;
      facing_.push_back(i);
      area_.push_back(area += surfaces.area_m2(i));
    }
    for (std::size_t k = 0; k < start_.size(); ++k) start_[k] = random_uniform64(options.seed, k);
  }

  struct Point {
    Vec3d position{};
    int colour = -1;  ///< -1: hidden
  };
  [[nodiscard]] Point at(std::int64_t number) const {
    if (facing_.empty()) return {};
    constexpr std::array<double, 3> step{0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    std::array<double, 3> place{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double turns = start_[k] + static_cast<double>(number) * step[k];
      place[k] = turns - std::floor(turns);
    }
    const auto chosen = std::upper_bound(area_.begin(), area_.end() - 1, place[2] * area_.back()) - area_.begin();
    const int surface = facing_[static_cast<std::size_t>(chosen)];
    Point point{surfaces_.at(surface, place[0], place[1])};
    const Sight sight = Sight::of(point.position, options_.eye);
    const Vec3d back{-sight.toward[0], -sight.toward[1], -sight.toward[2]};
    // The ray starts at the eye, or without an eye in front of all surfaces.
    const Hit hit = surfaces_.first({point.position, back, options_.eye ? -sight.distance_m : -endless});
    if (hit.colour >= 0 && hit.colour / 2 == surface) point.colour = hit.colour;
    return point;
  }

 private:
  const Surfaces& surfaces_;
  const DicePointsOptions& options_;
  std::vector<int> facing_;
  std::vector<double> area_;  ///< cumulative area of the facing surfaces
  std::array<double, 3> start_{};
};

}  // namespace

PointCloud DiceScene::points(const DicePointsOptions& options) const {
  constexpr std::string_view function = "DiceScene::points";
  require_bounds(function, "count", static_cast<double>(options.count), bounds_of<&DicePointsOptions::count>);
  require_eye(function, options.eye);
  const Surfaces& surfaces = state_->surfaces;
  const Candidates candidates(surfaces, options);
  const auto count = static_cast<std::size_t>(options.count);
  const double board_m = options.eye ? options.eye->distance_m + state_->options.board.distance_m : 0;
  PointCloud cloud;
  std::vector<Candidates::Point> some(std::size_t{1} << 14);
  for (std::int64_t tried = 0; cloud.size() < count; tried += std::ssize(some)) {
    if (tried > 1'000'000 && cloud.size() == 0)
      throw_argument(function, "eye", "one that sees the scene", "one that does not");
    parallel_for(0, std::ssize(some),
                 [&](std::int64_t i) { some[static_cast<std::size_t>(i)] = candidates.at(tried + i); });
    for (std::size_t i = 0; i < some.size() && cloud.size() < count; ++i) {
      const auto& [position, number] = some[i];
      if (number < 0) continue;
      const Sight sight = Sight::of(position, options.eye);
      const double nearness = options.eye ? board_m / sight.distance_m : 1;
      const double weight = sight.cosine(surfaces.normal(number / 2)) * nearness * nearness;
      const Vec3f& colour = surfaces.colour(number);
      const double light = channels() == 1 ? static_cast<double>(colour[0]) : luminance(colour);
      cloud.position.push_back(
          {static_cast<float>(position[0]), static_cast<float>(position[1]), static_cast<float>(position[2])});
      cloud.amplitude.push_back(static_cast<float>(std::sqrt(light * weight)));
      if (channels() == 3) cloud.colour.push_back(colour);
    }
  }
  return cloud;
}

}  // namespace holotone
