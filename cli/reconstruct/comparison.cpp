#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/picture_light.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/reconstruct/comparison.hpp>
#include <cli/reconstruct/lens_view.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/optics/half_pixel_reconstruction.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

namespace holotone::cli {
namespace {

/// Throws out_of_memory before it is allocated: the moved field of each channel, its plan on the CPU, and the target.
void require_memory_for(const ReconstructJob& job, const FieldGrid& grid, std::size_t channels, bool lens) {
  const bool cpu = job.device.backend == Backend::cpu;
  // Spectrum, moved field, picture; plan. Behind a lens the plan alone.
  const double wide_bytes = lens ? 8 : 2 * 8 + 4 + (cpu ? 8 + 4 * 8 + 4 : 8);
  constexpr double target_bytes = 2 * 4 * 8 + 4 * 4;  // mirrored spectra, pictures
  const auto pixels = [](const FieldGrid& own) { return static_cast<double>(own.nx) * static_cast<double>(own.ny); };
  const auto count = static_cast<double>(channels);
  require_memory("--against",
                 count * (wide_bytes * pixels(lens ? grid : half_pixel_grid(grid)) + 4 * 4 * pixels(grid)) +
                     target_bytes * pixels(grid),
                 fmt::format("{} x {} pixels at four positions", grid.nx, grid.ny));
}

/// Component of a picture's colour that a single hologram shows; -1: its luminance.
int colour_of(const HologramLight& light) {
  const auto channel = metadata_text(light.metadata, "channel");
  const auto at = std::string_view("rgb").find(channel);
  return channel.size() == 1 && at != std::string_view::npos ? static_cast<int>(at) : -1;
}

LightAt light_of(const ReconstructJob& job, const HologramLight& light) {
  if (has_lens(light.metadata)) {
    const auto plan = std::make_shared<FourierLensPlan>(FourierLensOptions{light.grid, focal_length_of(light)});
    return [plan, &light](double distance_m, std::size_t position, View<float, 2> intensity) {
      const auto [down, right] = half_pixels[position];
      plan->execute_intensity(light.field.view(), intensity, {distance_m, 0.5 * down, 0.5 * right});
    };
  }
  ReconstructionOptions options;
  options.grid = light.grid;
  options.method = job.method;
  options.aperture = job.aperture;
  const auto plan = std::make_shared<HalfPixelReconstruction>(options, Queue::create(job.device));
  plan->set_field(light.field.view());
  return [plan](double distance_m, std::size_t position, View<float, 2> intensity) {
    plan->execute(distance_m, position, intensity);
  };
}

template <class Body>
Array<float, 2> cropped(const Array<float, 2>& picture, const SignalRegion& region, const Body& body) {
  Array<float, 2> part({region.rows, region.columns});
  for (std::int64_t row = 0; row < region.rows; ++row) {
    for (std::int64_t x = 0; x < region.columns; ++x) {
      part(row, x) = body(picture(region.row + row, region.column + x));
    }
  }
  return part;
}

/// The worse of two values; NaN, which is no value, remains.
double lower(double a, double b) { return a <= b || std::isnan(a) ? a : b; }
double higher(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// Values of channels at the samples, and the worst of their positions.
struct Worst {
  double psnr_db = INFINITY;
  double psnr_worst_db = INFINITY;
  double ssim = 1;
  double ssim_worst = 1;
  double speckle_contrast = 0;
  double speckle_contrast_worst = 0;
};

Worst worst_of(std::span<const ChannelComparison> channels) {
  Worst worst;
  for (const auto& channel : channels) {
    const auto& samples = channel.positions.front();
    worst.psnr_db = lower(worst.psnr_db, samples.psnr_db);
    worst.ssim = lower(worst.ssim, samples.ssim);
    worst.speckle_contrast = higher(worst.speckle_contrast, samples.speckle_contrast);
    for (const auto& own : channel.positions) {
      worst.psnr_worst_db = lower(worst.psnr_worst_db, own.psnr_db);
      worst.ssim_worst = lower(worst.ssim_worst, own.ssim);
      worst.speckle_contrast_worst = higher(worst.speckle_contrast_worst, own.speckle_contrast);
    }
  }
  return worst;
}

nlohmann::json json_of(const Worst& worst) {
  return {{"psnr_db", worst.psnr_db},
          {"psnr_worst_db", worst.psnr_worst_db},
          {"ssim", worst.ssim},
          {"ssim_worst", worst.ssim_worst},
          {"speckle_contrast", worst.speckle_contrast},
          {"speckle_contrast_worst", worst.speckle_contrast_worst}};
}

}  // namespace

Comparison::Comparison(const ReconstructJob& job, const HologramView& view) : input_(job.inputs.front()) {
  const auto lights = view.lights();
  const auto& first = lights.front();
  const auto& grid = first.grid;
  const Image image = read_picture_file(job.against);
  const bool lens = has_lens(first.metadata);
  if (lens && lights.size() > 1) {
    reject("--against", "one colour behind a lens, whose pixels grow with the wavelength", "three");
  }
  require_memory_for(job, grid, lights.size(), lens);
  const auto [ny, nx, channels] = shape_of(image);
  auto room = stated_region(first.path, first.metadata, grid.shape());
  if (!job.region.empty()) {
    room = parse_region(job.region, region_words);
    require_within(*room, grid.shape(), job.region);
  }
  region_ = region_within(room.value_or(SignalRegion{0, 0, grid.ny, grid.nx}),
                          lens ? sides_behind_lens({ny, nx}, grid.shape()) : Shape<2>{ny, nx});
  intensity_ = Array<float, 2>(grid.shape());
  total_ = static_cast<std::int64_t>(frame_count(job) * lights.size() * half_pixels.size());
  for (std::size_t c = 0; c < lights.size(); ++c) {
    add(job, lights[c], image, lights.size() == 3 ? static_cast<int>(c) : colour_of(lights[c]));
  }
}

void Comparison::add(const ReconstructJob& job, const HologramLight& light, const Image& image, int colour) {
  const auto amplitude = target_amplitude(job.against, image, colour, light.grid, region_);
  const auto targets = at_half_pixels(amplitude.view());
  Channel channel{light_of(job, light), light.grid.wavelength_m, {}};
  for (std::size_t p = 0; p < targets.size(); ++p) {
    channel.wanted[p] = cropped(targets[p], region_, [](float value) { return value * value; });
  }
  channels_.push_back(std::move(channel));
  differences_.emplace_back(Shape<2>{region_.rows, region_.columns});
}

PictureComparison Comparison::at(double distance_m, Progress& progress) {
  PictureComparison result{input_, distance_m, region_};
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    auto& channel = channels_[c];
    ChannelComparison own{channel.wavelength_m, {}};
    // One peak, so that the four positions differ by their errors alone.
    const double peak = std::sqrt(static_cast<double>(*std::ranges::max_element(channel.wanted[0].host())));
    for (std::size_t p = 0; p < half_pixels.size(); ++p) {
      progress.step("comparing", done_++, total_);
      channel.light(distance_m, p, intensity_.view());
      const auto seen = cropped(intensity_, region_, [](float value) { return value; });
      const View<const float, 2> wanted = channel.wanted[p].view();
      own.positions[p] = p == 0 ? compare_light(seen.view(), wanted, peak, differences_[c].view())
                                : compare_light(seen.view(), wanted, peak);
    }
    result.channels.push_back(own);
  }
  return result;
}

Image Comparison::difference() const { return {interleaved(differences_), {}}; }

nlohmann::json json_of(const PictureComparison& comparison) {
  auto object = json_of(worst_of(comparison.channels));
  object["input"] = comparison.input;
  object["distance_m"] = comparison.distance_m;
  const auto& region = comparison.region;
  object["signal_region"] = {region.column, region.row, region.columns, region.rows};
  if (!comparison.difference.empty()) object["difference"] = comparison.difference;
  for (const auto& channel : comparison.channels) {
    auto own = json_of(worst_of({&channel, 1}));
    own["wavelength_m"] = channel.wavelength_m;
    object["channels"].push_back(std::move(own));
  }
  return object;
}

std::string text_of(const PictureComparison& comparison) {
  const Worst worst = worst_of(comparison.channels);
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
