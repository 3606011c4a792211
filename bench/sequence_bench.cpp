// sequence/*: what a frame of a sequence of holograms costs besides its sum. sample, hide: 437,645 points of a teapot
// of 46,656 triangles; hide_and_drop: with the copy of the points and the removal. pack: the 8-bit phase of the visible
// ones of 20,000 points of it on 1920 x 1080 pixels, written as PNG; pack_random: with random phases; pack_stored:
// `pack` without compression. Files are compared before they are timed.
#include <algorithm>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <cstdlib>
#include <filesystem>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/sample_scene.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>
#include <variant>

namespace bench {
namespace {

using holotone::Array;
using holotone::Image;
using holotone::Mesh;
using holotone::PointCloud;

constexpr std::int64_t points = 437645;

Mesh object() {
  Mesh mesh = holotone::teapot(27);
  turn(mesh, -0.7);
  tilt(mesh, 0.35);
  place(mesh, {});
  return mesh;
}

void sample(benchmark::State& state) {
  const Mesh mesh = object();
  time_iterations(state, {}, [&] { benchmark::DoNotOptimize(sample_surface(mesh, points, 0)); });
}

void hide(benchmark::State& state) {
  const Mesh mesh = object();
  const PointCloud cloud = sample_surface(mesh, points, 0);
  std::int64_t visible = 0;
  time_iterations(state, {}, [&] {
    const auto keep = visible_points(cloud, &mesh);
    visible = std::count(keep.begin(), keep.end(), true);
  });
  state.counters["visible"] = static_cast<double>(visible);
}

void hide_and_drop(benchmark::State& state) {
  const Mesh mesh = object();
  const PointCloud cloud = sample_surface(mesh, points, 0);
  time_iterations(state, {}, [&] {
    PointCloud turned = cloud;
    benchmark::DoNotOptimize(hide_occluded(turned, &mesh));
  });
}

Image codes(bool random_phase) {
  const Mesh mesh = object();
  PointCloud cloud = sample_surface(mesh, 20000, 0);
  if (random_phase) cloud.phase_rad = holotone::random_phases(static_cast<std::int64_t>(cloud.size()), 0);
  hide_occluded(cloud, &mesh);
  shade(cloud, {1, 1, 1}, 0.3);
  holotone::PointCloudPlan plan({.wavelength_m = 532e-9, .pitch_m = 8e-6, .shape = {1080, 1920}});
  const auto view = [](const std::vector<float>& values) { return holotone::view_of(std::span<const float>(values)); };
  plan.set_points({.position_m = {cloud.position.front().data(), {static_cast<std::int64_t>(cloud.size()), 3}},
                   .amplitude = view(cloud.amplitude),
                   .phase_rad = random_phase ? view(cloud.phase_rad) : holotone::View<const float, 1>{}});
  Array<std::uint8_t, 3> phase({1080, 1920, 1});
  plan.execute({{}, {}, holotone::View<std::uint8_t, 2>(phase.data(), {1080, 1920})});
  return {std::move(phase), {}};
}

void pack(benchmark::State& state, bool random_phase, std::optional<int> level) {
  const Image image = codes(random_phase);
  const auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
  std::string folder = (std::filesystem::temp_directory_path() / "holotone_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    state.SkipWithError("no temporary folder");
    return;
  }
  const auto file = std::filesystem::path(folder) / "codes.png";
  const auto write = [&] { write_image(file.string(), image, {level}); };
  write();
  const Image back = holotone::read_image(file.string());
  if (!std::ranges::equal(std::get<Array<std::uint8_t, 3>>(back.pixels).host(), pixels.host())) {
    state.SkipWithError("the file has other codes");
    return;
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(file));
  time_iterations(state, {}, write);
  state.counters["size_percent"] = 100 * bytes / static_cast<double>(pixels.size());
  std::filesystem::remove_all(folder);
}

}  // namespace

void add_sequence_rows(const RowOptions& /*options*/) {
  register_row("sequence/sample/437645", sample);
  register_row("sequence/hide/437645", hide);
  register_row("sequence/hide_and_drop/437645", hide_and_drop);
  register_row("sequence/pack", [](benchmark::State& state) { pack(state, false, {}); });
  register_row("sequence/pack_random", [](benchmark::State& state) { pack(state, true, {}); });
  register_row("sequence/pack_stored", [](benchmark::State& state) { pack(state, false, 0); });
}

}  // namespace bench
