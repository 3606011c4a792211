#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/half_pixel_reconstruction.hpp>
#include <holotone/recipes/viewing/lens_view.hpp>
#include <holotone/recipes/viewing/view_comparison.hpp>
#include <memory>

namespace holotone {
namespace {

constexpr std::string_view where = "compare_holograms";

SignalRegion checked_region(const SignalRegion& region, const FieldGrid& grid) {
  const auto& [row, column, rows, columns] = region;
  if (rows == 0 && columns == 0) return {0, 0, grid.ny, grid.nx};
  const auto within = [](std::int64_t first, std::int64_t count, std::int64_t all) {
    return first >= 0 && count >= 1 && count <= all && first <= all - count;
  };
  if (!within(row, rows, grid.ny) || !within(column, columns, grid.nx)) {
    throw_argument(where, "region", fmt::format("a part of {} x {} pixels", grid.nx, grid.ny),
                   fmt::format("{}x{}+{}+{}", columns, rows, column, row));
  }
  return region;
}

}  // namespace

double comparison_bytes(const FieldGrid& grid, std::size_t channels, bool lens, Device device) {
  const bool cpu = device.backend == Backend::cpu;
  // Spectrum, moved field, picture; plan. Behind a lens the plan alone.
  const double wide_bytes = lens ? 8 : 2 * 8 + 4 + (cpu ? 8 + 4 * 8 + 4 : 8);
  constexpr double target_bytes = 2 * 4 * 8 + 4 * 4;  // mirrored spectra, pictures
  const auto pixels = [](const FieldGrid& of) { return static_cast<double>(of.nx) * static_cast<double>(of.ny); };
  return static_cast<double>(channels) *
             (wide_bytes * pixels(lens ? grid : half_pixel_grid(grid)) + 4 * 4 * pixels(grid)) +
         target_bytes * pixels(grid);
}

ViewComparison::LightAt ViewComparison::light_of(const ViewingOptions& options, const HologramLight& light,
                                                 Device device) {
  if (has_lens(light.metadata)) {
    const auto plan = std::make_shared<FourierLensPlan>(FourierLensOptions{light.grid, focal_length_of(light)});
    return [plan, &light](double distance_m, std::size_t position, View<float, 2> intensity) {
      const auto [down, right] = half_pixels[position];
      plan->execute_intensity(light.field.view(), intensity, {distance_m, 0.5 * down, 0.5 * right});
    };
  }
  ReconstructionOptions plane;
  plane.grid = light.grid;
  plane.method = options.method;
  plane.aperture = options.aperture;
  const auto plan = std::make_shared<HalfPixelReconstruction>(plane, Queue::create(device));
  plan->set_field(light.field.view());
  return [plan](double distance_m, std::size_t position, View<float, 2> intensity) {
    plan->execute(distance_m, position, intensity);
  };
}

ViewComparison::ViewComparison(const HologramView& view, const std::vector<View<const float, 2>>& amplitudes,
                               const SignalRegion& region, Device device) {
  const auto lights = view.lights();
  if (lights.empty()) throw_argument(where, "pupils", "none: light in a plane or behind a lens", "an eye or subframes");
  const auto& grid = lights.front().grid;
  if (has_lens(lights.front().metadata) && lights.size() > 1) {
    throw_argument(where, "files", "one colour behind a lens, whose pixels grow with the wavelength", "three");
  }
  if (amplitudes.size() != lights.size()) {
    throw_argument(where, "amplitudes", fmt::format("{}", lights.size()), fmt::format("{}", amplitudes.size()));
  }
  region_ = checked_region(region, grid);
  intensity_ = Array<float, 2>(grid.shape());
  total_ = static_cast<std::int64_t>(frame_count(view.options()) * lights.size() * half_pixels.size());
  for (std::size_t c = 0; c < lights.size(); ++c) {
    if (amplitudes[c].shape() != grid.shape()) {
      throw_argument(where, "amplitudes", to_string<2>(grid.shape()), to_string<2>(amplitudes[c].shape()));
    }
    channels_.push_back({light_of(view.options(), lights[c], device), lights[c].grid.wavelength_m,
                         WantedLight(amplitudes[c], region_)});
    differences_.emplace_back(Shape<2>{region_.rows, region_.columns});
  }
}

PictureComparison ViewComparison::at(double distance_m, Progress& progress) {
  PictureComparison all;
  all.distance_m = distance_m;
  all.region = region_;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    auto& channel = channels_[c];
    ChannelComparison compared{channel.wavelength_m, {}, {}};
    for (std::size_t p = 0; p < half_pixels.size(); ++p) {
      progress.step("comparing", done_++, total_);
      with_option_names([&] { channel.light(distance_m, p, intensity_.view()); });
      compared.positions[p] =
          channel.wanted.compare(intensity_.view(), p, p == 0 ? differences_[c].view() : View<std::uint8_t, 2>());
    }
    compared.worst = find_worst(compared.positions);
    take_worse(all.worst, compared.worst);
    all.channels.push_back(compared);
  }
  return all;
}

std::vector<PictureComparison> compare_holograms(const std::vector<std::string>& files,
                                                 const std::vector<View<const float, 2>>& amplitudes,
                                                 const ViewingOptions& options, const SignalRegion& region,
                                                 Device device, Progress& progress) {
  HologramSources sources;
  for (const auto& file : files) sources.push_back({file, {.overrides = options.overrides}});
  const auto view = open_hologram({sources}, {.viewing = options, .devices = {device}, .keeps_light = true});
  ViewComparison comparison(*view, amplitudes, region, device);
  std::vector<PictureComparison> compared;
  for (const double distance_m : view->distances_m()) compared.push_back(comparison.at(distance_m, progress));
  return compared;
}

}  // namespace holotone
