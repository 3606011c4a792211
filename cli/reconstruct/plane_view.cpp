#include <algorithm>
#include <array>
#include <cli/common/values.hpp>
#include <cli/reconstruct/plane_view.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/optics/propagation.hpp>
#include <vector>

namespace holotone::cli {
namespace {

std::vector<View<const float, 2>> views_of(const Picture& picture) {
  std::vector<View<const float, 2>> views;
  for (const auto& channel : picture.channels) views.push_back(channel.view());
  return views;
}

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

}  // namespace

Picture on_host(const Picture& picture) {
  Picture copied;
  for (const auto& channel : picture.channels) copied.channels.push_back(channel.to(Device{}));
  return copied;
}

float white_of(std::span<const View<const float, 2>> pictures, WhiteRule rule, const Queue& queue) {
  return rule == WhiteRule::mean_and_deviation ? mean_plus_deviation(pictures) : default_reference(pictures, queue);
}

float white_of(const Picture& picture, WhiteRule rule) {
  if (rule == WhiteRule::mean_and_deviation && picture.queue.device() != Device{}) {
    return white_of(on_host(picture), rule);
  }
  return white_of(views_of(picture), rule, picture.queue);
}

Exposure exposure_for(float largest) {
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  if (exponent >= -40 && exponent < 30) return {};
  const int shift = std::clamp(-exponent, -126, 126);
  return {std::ldexp(1.0F, shift), std::ldexp(1.0, -2 * shift)};
}

FieldSize size_of(View<const Complex, 2> field) {
  const std::int64_t ny = field.shape()[0];
  const auto nx = static_cast<std::size_t>(field.shape()[1]);
  const auto values = field.host();
  std::vector<FieldSize> rows(static_cast<std::size_t>(ny));
  parallel_for(0, ny, [&](std::int64_t y) {
    FieldSize own;
    for (const Complex value : values.subspan(static_cast<std::size_t>(y) * nx, nx)) {
      own.energy += std::norm(std::complex<double>(value));
      own.largest = std::max({own.largest, std::abs(value.real()), std::abs(value.imag())});
    }
    rows[static_cast<std::size_t>(y)] = own;
  });
  FieldSize size;
  for (const auto& row : rows) size = {size.energy + row.energy, std::max(size.largest, row.largest)};
  return size;
}

double common_unit(std::span<const double> factors) {
  const double most = factors.empty() ? 1 : *std::max_element(factors.begin(), factors.end());
  constexpr double held = 1e20;
  return (most >= 1 / held && most <= held) || most == 0 ? 1 : most;
}

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

std::vector<HologramOverrides> overrides_of(const ReconstructJob& job) {
  std::vector<HologramOverrides> overrides(job.inputs.size(), job.overrides);
  const bool single = overrides.size() == 1;
  const auto share_out = [&](std::string_view option, std::string HologramOverrides::*member,
                             std::string_view expected) {
    const std::string typed = job.overrides.*member;
    if (typed.empty()) return;
    const auto pieces = list(option, typed, expected);
    if (pieces.size() != overrides.size()) reject(option, expected, typed);
    for (std::size_t i = 0; i < pieces.size(); ++i) overrides[i].*member = pieces[i];
  };
  if (single && !job.overrides.object_energy.empty()) reject("--object-energy", "three files", job.inputs.front());
  if (single) return overrides;
  share_out("--wavelength", &HologramOverrides::wavelength,
            "three wavelengths such as 638nm,520nm,450nm for three files");
  share_out("--object-energy", &HologramOverrides::object_energy, "three numbers for three files");
  if (!job.overrides.object_energy.empty() && std::ranges::all_of(overrides, [](const HologramOverrides& one) {
        return number_between("--object-energy", one.object_energy, 0, largest_energy) == 0;
      })) {
    reject("--object-energy", "at least one energy above 0", job.overrides.object_energy);
  }
  constexpr std::string_view ranges = "MIN,MAX for all of three files, or three of them";
  if (!job.overrides.amplitude_range.empty()) {
    const auto pieces = list("--amplitude-range", job.overrides.amplitude_range, ranges);
    if (pieces.size() != 2 && pieces.size() != 6) reject("--amplitude-range", ranges, job.overrides.amplitude_range);
    for (std::size_t i = 0; pieces.size() == 6 && i < 3; ++i) {
      overrides[i].amplitude_range = pieces[2 * i] + "," + pieces[2 * i + 1];
    }
  }
  return overrides;
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
}

double HologramView::expose(HologramLight& light, bool colour) {
  const FieldSize size = size_of(light.field.view());
  if (size.largest == 0) dark_.push_back(light.path);
  wavelengths_m_.push_back(light.grid.wavelength_m);
  const Exposure exposure = exposure_for(size.largest);
  if (exposure.gain != 1) {
    for (Complex& value : light.field.host()) value *= exposure.gain;
  }
  return exposure.unit * (colour ? weight_of(light, size.energy) : 1);
}

Image toned(const Picture& picture, const ToneOptions& tone) {
  std::vector<Array<std::uint8_t, 2>> planes;
  for (const auto& channel : picture.channels) {
    auto codes = tone_map(channel.view(), tone, picture.queue);
    planes.push_back(codes.device() == Device{} ? std::move(codes) : codes.to(Device{}));
  }
  return {interleaved(planes), {}};
}

Image untoned(const Picture& picture) {
  if (picture.queue.device() != Device{}) return untoned(on_host(picture));
  return {interleaved(picture.channels), {}};
}

std::vector<HologramLight> lights_of(const ReconstructJob& job) {
  std::vector<HologramLight> lights;
  const auto overrides = overrides_of(job);
  for (std::size_t i = 0; i < job.inputs.size(); ++i) lights.push_back(read_hologram(job.inputs[i], overrides[i]));
  std::vector<const HologramLight*> order;
  order.reserve(lights.size());
  for (const auto& light : lights) order.push_back(&light);
  if (lights.size() == 3) put_in_order(order);
  std::vector<HologramLight> ordered;
  ordered.reserve(order.size());
  for (const auto* light : order) ordered.push_back(std::move(lights[static_cast<std::size_t>(light - lights.data())]));
  return ordered;
}

PlaneView::PlaneView(const ReconstructJob& job, std::vector<HologramLight> lights) : queue_(Queue::create(job.device)) {
  describe(lights.front());
  intensity_ = Array<float, 2>(grid_.shape(), queue_);
  for (auto& light : lights) add(light, job, lights.size() == 3);
  std::vector<double> factors;
  for (const auto& own : channels_) factors.push_back(own.factor);
  unit_ = common_unit(factors);
}

void PlaneView::add(HologramLight& light, const ReconstructJob& job, bool colour) {
  ReconstructionOptions options;
  options.grid = light.grid;
  options.method = job.method;
  options.aperture = job.aperture;
  options.method = method_of(job, light.grid);
  const double factor = expose(light, colour);
  channels_.push_back({ReconstructionPlan(options, queue_), light.field.to(job.device), factor});
  auto& own = channels_.back();
  own.plan.set_field(own.field.view());
  if (!job.against.empty()) lights_.push_back(std::move(light));
}

/// The method of all distances; automatic where they have several.
PropagationMethod PlaneView::method_of(const ReconstructJob& job, const FieldGrid& grid) const {
  if (job.any_distance) return job.method;
  const PropagationOptions options{.grid = grid, .method = job.method};
  if (job.distances_m.empty()) return propagation_method(options, stated_distance_m());
  const auto first = propagation_method(options, job.distances_m.front());
  const bool alike = std::ranges::all_of(
      job.distances_m, [&](double distance_m) { return propagation_method(options, distance_m) == first; });
  return alike ? first : PropagationMethod::automatic;
}

Picture PlaneView::picture(double distance_m, std::size_t /*frame*/, Progress& /*progress*/) {
  Picture picture;
  const bool stays = queue_.device().backend == Backend::cuda &&
                     std::ranges::all_of(channels_, [&](const Channel& own) { return own.factor == unit_; });
  if (stays) picture.queue = queue_;
  for (auto& own : channels_) {
    if (stays) {
      Array<float, 2> channel(grid_.shape(), queue_);
      own.plan.execute(distance_m, channel.view());
      picture.channels.push_back(std::move(channel));
      continue;
    }
    own.plan.execute(distance_m, intensity_.view());
    Array<float, 2> channel(grid_.shape());
    copy<float, 2>(channel.view(), intensity_.view(), queue_);
    queue_.synchronize();
    if (const auto factor = static_cast<float>(own.factor / unit_); factor != 1) {
      for (float& value : channel.host()) value *= factor;
    }
    picture.channels.push_back(std::move(channel));
  }
  return picture;
}

Array<Complex, 2> PlaneView::field(double distance_m) {
  if (channels_.size() > 1) return HologramView::field(distance_m);
  Array<Complex, 2> field(grid_.shape(), queue_);
  channels_.front().plan.execute_field(distance_m, field.view());
  Array<Complex, 2> values(grid_.shape());
  copy<Complex, 2>(values.view(), field.view(), queue_);
  queue_.synchronize();
  return values;
}

bool PlaneView::set_aperture(const std::optional<Aperture>& aperture) {
  for (auto& own : channels_) {
    own.plan.set_aperture(aperture);
    own.plan.set_field(own.field.view());
  }
  return true;
}

Array<Complex, 2> HologramView::field(double /*distance_m*/) {
  reject("--show", "intensity or amplitude, except of one hologram in a plane", path_);
}

double HologramView::stated_distance_m() const {
  const auto distance = checked_number(path_, metadata_, "distance_m");
  if (!distance) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--distance: expected a value, because {} states no distance_m, got none", path_));
  }
  if (!(std::abs(*distance) <= most_distance_m)) {
    throw_io(path_, "a distance_m of at most 100 km", fmt::format("{} m", *distance));
  }
  return *distance;
}

}  // namespace holotone::cli
