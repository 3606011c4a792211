#include <algorithm>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>

namespace holotone {

Viewing view_holograms(const std::vector<std::string>& files, const ViewingOptions& options, Device device,
                       WhiteRule rule, Progress& progress) {
  return view_subframes({files}, options, device, rule, progress);
}

Viewing view_subframes(const std::vector<std::vector<std::string>>& subframes, const ViewingOptions& options,
                       Device device, WhiteRule rule, Progress& progress) {
  std::vector<HologramSources> sources;
  for (const auto& files : subframes) {
    auto& subframe = sources.emplace_back();
    for (const auto& file : files) subframe.push_back({file, {.overrides = options.overrides}});
  }
  const auto view = open_hologram(sources, {.viewing = options, .devices = {device}});
  Viewing seen;
  seen.distances_m = view->distances_m();
  const auto count = std::ssize(seen.distances_m);
  seen.grid = view->grid();
  const auto [ny, nx] = seen.grid.shape();
  for (std::int64_t i = 0; i < count; ++i) {
    progress.step("reconstructing", i, count);
    const double distance_m = seen.distances_m[static_cast<std::size_t>(i)];
    const auto picture = on_host(view->picture(distance_m, static_cast<std::size_t>(i), progress));
    const auto pixels = interleaved(picture.channels);
    if (i == 0) seen.intensity = Array<float, 4>({count, ny, nx, pixels.shape()[2]});
    std::copy_n(pixels.data(), pixels.size(), seen.intensity.data() + i * pixels.size());
    seen.white = std::max(seen.white, view->unit() * static_cast<double>(white_level(picture, rule)));
    seen.methods.emplace_back(to_string(view->method_for(distance_m)));
  }
  seen.unit = view->unit();
  seen.wavelengths_m.assign(view->wavelengths_m().begin(), view->wavelengths_m().end());
  seen.light_shares = view->light_shares();
  seen.dark = view->dark();
  seen.focal_length_m = checked_number(view->path(), view->metadata(), "focal_length_m");
  return seen;
}

}  // namespace holotone
