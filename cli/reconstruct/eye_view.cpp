#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/values.hpp>
#include <cli/reconstruct/eye_view.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

constexpr std::int64_t most_picture_pixels = 2048;  ///< per side, without a given pitch
constexpr double most_kept_bytes = 1 << 30;

std::string_view shape_name(const EyePupil& pupil) {
  return pupil.shape == PupilShape::ellipse ? "ellipse" : "rectangle";
}

}  // namespace

std::string place_text(const EyePupil& pupil, double like_m) {
  return fmt::format("{}, {}", format_length(pupil.x_m, like_m), format_length(pupil.y_m, like_m));
}

void describe_eye(Metadata& metadata, const EyePupil& pupil) {
  set_metadata(metadata, "viewer_distance_m", pupil.distance_m);
  set_metadata(metadata, "viewer_x_m", pupil.x_m);
  set_metadata(metadata, "viewer_y_m", pupil.y_m);
  set_metadata(metadata, "viewer_width_m", pupil.width_m);
  set_metadata(metadata, "viewer_height_m", pupil.height_m);
  set_metadata(metadata, "pupil_shape", shape_name(pupil));
}

nlohmann::json json_of_eye(const EyePupil& pupil, double light_share) {
  return {{"distance_m", pupil.distance_m}, {"x_m", pupil.x_m},           {"y_m", pupil.y_m},
          {"width_m", pupil.width_m},       {"height_m", pupil.height_m}, {"shape", shape_name(pupil)},
          {"light_share", light_share}};
}

EyeView::EyeView(const ReconstructJob& job) : job_(job), queue_(Queue::create(job.device)) {
  const auto overrides = overrides_of(job);
  std::vector<HologramRows> files;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) files.push_back(hologram_rows(job.inputs[i], overrides[i]));
  std::vector<const HologramLight*> lights;
  lights.reserve(files.size());
  for (const auto& file : files) lights.push_back(&file.light());
  auto ordered = lights;
  if (ordered.size() == 3) put_in_order(ordered);
  describe(*ordered.front());
  for (const auto* light : ordered) {
    const auto number = static_cast<std::size_t>(std::ranges::find(lights, light) - lights.begin());
    channels_.push_back({std::move(files[number]), light->grid, -1, nullptr, {}, false});
  }
  grid_ = picture_grid(options_for(channels_.front(), job.pupils.front()));
  require_possible();
}

EyeOptions EyeView::options_for(const Channel& channel, const EyePupil& pupil) const {
  EyeOptions options;
  options.grid = channel.grid;
  options.pupil = pupil;
  options.output_pitch_m = job_.output_pitch_m;
  const auto [width_m, height_m] = job_.picture_size_m;
  if (width_m == 0) return options;
  const double most = static_cast<double>(most_picture_pixels);
  if (options.output_pitch_m == 0) {
    const double steps = std::ceil(std::max(width_m, height_m) / (most * channel.grid.pitch_m));
    options.output_pitch_m = std::max(1.0, steps) * channel.grid.pitch_m;
  }
  const auto pixels = [&](double size_m) {
    const double count = std::max(1.0, std::round(size_m / options.output_pitch_m));
    if (count > static_cast<double>(largest_grid_side)) {
      reject("--picture-size",
             fmt::format("at most {} pixels of {} a side", largest_grid_side, format_length(options.output_pitch_m)),
             fmt::format("{:.0f}", count));
    }
    return static_cast<std::int64_t>(count);
  };
  options.output_shape = {pixels(height_m), pixels(width_m)};
  return options;
}

/// Validates the eye and focus of every frame before the first is computed.
void EyeView::require_possible() const {
  auto distances = job_.distances_m;
  if (distances.empty()) distances = {stated_distance_m()};
  double most = 0;
  for (const auto& pupil : job_.pupils) {
    for (const double distance : distances) {
      double bytes = 0;
      for (const auto& channel : channels_) {
        bytes += static_cast<double>(eye_bytes(options_for(channel, pupil), distance, job_.device));
      }
      most = std::max(most, bytes);
    }
  }
  const auto& grid = channels_.front().grid;
  const double strip = static_cast<double>(std::min(grid.ny, EyeOptions{}.tile[0]) * grid.nx) * sizeof(Complex);
  const double picture =
      static_cast<double>(grid_.nx * grid_.ny) * static_cast<double>(channels_.size() * sizeof(float));
  require_memory("--viewer", strip + picture + (job_.device.backend == Backend::cpu ? most : 0),
                 "what goes through the pupil");
}

