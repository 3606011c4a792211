#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/optimize/camera_program.hpp>
#include <cli/optimize/optimize_maker.hpp>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <numbers>

namespace holotone::cli {
namespace {

Array<Complex, 2> wave_of(View<const float, 2> phase) {
  Array<Complex, 2> field(phase.shape());
  parallel_blocks(phase.size(), [&](std::int64_t begin, std::int64_t end) {
    std::transform(phase.data() + begin, phase.data() + end, field.data() + begin,
                   [](float value) { return std::polar(1.0F, value); });
  });
  return field;
}

View<float, 2> subframe(View<float, 3> phases, std::int64_t number) {
  const auto [count, ny, nx] = phases.shape();
  return {phases.data() + number * ny * nx, {ny, nx}};
}

/// Replaces a phase by that which the codes show, without what they add.
void show(const OptimizeJob& job, const Channel& channel, View<float, 2> phase, const Array<float, 2>& added) {
  const auto options = job.hologram.encode_options(channel);
  const auto grid = job.hologram.grid(channel);
  EncodeReport report;
  const auto codes = encode(wave_of(phase).view(), options, grid, &report);
  const auto shown = modulation_of(codes.view(), options, grid, report);
  parallel_blocks(shown.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      phase.data()[i] = std::arg(shown.data()[i]) - (added.empty() ? 0.0F : added.data()[i]);
    }
  });
}

double energy_of(const Array<float, 2>& amplitude) {
  double sum = 0;
  for (const float value : amplitude.host()) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// Part of a picture.
Array<float, 2> in_region(View<const float, 2> picture, const SignalRegion& region) {
  Array<float, 2> part({region.rows, region.columns});
  for (std::int64_t row = 0; row < region.rows; ++row) {
    std::copy_n(&picture(region.row + row, region.column), region.columns, &part(row, 0));
  }
  return part;
}

HologramLight started_from(const std::string& path) {
  try {
    return read_hologram(path, HologramOverrides{});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw_io(path, "a hologram with metadata, such as a PNG by holotone optimize", "a picture without");
  }
}

/// Positions of a picture with twice the samples along each axis.
void take_fine_picture(View<float, 3> light, const Array<float, 2>& picture) {
  const auto [positions, ny, nx] = light.shape();
  for (std::int64_t position = 0; position < positions; ++position) {
    const auto [down, right] = half_pixels[static_cast<std::size_t>(position)];
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t column = 0; column < nx; ++column) {
        light(position, row, column) = picture(2 * row + down, 2 * column + right);
      }
    }
  }
}

/// Adds the difference of a picture from the simulated light at the samples to that light at all positions. Between
/// the samples the camera is blind: a loss at the samples alone would leave the light there to chance.
void take_picture(View<float, 3> light, const Array<float, 2>& picture) {
  const auto [positions, ny, nx] = light.shape();
  const std::int64_t pixels = ny * nx;
  double agreement = 0;
  double square = 0;
  for (std::int64_t i = 0; i < pixels; ++i) {
    const double simulated = light.data()[i];
    if (simulated == 0) continue;  // outside the region
    const double own = picture.data()[i];
    agreement += simulated * own;
    square += own * own;
  }
  const auto gain = static_cast<float>(square > 0 ? agreement / square : 0);
  Array<float, 2> more({ny, nx});
  Array<float, 2> less({ny, nx});
  for (std::int64_t i = 0; i < pixels; ++i) {
    const float simulated = light.data()[i];
    const float change = simulated == 0 ? 0 : gain * picture.data()[i] - simulated;
    more.data()[i] = std::max(change, 0.0F);
    less.data()[i] = std::max(-change, 0.0F);
  }
  const auto added = at_half_pixels(more.view());
  const auto taken = at_half_pixels(less.view());
  for (std::size_t position = 0; position < static_cast<std::size_t>(positions); ++position) {
    float* const own = light.data() + static_cast<std::int64_t>(position) * pixels;
    for (std::int64_t i = 0; i < pixels; ++i) {
      own[i] = std::max(0.0F, own[i] + added[position].data()[i] - taken[position].data()[i]);
    }
  }
}

}  // namespace

OptimizeMaker::OptimizeMaker(const OptimizeJob& job, ProgressBar& bar) : job_(job), bar_(bar) {}

PhaseRetrievalOptions OptimizeMaker::model(const TargetPictures& pictures, const Channel& channel) const {
  PhaseRetrievalOptions model = job_.model;
  model.grid = job_.hologram.grid(channel);
  model.planes = pictures.planes();
  model.region = pictures.region(channel);
  return model;
}

