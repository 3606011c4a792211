#include <algorithm>
#include <cli/common/camera_program.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/optimize/optimize_maker.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/panel_camera.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <memory>

namespace holotone::cli {
namespace {

/// Codes of up to 8 bits as a picture.
Image codes_image(View<const std::uint16_t, 2> codes) {
  Array<std::uint8_t, 3> pixels({codes.shape()[0], codes.shape()[1], 1});
  std::ranges::transform(codes.host(), pixels.data(),
                         [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
  return {std::move(pixels), {}};
}

/// Metadata of a file of codes; `energy`: of the object in one of three colours, 0: unknown.
Metadata codes_metadata(const OptimizeJob& job, const Channel& channel, const PictureRetrievalOptions& options,
                        StartPhase start, double energy) {
  auto metadata = panel_metadata(job.hologram.panel, channel);
  metadata.merge(retrieval_metadata(options, start));
  std::vector<double> planes_m;
  for (const auto& picture : job.pictures) planes_m.push_back(picture.distance_m);
  if (planes_m.size() > 1) {
    set_metadata(metadata, "distance_m", planes_m.front());
    set_metadata(metadata, "distances_m", planes_m);
  }
  if (energy > 0 && !channel.name.empty()) set_metadata(metadata, "object_energy", energy);
  if (!job.hologram.correction.empty()) set_metadata(metadata, "correction", job.hologram.correction);
  describe_encoding(metadata, options.encoding, {}, job.hologram.packed16);
  return metadata;
}

void write_codes(const std::string& path, View<const std::uint16_t, 2> codes, const OptimizeJob& job,
                 const PictureRetrievalOptions& options, const Metadata& metadata) {
  const auto& hologram = job.hologram;
  write_hologram(path, codes, options.model.grid, options.encoding, {},
                 {.metadata = metadata, .packed16 = hologram.packed16, .image = hologram.writing});
}

/// Phases of the files of --start.
Array<float, 3> started_from(const OptimizeJob& job, const PictureRetrievalOptions& options, const Frame* frame,
                             const Channel& channel) {
  std::vector<std::string> files;
  for (std::int64_t t = 0; t < options.model.frames; ++t) {
    files.push_back(numbered_name(job.start, frame, channel, t));
  }
  return stored_phases(files, options.model.grid, options.encoding);
}

}  // namespace

RetrievalCamera OptimizeMaker::camera(const PictureRetrievalOptions& options, const Channel& channel) const {
  if (job_.camera.empty()) return {};
  const auto program = std::make_shared<CameraProgram>(job_.camera, job_.camera_timeout_s, job_.hologram.console);
  const auto metadata = codes_metadata(job_, channel, options, options.start.value_or(StartPhase::smooth), 0);
  const auto take = [this, program, metadata, options, colour = channel.colour](View<const std::uint16_t, 2> codes) {
    check_cancelled("waiting for the camera");
    write_codes(program->codes_path(), codes, job_, options, metadata);
    if (job_.hologram.shown) {
      const auto image = codes_image(codes);
      job_.hologram.shown->show({{std::get<Array<std::uint8_t, 3>>(image.pixels).data(), codes.shape()}}, {});
    }
    return camera_amplitude("--camera", program->take(), colour);
  };
  return make_camera(take, options, "--camera");
}

OptimizedRecord OptimizeMaker::make(const TargetPictures& pictures, const std::vector<Array<float, 2>>& amplitudes,
                                    const Frame* frame, const Channel& channel, const std::function<void()>& checked) {
  auto options = job_.options_for(channel);
  options.model.planes = pictures.planes();
  options.model.region = pictures.region(channel);
  options.solver.report = [this](int, double psnr_db) { bar_.set_detail(fmt::format("{:.1f} dB", psnr_db)); };
  options.solver.camera = camera(options, channel);
  Array<float, 2> beam;
  if (const auto& path = job_.beam.path; !path.empty()) {
    beam = camera_amplitude(path, read_measured_picture(job_.hologram.console, path), channel.colour);
    options.beam = beam.view();
  }
  const auto drawn = pictures.beam(channel);
  if (drawn) options.even = drawn->inner.view();
  Array<float, 2> against;
  if (!job_.against.empty()) {
    const auto path = frame == nullptr ? job_.against : numbered(job_.against, frame->number);
    against = pictures.amplitude(path, read_picture_file(job_.hologram.console, path), channel);
    options.against = against.view();
  }
  Array<float, 3> start;
  if (const auto before = last_.find(channel.name); before != last_.end()) {
    start = std::move(before->second);
  } else if (!job_.start.empty()) {
    start = started_from(job_, options, frame, channel);
  }
  options.start_rad = start.view();
  std::vector<View<const float, 2>> views;
  views.reserve(amplitudes.size());
  for (const auto& amplitude : amplitudes) views.push_back(amplitude.view());
  checked();
  OptimizedRecord row;
  row.wavelength_m = channel.wavelength_m;
  row.made = retrieve_amplitudes(views, options, Queue::create(job_.hologram.device), bar_);
  write(channel, options, frame, row);
  if (!job_.frames.empty()) last_[channel.name] = std::move(row.made.phase_rad);
  row.made.phase_rad = {};
  row.made.codes = {};
  row.made.difference = {};
  return row;
}

void OptimizeMaker::write(const Channel& channel, const PictureRetrievalOptions& options, const Frame* frame,
                          OptimizedRecord& row) const {
  const auto& hologram = job_.hologram;
  const auto& made = row.made;
  if (!job_.difference.empty()) {
    row.difference = numbered_name(job_.difference, frame, channel, 0);
    UnfinishedRun::will_write(row.difference);
    Array<std::uint8_t, 3> pixels({made.difference.shape()[0], made.difference.shape()[1], 1});
    std::ranges::copy(made.difference.host(), pixels.data());
    write_image(row.difference, Image{std::move(pixels), {}}, {.compression = hologram.writing.compression});
  }
  const auto metadata = codes_metadata(job_, channel, options, made.start, made.object_energy);
  for (std::int64_t t = 0; t < options.model.frames; ++t) {
    const auto shape = options.model.grid.shape();
    const View<const std::uint16_t, 2> codes(made.codes.data() + t * shape[0] * shape[1], shape);
    const auto& output = row.outputs.emplace_back(numbered_name(hologram.output, frame, channel, t));
    if (hologram.shown) {
      hologram.shown->add(static_cast<std::size_t>(std::max(channel.colour, 0)), codes_image(codes));
    } else {
      UnfinishedRun::will_write(output);
      write_codes(output, codes, job_, options, metadata);
    }
    row.reconstruct_flags = flags_for(
        output, metadata, {hologram.lut, hologram.phase_range_rad.text, {}, hologram.carrier, hologram.lut_unit});
  }
}

}  // namespace holotone::cli
