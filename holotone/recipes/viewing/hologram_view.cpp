#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing/eye_view.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>
#include <holotone/recipes/viewing/lens_view.hpp>
#include <holotone/recipes/viewing/plane_view.hpp>
#include <holotone/recipes/viewing/subframe_view.hpp>

namespace holotone {
namespace {

constexpr std::string_view where = "open_hologram";

/// Argument of a plan, and the beginning of its name as a member of ViewingOptions.
struct OptionOfPlan {
  std::string_view plan;
  std::string_view argument;
  std::string_view option;
};
constexpr OptionOfPlan options_of_plans[] = {
    {"ReconstructionPlan", "distance_m", "distances_m"},
    {"ReconstructionPlan", "aperture", "aperture"},
    {"PropagationPlan", "distance_m", "distances_m"},
    {"EyePlan", "focus_m, output_pitch_m", "distances_m, output_pitch_m"},
    {"EyePlan", "focus_m", "distances_m"},
    {"EyePlan", "output_pitch_m", "output_pitch_m"},
    {"EyePlan", "pupil", "pupils"},
    {"FourierLensPlan", "plane.defocus_m", "distances_m"},
};

/// Requires distinct wavelengths of red, green and blue, and distinct channels if the files state them.
void require_three_colours(const std::vector<const HologramLight*>& lights) {
  for (std::size_t i = 1; i < lights.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto channel = [](const HologramLight& light) {
        const auto entry = light.metadata.find("channel");
        return entry == light.metadata.end() ? std::string() : entry->second;
      };
      if (lights[i]->grid.wavelength_m == lights[j]->grid.wavelength_m) {
        throw_io(lights[i]->path, fmt::format("another wavelength than that of {}", lights[j]->path),
                 format_length(lights[i]->grid.wavelength_m));
      }
      if (!channel(*lights[i]).empty() && channel(*lights[i]) == channel(*lights[j])) {
        throw_io(lights[i]->path, fmt::format("another channel than that of {}", lights[j]->path), channel(*lights[i]));
      }
    }
  }
}

std::unique_ptr<HologramView> open_files(const HologramSources& sources, const HologramViewOptions& options) {
  if (!options.viewing.pupils.empty()) {
    auto eye = std::make_unique<EyeView>(sources, options);
    if (has_lens(eye->metadata())) {
      throw_argument(where, "pupils", "a hologram without the focal_length_m of a lens", sources.front().path);
    }
    return eye;
  }
  auto lights = read_lights(sources);
  if (has_lens(lights.front().metadata)) return std::make_unique<LensView>(options, std::move(lights));
  return std::make_unique<PlaneView>(options, std::move(lights));
}

}  // namespace

double weight_of(const HologramLight& light, double sum) {
  const auto stated = [&](std::string_view key) { return checked_number(light.path, light.metadata, key); };
  const double mean = sum / (static_cast<double>(light.grid.nx) * static_cast<double>(light.grid.ny));
  const double field = stated("field_energy").value_or(mean);  // of the unquantized field
  // Diffused phases reproduce the field over its scale, plus noise; other holograms reproduce their own light.
  const auto scale = stated("scale");
  const bool diffused =
      scale && light.encoding == "phase" && metadata_text(light.metadata, "quantize_method") != "truncate";
  const double shown = diffused ? field / (*scale * *scale) : mean;
  // Rays of a stereogram through a pupil are proportional to the pupil's area over the wavelength squared.
  constexpr double micrometre = 1e-6;
  const double rays = metadata_text(light.metadata, "method").starts_with("stereogram")
                          ? micrometre * micrometre / (light.grid.wavelength_m * light.grid.wavelength_m)
                          : 1;
  const double wanted = stated("object_energy").value_or(field / rays);
  return shown > 0 ? wanted / shown : 1;
}

void put_in_order(std::vector<const HologramLight*>& lights) {
  const std::string_view order = "rgb";
  std::stable_sort(lights.begin(), lights.end(), [&](const HologramLight* a, const HologramLight* b) {
    const auto at = [&](const HologramLight& light) {
      const auto entry = light.metadata.find("channel");
      return entry == light.metadata.end() ? std::string_view::npos : order.find(entry->second);
    };
    return at(*a) < at(*b);
  });
  require_three_colours(lights);
  for (const auto* light : lights) {
    if (light->grid.shape() != lights.front()->grid.shape() || light->grid.pitch_m != lights.front()->grid.pitch_m) {
      throw_io(light->path, fmt::format("the pixels and pitch of {}", lights.front()->path), "others");
    }
  }
}