/// The frame before, a file's phase, or a start by seed.
Array<float, 3> OptimizeMaker::start(const PhaseRetrievalOptions& model, const Frame* frame, const Channel& channel) {
  if (const auto before = last_.find(channel.name); before != last_.end()) return std::move(before->second);
  const Shape<3> shape{model.frames, model.grid.ny, model.grid.nx};
  if (job_.start.empty()) {
    auto phase = starting_phase(shape, job_.random ? std::numbers::pi : 0.5, job_.hologram.scene.seed);
    if (model.focal_length_m > 0 && !job_.random) spread_over_region(phase.view(), model);
    return phase;
  }
  Array<float, 3> phase(shape);
  const auto added = added_phase(job_, channel);
  for (std::int64_t t = 0; t < model.frames; ++t) {
    const auto path = numbered_name(job_.start, frame, channel, t);
    const auto light = started_from(path);
    if (light.field.shape() != model.grid.shape()) {
      throw_io(path, fmt::format("the panel's {} x {} pixels", model.grid.nx, model.grid.ny),
               fmt::format("{} x {}", light.field.shape()[1], light.field.shape()[0]));
    }
    float* const own = subframe(phase.view(), t).data();
    for (std::int64_t i = 0; i < light.field.size(); ++i) {
      own[i] = std::arg(light.field.data()[i]) - (added.empty() ? 0.0F : added.data()[i]);
    }
  }
  return phase;
}

/// Puts the camera of --camera into the loop. A first picture tells whether it has the picture's pixels, or twice as
/// many along each axis.
void OptimizeMaker::watch(SolverOptions& solver, const PhaseRetrievalOptions& model, const Channel& channel) const {
  if (job_.camera.empty()) return;
  const auto camera = std::make_shared<CameraProgram>(job_.camera, job_.camera_timeout_s);
  const auto take = [this, camera, channel, model](View<const float, 2> phase) {
    check_cancelled("waiting for the camera");
    (void)write(channel, phase, model, nullptr, camera->codes_path());
    auto amplitude = camera_amplitude("--camera", camera->take(), channel.colour);
    if (std::ranges::all_of(amplitude.host(), [](float value) { return value == 0; })) {
      throw_io("--camera", "a picture with some light", "a black one");
    }
    return amplitude;
  };
  const auto& grid = model.grid;
  const Shape<2> fine{2 * grid.ny, 2 * grid.nx};
  const Array<float, 3> first = starting_phase({1, grid.ny, grid.nx}, 0.5, job_.hologram.scene.seed);
  const auto shape = take({first.data(), grid.shape()}).shape();
  if (shape != fine && shape != grid.shape()) {
    throw_io("--camera", fmt::format("pictures of {} x {} or {} x {} pixels", grid.nx, grid.ny, fine[1], fine[0]),
             fmt::format("{} x {}", shape[1], shape[0]));
  }
  solver.camera = [take, shape, fine](View<const float, 3> phase, View<float, 4> amplitude) {
    const auto [planes, positions, ny, nx] = amplitude.shape();
    const auto picture = take({phase.data(), {ny, nx}});
    if (picture.shape() != shape) {
      throw_io("--camera", fmt::format("{} x {} pixels as before", shape[1], shape[0]),
               fmt::format("{} x {}", picture.shape()[1], picture.shape()[0]));
    }
    const View<float, 3> light(amplitude.data(), {positions, ny, nx});
    if (shape == fine) {
      take_fine_picture(light, picture);
    } else {
      take_picture(light, picture);
    }
  };
}

/// With --keep-best a signal ends the steps only.
void OptimizeMaker::optimize(PhaseRetrievalPlan& plan, const SolverOptions& solver, OptimizedRow& row,
                             View<float, 3> phase) {
  const Stopwatch watch;
  auto own = copy_of<const float, 3>(phase, job_.hologram.device);
  try {
    row.result = plan.optimize(own.view(), solver, bar_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled || !job_.keep_best) throw;
    row.stopped = true;
  }
  const auto host = own.to(Device{});
  row.compute_s += watch.seconds();
  std::ranges::copy(host.host(), phase.data());
}

OptimizedRow OptimizeMaker::make(const TargetPictures& pictures, const Targets& targets, const Frame* frame,
                                 const Channel& channel) {
  auto options = model(pictures, channel);
  SolverOptions solver = job_.solver;
  if (job_.by_levels) solver.level_phase_rad = job_.levels();
  int steps = 0;
  solver.report = [&](int iteration, double psnr_db) {
    steps = iteration;
    bar_.set_detail(fmt::format("{:.1f} dB", psnr_db));
  };
  watch(solver, options, channel);
  const Device device = job_.hologram.device;
  PhaseRetrievalPlan plan(options, device);
  const auto& [amplitudes, largest] = targets;
  const std::size_t pupils = std::max<std::size_t>(1, job_.apertures.size());
  for (std::size_t plane = 0; plane < options.planes.size(); ++plane) {
    plan.set_target(amplitudes[plane / pupils].to(device).view(), plane);
  }
  if (const auto beam = beam_light(job_, channel); !beam.empty()) plan.set_source(beam.to(device).view());
  auto phase = start(options, frame, channel);
  OptimizedRow row;
  row.wavelength_m = channel.wavelength_m;
  row.planes = options.planes;
  // The camera mends what the model alone has reached.
  if (solver.camera && job_.start.empty()) optimize(plan, {.iterations = solver.iterations}, row, phase.view());
  if (!row.stopped) optimize(plan, solver, row, phase.view());
  row.result.iterations = steps;
  auto shown = copy_of<const float, 3>(phase.view(), Device{});
  const auto added = added_phase(job_, channel);
  for (std::int64_t t = 0; t < options.frames; ++t) show(job_, channel, subframe(shown.view(), t), added);
  if (job_.against.empty()) {
    compare(frame, channel, plan, shown.view(), amplitudes, row);
  } else {
    std::vector<Array<float, 2>> others;
    others.push_back(pictures.against(channel));
    plan.set_target(others.front().to(device).view());
    compare(frame, channel, plan, shown.view(), others, row);
  }
  const double brightest = static_cast<double>(largest) * static_cast<double>(largest);
  row.object_energy = brightest * energy_of(amplitudes.front()) / std::max(1e-6, row.quality.front().efficiency);
  for (std::int64_t t = 0; t < options.frames; ++t) {
    row.outputs.push_back(numbered_name(job_.hologram.output, frame, channel, t));
    row.reconstruct_flags = write(channel, subframe(phase.view(), t), options, &row, row.outputs.back());
  }
  if (!job_.frames.empty()) last_[channel.name] = std::move(phase);
  return row;
}

