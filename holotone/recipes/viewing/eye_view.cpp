#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/bands/device_threads.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/viewing/eye_view.hpp>
#include <string_view>
#include <utility>

namespace holotone {
namespace {

constexpr std::int64_t max_picture_pixels = 2048;  ///< per side, without a given pitch
constexpr double max_kept_bytes = 1 << 30;
constexpr std::int64_t locked_bytes = 8 << 20;

/// Progress of devices that work at once, each on a picture: counts finished pictures, and passes a cancellation on.
class SharedProgress final : public Progress {
 public:
  SharedProgress(Progress& progress, std::int64_t done, std::int64_t total)
      : progress_(progress), done_(done), total_(total) {}

  bool update(std::string_view, std::int64_t, std::int64_t) override {
    const std::scoped_lock lock(mutex_);
    return progress_.update(stage, done_, total_);
  }
  void add_picture() {
    const std::scoped_lock lock(mutex_);
    progress_.step(stage, ++done_, total_);
  }

 private:
  static constexpr std::string_view stage = "reconstructing";
  Progress& progress_;
  std::mutex mutex_;
  std::int64_t done_;
  std::int64_t total_;
};

}  // namespace

EyeView::EyeView(const HologramSources& sources, const HologramViewOptions& options)
    : HologramView(options.viewing), any_distance_(options.any_distance), shares_(options_.pupils.size()) {
  std::vector<HologramRows> files;
  files.reserve(sources.size());
  for (const auto& [path, reading] : sources) files.emplace_back(path, reading);
  std::vector<const HologramLight*> lights;
  lights.reserve(files.size());
  for (const auto& file : files) lights.push_back(&file.light());
  auto ordered = lights;
  if (ordered.size() == 3) put_in_order(ordered);
  describe(*ordered.front());
  for (const auto* light : ordered) {
    const auto number = static_cast<std::size_t>(std::ranges::find(lights, light) - lights.begin());
    wavelengths_m_.push_back(light->grid.wavelength_m);
    notes_.insert(notes_.end(), light->notes.begin(), light->notes.end());
    channels_.push_back({std::move(files[number]), light->grid, {}, {}});
  }
  grid_ = picture_grid(options_for(channels_.front(), options_.pupils.front()));
  require_possible(options);
  for (const auto& device : options.devices) {
    auto& state = devices_.emplace_back();
    state.queue = Queue::create(device);
    state.channels.resize(channels_.size());
  }
}

EyeOptions EyeView::options_for(const Channel& channel, const EyePupil& pupil) const {
  EyeOptions options;
  options.grid = channel.grid;
  options.pupil = pupil;
  options.output_pitch_m = options_.output_pitch_m;
  const auto [width_m, height_m] = options_.picture_size_m;
  if (width_m == 0) return options;
  const double most = static_cast<double>(max_picture_pixels);
  if (options.output_pitch_m == 0) {
    const double steps = std::ceil(std::max(width_m, height_m) / (most * channel.grid.pitch_m));
    options.output_pitch_m = std::max(1.0, steps) * channel.grid.pitch_m;
  }
  const auto pixels = [&](double size_m) {
    const double count = std::max(1.0, std::round(size_m / options.output_pitch_m));
    if (count > static_cast<double>(largest_picture_side)) {
      throw_argument(
          "open_hologram", "picture_size_m",
          fmt::format("at most {} pixels of {} a side", largest_picture_side, format_length(options.output_pitch_m)),
          fmt::format("{:.0f}", count));
    }
    return static_cast<std::int64_t>(count);
  };
  options.output_shape = {pixels(height_m), pixels(width_m)};
  return options;
}

/// Validates the eye and focus of every frame before the first is computed.
void EyeView::require_possible(const HologramViewOptions& options) const {
  const Device device = options.devices.front();
  auto distances = options_.distances_m;
  if (distances.empty()) distances = {stated_distance_m()};
  double most = 0;
  for (const auto& pupil : options_.pupils) {
    for (const double distance : distances) {
      double bytes = 0;
      for (const auto& channel : channels_) {
        bytes += static_cast<double>(eye_bytes(options_for(channel, pupil), distance, device));
      }
      most = std::max(most, bytes);
    }
  }
  const auto& grid = channels_.front().grid;
  const double strip = static_cast<double>(std::min(grid.ny, EyeOptions{}.tile[0]) * grid.nx) * sizeof(Complex);
  const double picture =
      static_cast<double>(grid_.nx * grid_.ny) * static_cast<double>(channels_.size() * sizeof(float));
  if (!options.on_memory) return;
  options.on_memory(strip + picture + (device.backend == Backend::cpu ? most : 0), "what goes through the pupil");
}

double EyeView::weight(const Channel& channel) const {
  return channels_.size() == 3 ? weight_of(channel.rows.light(), channel.size.energy) : 1;
}

/// True if the light stays on a device: for several eyes, if it is a small part of what is free.
bool EyeView::keeps_light(Device device) const {
  constexpr double max_share = 0.25;
  if (options_.pupils.size() < 2 || device.backend == Backend::cpu) return false;
  double bytes = 0;
  for (const auto& [rows, grid, size, exposure] : channels_) {
    bytes += static_cast<double>(grid.nx) * static_cast<double>(grid.ny) * sizeof(Complex);
  }
  return bytes <= max_share * static_cast<double>(holotone::describe(device).free_bytes);
}

/// Adds all of the field to a new plan. The first time its size is measured.
void EyeView::add_light(EyeDevice& device, std::size_t c, const EyePupil& pupil, Progress& progress) {
  Channel& channel = channels_[c];
  auto& [plan, strips] = device.channels[c];
  const Device where = device.queue.device();
  const auto options = options_for(channel, pupil);
  plan.reset();  // before the next plan allocates
  plan = std::make_unique<EyePlan>(options, device.queue);
  const std::int64_t ny = channel.grid.ny;
  const std::int64_t nx = channel.grid.nx;
  const std::int64_t strip = std::min(ny, options.tile[0]);
  const bool known = !strips.empty();
  const bool kept = !known && keeps_light(where);
  LightSize all;
  const auto read = [&](std::int64_t row, View<Complex, 2> rows) {
    {
      const std::scoped_lock lock(reading_);
      channel.rows.read(row, rows);
    }
    if (!exposed_) {
      const LightSize size = size_of(rows);
      all = {all.energy + size.energy, std::max(all.largest, size.largest)};
    }
    if (channel.exposure.gain != 1) {
      for (Complex& value : rows.host()) value *= channel.exposure.gain;
    }
  };
  std::vector<Array<Complex, 2>> own_strips;  // kept once they are complete
  // A device gets its rows through page-locked memory, of which little is granted quickly.
  const std::int64_t most =
      std::clamp<std::int64_t>(locked_bytes / (nx * static_cast<std::int64_t>(sizeof(Complex))), 1, strip);
  const std::int64_t at_once = where.backend == Backend::cpu ? strip : most;
  Buffer host;
  if (!known) host = Buffer::on_host_for(where, static_cast<std::size_t>(at_once * nx) * sizeof(Complex));
  const auto host_rows = [&](std::int64_t count) {
    return View<Complex, 2>(static_cast<Complex*>(host.data()), {count, nx});
  };
  for (std::int64_t row = 0; row < ny; row += strip) {
    progress.step("gathering light", row, ny);
    if (known) {
      plan->add_rows(strips[static_cast<std::size_t>(row / strip)].view(), row);
      continue;
    }
    const std::int64_t count = std::min(strip, ny - row);
    if (where.backend == Backend::cpu) {
      read(row, host_rows(count));
      plan->add_rows(host_rows(count), row);
      continue;
    }
    Array<Complex, 2> values({count, nx}, device.queue);
    for (std::int64_t first = 0; first < count; first += at_once) {
      const auto part = host_rows(std::min(at_once, count - first));
      read(row + first, part);
      copy<Complex, 2>({values.data() + first * nx, part.shape(), where}, part, device.queue);
      device.queue.synchronize();
    }
    plan->add_rows(values.view(), row);
    device.queue.synchronize();
    if (kept) own_strips.push_back(std::move(values));
  }
  if (kept) strips = std::move(own_strips);
  if (!exposed_) channel.size = all;
}

void EyeView::gather(EyeDevice& device, std::size_t place, Progress& progress) {
  if (device.gathered == place) return;
  device.gathered.reset();
  const EyePupil& pupil = options_.pupils[place];
  for (std::size_t c = 0; c < channels_.size(); ++c) add_light(device, c, pupil, progress);
  if (!std::exchange(exposed_, true)) {
    std::vector<double> factors;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      auto& channel = channels_[c];
      if (channel.size.largest == 0) dark_.push_back(channel.rows.light().path);
      channel.exposure = exposure_for(channel.size.largest);
      factors.push_back(channel.exposure.unit * weight(channel));
      if (channel.exposure.gain != 1) device.channels[c].strips.clear();
    }
    unit_ = common_unit(factors);
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      if (channels_[c].exposure.gain != 1) add_light(device, c, pupil, progress);
    }
  }
  double power = 0;
  double all = 0;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const auto& channel = channels_[c];
    const double part = weight(channel);
    power += part * channel.exposure.unit * device.channels[c].plan->power();
    all += part * channel.size.energy * channel.grid.pitch_m * channel.grid.pitch_m;
  }
  device.gathered = place;
  shares_[place] = all > 0 ? power / all : 0;
}

