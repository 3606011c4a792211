#include <cli/common/memory_limit.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/values.hpp>
#include <cli/reconstruct/comparison.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Component of a picture's colour that a single hologram shows; -1: its luminance.
int colour_of(const HologramLight& light) {
  const auto channel = metadata_text(light.metadata, "channel");
  const auto at = std::string_view("rgb").find(channel);
  return channel.size() == 1 && at != std::string_view::npos ? static_cast<int>(at) : -1;
}

nlohmann::json make_json(const WorstLight& worst) {
  return {{"psnr_db", worst.psnr_db},
          {"psnr_worst_db", worst.psnr_worst_db},
          {"ssim", worst.ssim},
          {"ssim_worst", worst.ssim_worst},
          {"speckle_contrast", worst.speckle_contrast},
          {"speckle_contrast_worst", worst.speckle_contrast_worst}};
}

}  // namespace

std::unique_ptr<ViewComparison> open_comparison(const ReconstructJob& job, const HologramView& view) {
  const auto lights = view.lights();
  const auto& first = lights.front();
  const auto& grid = first.grid;
  const Image image = read_picture_file(job.console, job.against);
  const bool lens = has_lens(first.metadata);
  require_memory("--against", comparison_bytes(grid, lights.size(), lens, job.devices.front()),
                 fmt::format("{} x {} pixels at four positions", grid.nx, grid.ny));
  const auto [ny, nx, channels] = shape_of(image);
  auto room = stated_region(first.path, first.metadata, grid.shape());
  if (job.region) {
    room = job.region;
    require_within(*room, grid.shape());
  }
  const auto region = region_within(room.value_or(SignalRegion{0, 0, grid.ny, grid.nx}),
                                    lens ? sides_behind_lens({ny, nx}, grid.shape()) : Shape<2>{ny, nx});
  std::vector<Array<float, 2>> amplitudes;
  std::vector<View<const float, 2>> views;
  views.reserve(lights.size());
  for (std::size_t c = 0; c < lights.size(); ++c) {
    const int colour = lights.size() == 3 ? static_cast<int>(c) : colour_of(lights[c]);
    amplitudes.push_back(target_amplitude(job.against, image, colour, lights[c].grid, region));
  }
  for (const auto& amplitude : amplitudes) views.push_back(amplitude.view());
  return std::make_unique<ViewComparison>(view, views, region, job.devices.front());
}

nlohmann::json make_json(const ComparedPicture& compared) {
  const auto& comparison = compared.comparison;
  auto object = make_json(comparison.worst);
  object["input"] = compared.input;
  object["distance_m"] = comparison.distance_m;
  const auto& region = comparison.region;
  object["signal_region"] = {region.column, region.row, region.columns, region.rows};
  if (!compared.difference.empty()) object["difference"] = compared.difference;
  for (const auto& channel : comparison.channels) {
    auto channel_json = make_json(channel.worst);
    channel_json["wavelength_m"] = channel.wavelength_m;
    object["channels"].push_back(std::move(channel_json));
  }
  return object;
}

std::string to_text(const PictureComparison& comparison) {
  const auto& worst = comparison.worst;
  std::string text =
      fmt::format("{:.1f} dB at worst of {}four half-pixel positions ({:.1f} dB at the samples)", worst.psnr_worst_db,
                  comparison.channels.size() == 3 ? "three colours and " : "", worst.psnr_db);
  if (!std::isnan(worst.ssim_worst)) text += fmt::format(", SSIM {:.3f}", worst.ssim_worst);
  if (!std::isnan(worst.speckle_contrast_worst)) {
    text += fmt::format(", speckle contrast {:.3f}", worst.speckle_contrast_worst);
  }
  return text;
}

}  // namespace holotone::cli