/// Compares the light with amplitudes that are the plan's targets.
void OptimizeMaker::compare(const Frame* frame, const Channel& channel, PhaseRetrievalPlan& plan,
                            View<const float, 3> phase, const std::vector<Array<float, 2>>& amplitudes,
                            OptimizedRow& row) const {
  const auto on_device = copy_of(phase, job_.hologram.device);
  row.quality = plan.quality(on_device.view());
  const auto light = plan.light(on_device.view());
  const auto& region = plan.options().region;
  const auto [planes, positions, ny, nx] = light.shape();
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(planes); ++plane) {
    const auto wanted = at_half_pixels(amplitudes[plane * amplitudes.size() / static_cast<std::size_t>(planes)].view());
    SeenPicture worst{1, 1, 0, 0};
    Array<std::uint8_t, 3> difference({region.rows, region.columns, 1});
    const auto samples = in_region(wanted[0].view(), region);
    const float peak = *std::ranges::max_element(samples.host());
    const std::size_t compared_positions = peak > 0 ? wanted.size() : 0;  // none of a dark plane of a stack
    for (std::size_t position = 0; position < compared_positions; ++position) {
      const auto picture = static_cast<std::int64_t>(plane) * positions + static_cast<std::int64_t>(position);
      const auto own = in_region({light.data() + picture * ny * nx, {ny, nx}}, region);
      auto target = in_region(wanted[position].view(), region);
      for (float& value : target.host()) value *= value;
      const View<std::uint8_t, 2> error(difference.data(), {region.rows, region.columns});
      const auto compared = position == 0 ? compare_light(own.view(), target.view(), static_cast<double>(peak), error)
                                          : compare_light(own.view(), target.view(), static_cast<double>(peak));
      if (position == 0) worst = {compared.ssim, compared.ssim, compared.speckle_contrast, compared.speckle_contrast};
      worst.ssim_worst = std::min(worst.ssim_worst, compared.ssim);
      worst.speckle_contrast_worst = std::max(worst.speckle_contrast_worst, compared.speckle_contrast);
    }
    row.seen.push_back(worst);
    if (job_.difference.empty()) continue;
    row.difference = numbered_name(job_.difference, frame, channel, 0);
    UnfinishedRun::will_write(row.difference);
    write_image(row.difference, Image{std::move(difference), {}}, job_.hologram.writing);
  }
}

Flags OptimizeMaker::write(const Channel& channel, View<const float, 2> phase, const PhaseRetrievalOptions& model,
                           const OptimizedRow* row, const std::string& output) const {
  MadeHologram made;
  HologramEncoder encoder(job_.hologram, channel, Queue());
  encoder.encode(wave_of(phase).view(), made);
  made.output = output;
  auto& metadata = made.metadata();
  metadata = panel_metadata(job_.hologram.panel, channel);
  if (model.focal_length_m > 0) set_metadata(metadata, "focal_length_m", model.focal_length_m);
  set_metadata(metadata, "distance_m", model.planes[model.planes.size() / 2].distance_m);
  if (row != nullptr && !channel.name.empty()) set_metadata(metadata, "object_energy", row->object_energy);
  set_metadata(metadata, "phase", job_.random ? "random" : "smooth");
  set_metadata(metadata, "signal_region", numbers_of(model.region));
  set_metadata(metadata, "seed", std::to_string(job_.hologram.scene.seed));
  encoder.describe(metadata);
  if (row != nullptr) {
    put_out(job_.hologram, channel.colour < 0 ? 0 : static_cast<std::size_t>(channel.colour), made);
  } else {
    write_hologram(made, job_.hologram.writing);
    const auto& codes = std::get<Array<std::uint8_t, 3>>(made.image->pixels);
    if (job_.hologram.shown) job_.hologram.shown->show({{codes.data(), {codes.shape()[0], codes.shape()[1]}}}, {});
  }
  return flags_for(output, metadata,
                   {job_.hologram.lut, job_.hologram.phase_range_rad.text, {}, job_.hologram.carrier});
}

}  // namespace holotone::cli