LightPicture EyeView::make(EyeDevice& device, double distance_m, std::size_t frame, Progress& progress) {
  gather(device, options_.pupils.size() == 1 ? 0 : frame, progress);
  LightPicture picture;
  Array<float, 2> intensity(grid_.shape(), device.queue);
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    device.channels[c].plan->look(distance_m, intensity.view());
    Array<float, 2> values(grid_.shape());
    copy<float, 2>(values.view(), intensity.view(), device.queue);
    device.queue.synchronize();
    const auto factor = static_cast<float>(channels_[c].exposure.unit * weight(channels_[c]) / unit_);
    if (factor != 1) {
      for (float& value : values.host()) value *= factor;
    }
    picture.channels.push_back(std::move(values));
  }
  return picture;
}

/// Keeps a copy of a picture if there is room for it.
void EyeView::keep(const LightPicture& picture, std::size_t frame) {
  const auto bytes = static_cast<double>(picture.channels.size() * picture.channels.front().bytes());
  const std::scoped_lock lock(keeping_);
  if (any_distance_ || kept_bytes_ + bytes > max_kept_bytes) return;
  kept_bytes_ += bytes;
  kept_.resize(std::max(kept_.size(), frame + 1));
  for (const auto& channel : picture.channels) kept_[frame].channels.push_back(channel.to(Device{}));
}

LightPicture EyeView::picture(double distance_m, std::size_t frame, Progress& progress) {
  if (frame < kept_.size() && !kept_[frame].channels.empty()) {
    LightPicture picture;
    for (const auto& channel : kept_[frame].channels) picture.channels.push_back(channel.to(Device{}));
    return picture;
  }
  LightPicture picture = with_option_names([&] { return make(devices_.front(), distance_m, frame, progress); });
  keep(picture, frame);
  return picture;
}

void EyeView::prepare(std::span<const double> distances_m, Progress& progress) {
  if (devices_.size() < 2) return;
  (void)picture(distances_m.front(), 0, progress);  // alone, as it measures the light
  const auto count = std::ssize(distances_m);
  SharedProgress shared(progress, 1, count);
  share_among(devices_.size(), count - 1, [&](std::size_t device, std::int64_t item) {
    const auto frame = static_cast<std::size_t>(item + 1);
    keep(with_option_names([&] { return make(devices_[device], distances_m[frame], frame, shared); }), frame);
    shared.add_picture();
  });
}

}  // namespace holotone