void HologramView::describe(const HologramLight& light) {
  path_ = light.path;
  grid_ = light.grid;
  metadata_ = light.metadata;
  encoding_ = light.encoding;
  filter_ = light.filter;
}

void HologramView::describe(const HologramView& view) {
  path_ = view.path_;
  grid_ = view.grid_;
  metadata_ = view.metadata_;
  encoding_ = view.encoding_;
  filter_ = view.filter_;
  wavelengths_m_ = view.wavelengths_m_;
  notes_ = view.notes_;
}

double HologramView::expose(HologramLight& light, bool colour) {
  const LightSize size = size_of(light.field.view());
  if (size.largest == 0) dark_.push_back(light.path);
  wavelengths_m_.push_back(light.grid.wavelength_m);
  notes_.insert(notes_.end(), light.notes.begin(), light.notes.end());
  const LightExposure exposure = exposure_for(size.largest);
  if (exposure.gain != 1) {
    for (Complex& value : light.field.host()) value *= exposure.gain;
  }
  return exposure.unit * (colour ? weight_of(light, size.energy) : 1);
}

std::vector<HologramLight> read_lights(const HologramSources& sources) {
  std::vector<HologramLight> lights;
  lights.reserve(sources.size());
  for (const auto& [path, reading] : sources) lights.push_back(read_hologram(path, reading));
  std::vector<const HologramLight*> order;
  order.reserve(lights.size());
  for (const auto& light : lights) order.push_back(&light);
  if (lights.size() == 3) put_in_order(order);
  std::vector<HologramLight> ordered;
  ordered.reserve(order.size());
  for (const auto* light : order) ordered.push_back(std::move(lights[static_cast<std::size_t>(light - lights.data())]));
  return ordered;
}

Array<Complex, 2> HologramView::field(double /*distance_m*/) {
  throw_argument(where, "show", "intensity or amplitude, except of one hologram in a plane", path_);
}

double HologramView::stated_distance_m() const {
  const auto distance = checked_number(path_, metadata_, "distance_m");
  if (!distance) {
    throw_argument(where, "distances_m", fmt::format("a value, because {} states no distance_m", path_), "none");
  }
  return *distance;
}

std::vector<double> HologramView::distances_m() const {
  auto distances = options_.distances_m;
  if (distances.empty()) distances = {stated_distance_m()};
  distances.resize(frame_count(options_), distances.front());
  return distances;
}

bool has_lens(const Metadata& metadata) { return metadata.contains("focal_length_m"); }

void throw_for_option(const Error& error) {
  const std::string_view plan = std::string_view(error.function()).substr(0, error.function().find("::"));
  for (const auto& plan_options : options_of_plans) {
    if (plan != plan_options.plan || !error.argument().starts_with(plan_options.argument)) continue;
    throw Error(error.code(), ErrorFields{std::string(where),
                                          fmt::format("{}{}", plan_options.option,
                                                      error.argument().substr(plan_options.argument.size())),
                                          error.expected(), error.got()});
  }
}

const EyePupil& pupil_of(const ViewingOptions& options, std::size_t frame) {
  return options.pupils[options.pupils.size() == 1 ? 0 : frame];
}

std::size_t frame_count(const ViewingOptions& options) {
  return std::max({options.distances_m.size(), options.pupils.size(), std::size_t{1}});
}

std::unique_ptr<HologramView> open_hologram(const std::vector<HologramSources>& subframes,
                                            const HologramViewOptions& options) {
  if (subframes.size() > 1) return std::make_unique<SubframeView>(subframes, options);
  if (subframes.empty() || (subframes.front().size() != 1 && subframes.front().size() != 3)) {
    throw_argument(where, "files", "one hologram, or three for red, green and blue",
                   fmt::format("{}", subframes.empty() ? 0 : subframes.front().size()));
  }
  return with_option_names([&] { return open_files(subframes.front(), options); });
}

}  // namespace holotone