double EyeView::weight(const Channel& channel) const {
  return channels_.size() == 3 ? weight_of(channel.rows.light(), channel.sum) : 1;
}

void EyeView::gather(Channel& channel, const EyePupil& pupil, Progress& progress) {
  const float largest = add_light(channel, pupil, progress);
  if (channel.is_exposed) return;
  channel.is_exposed = true;
  if (largest == 0) dark_.push_back(channel.rows.light().path);
  channel.exposure = exposure_for(largest);
  if (channel.exposure.gain != 1) add_light(channel, pupil, progress);
}

/// Adds all of the field to a new plan; returns the field's largest part.
float EyeView::add_light(Channel& channel, const EyePupil& pupil, Progress& progress) {
  const auto options = options_for(channel, pupil);
  channel.plan.reset();  // before the next plan allocates
  channel.plan = std::make_unique<EyePlan>(options, queue_);
  const auto [ny, nx] = channel.grid.shape();
  const std::int64_t strip = std::min(ny, options.tile[0]);
  Array<Complex, 2> host({strip, nx});
  double sum = 0;
  float largest = 0;
  for (std::int64_t row = 0; row < ny; row += strip) {
    progress.step("gathering light", row, ny);
    const View<Complex, 2> rows(host.data(), {std::min(strip, ny - row), nx});
    channel.rows.read(row, rows);
    for (const Complex value : rows.host()) sum += std::norm(std::complex<double>(value));
    largest = std::max(largest, largest_part(rows));
    if (channel.exposure.gain != 1) {
      for (Complex& value : rows.host()) value *= channel.exposure.gain;
    }
    if (job_.device.backend == Backend::cpu) {
      channel.plan->add_rows(rows, row);
      continue;
    }
    const auto values = copy_of<const Complex, 2>(rows, job_.device);
    channel.plan->add_rows(values.view(), row);
    queue_.synchronize();
  }
  channel.sum = sum;
  return largest;
}

void EyeView::gather(const EyePupil& pupil, Progress& progress) {
  if (gathered_ == &pupil) return;
  double power = 0;
  double all = 0;
  for (auto& channel : channels_) {
    gather(channel, pupil, progress);
    const double part = weight(channel);
    power += part * channel.exposure.unit * channel.plan->power();
    all += part * channel.sum * channel.grid.pitch_m * channel.grid.pitch_m;
  }
  std::vector<double> factors;
  for (const auto& channel : channels_) factors.push_back(channel.exposure.unit * weight(channel));
  unit_ = common_unit(factors);
  gathered_ = &pupil;
  shares_.resize(job_.pupils.size());
  shares_[static_cast<std::size_t>(&pupil - job_.pupils.data())] = all > 0 ? power / all : 0;
}

Picture EyeView::picture(double distance_m, std::size_t frame, Progress& progress) {
  Picture picture;
  if (frame < kept_.size() && !kept_[frame].channels.empty()) {
    for (const auto& channel : kept_[frame].channels) picture.channels.push_back(channel.to(Device{}));
    return picture;
  }
  gather(pupil_of(job_, frame), progress);
  Array<float, 2> intensity(grid_.shape(), queue_);
  for (auto& channel : channels_) {
    channel.plan->look(distance_m, intensity.view());
    Array<float, 2> values(grid_.shape());
    copy<float, 2>(values.view(), intensity.view(), queue_);
    queue_.synchronize();
    const auto factor = static_cast<float>(channel.exposure.unit * weight(channel) / unit_);
    if (factor != 1) {
      for (float& value : values.host()) value *= factor;
    }
    picture.channels.push_back(std::move(values));
  }
  const auto bytes = static_cast<double>(picture.channels.size() * picture.channels.front().bytes());
  if (!job_.any_distance && kept_bytes_ + bytes <= most_kept_bytes) {
    kept_bytes_ += bytes;
    kept_.resize(std::max(kept_.size(), frame + 1));
    for (const auto& channel : picture.channels) kept_[frame].channels.push_back(channel.to(Device{}));
  }
  return picture;
}

}  // namespace holotone::cli
