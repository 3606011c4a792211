#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_render_job.hpp>

namespace holotone::cli {
namespace {

constexpr double farthest = 1e7;

std::array<double, 4> crop_of(const std::string& text) {
  constexpr std::string_view expected = "X,Y,WIDTH,HEIGHT in the model's pixels such as 100,50,200,150";
  const auto pieces = list("--crop", text, expected);
  if (pieces.size() != 4) reject("--crop", expected, text);
  std::array<double, 4> crop{};
  for (std::size_t i = 0; i < 4; ++i) crop[i] = number_between("--crop", pieces[i], -farthest, farthest);
  if (!(crop[2] > 0 && crop[3] > 0)) reject("--crop", "a width and a height > 0", text);
  return crop;
}

int bits_of(const SmoeRenderArguments& arguments) {
  if (arguments.floats) return 0;
  static constexpr Choice<int> depths[] = {{"8", 8}, {"10", 10}, {"12", 12}, {"16", 16}};
  return choose("--bits", arguments.bits, depths);
}

void check_format(const SmoeRenderJob& job, const std::string& path) {
  const auto extension = extension_of(path);
  const bool tiff = extension == ".tif" || extension == ".tiff";
  if (job.bits == 0) {
    if (!tiff && extension != ".npy") reject("--output", "a name ending in .tif, .tiff or .npy for --float", path);
  } else if (!tiff && extension != ".png" && !(extension == ".bmp" && job.bits == 8)) {
    reject("--output",
           job.bits == 8 ? "a name ending in .png, .tif, .tiff or .bmp" : "a name ending in .png, .tif or .tiff", path);
  }
}

void set_output(SmoeRenderJob& job, const SmoeRenderArguments& arguments) {
  require_known_counters("--output", arguments.output, false);
  const auto pattern = frame_pattern("--output", arguments.output);
  if (job.sweep == 0 && pattern) reject("--output", "no counter without --sweep", arguments.output);
  if (job.sweep > 0 && !pattern)
    reject("--output", "a counter such as %03d for the views of --sweep", arguments.output);
  job.output = arguments.output;
  job.frames = pattern;
  check_format(job, pattern ? pattern->name(0) : job.output);
  const auto name = [&](std::int64_t i) { return job.frames ? job.frames->name(i) : job.output; };
  require_outputs({{"--output", std::max<std::int64_t>(job.sweep, 1), name}}, {{"IN", job.input}});
}

}  // namespace

SmoeRenderJob smoe_render_job(const SmoeRenderArguments& arguments) {
  SmoeRenderJob job;
  job.console = arguments.console;
  job.input = arguments.input;
  require_input(job.input);
  require_model_name("IN", job.input);
  job.bits = bits_of(arguments);
  if (!arguments.sweep.empty()) job.sweep = whole_number("--sweep", arguments.sweep, sweep_range);
  if (!arguments.along.empty()) {
    const auto colon = arguments.along.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == arguments.along.size()) {
      reject("--along", "two views such as 0,-1:0,1", arguments.along);
    }
    job.along = {arguments.along.substr(0, colon), arguments.along.substr(colon + 1)};
  }
  set_output(job, arguments);
  if (!arguments.size.empty()) job.size = resolution("--size", arguments.size);
  if (!arguments.crop.empty()) job.crop = crop_of(arguments.crop);
  if (!arguments.epipolar.empty()) job.epipolar = number_between("--epi", arguments.epipolar, -farthest, farthest);
  job.view = arguments.view;
  static constexpr Choice<SmoeSelection> selections[] = {
      {"bounded", SmoeSelection::bounded}, {"window", SmoeSelection::window}, {"all", SmoeSelection::all}};
  job.options.selection = choose("--selection", arguments.selection, selections);
  job.selection = arguments.selection;
  static constexpr Choice<SmoePrecision> precisions[] = {{"fast", SmoePrecision::fast},
                                                         {"robust", SmoePrecision::robust}};
  job.options.precision = choose("--precision", arguments.precision, precisions);
  if (!arguments.aperture.empty()) {
    job.aperture.emplace().diameter = number_between("--aperture", arguments.aperture, aperture_range);
    if (!arguments.disparity.empty()) {
      job.aperture->disparity_px = number_between("--disparity", arguments.disparity, disparity_range);
    }
  }
  if (!arguments.tolerance.empty()) {
    if (job.options.selection != SmoeSelection::bounded) {
      reject("--tolerance", "--selection bounded", arguments.selection);
    }
    job.options.tolerance = number_between("--tolerance", arguments.tolerance, colour_error_range);
  }
  if (!arguments.window.empty()) {
    if (job.options.selection != SmoeSelection::window) reject("--window", "--selection window", arguments.selection);
    job.options.window_px = number_between("--window", arguments.window, window_range);
  }
  if (!arguments.window_block.empty()) {
    if (job.options.selection != SmoeSelection::window) {
      reject("--window-block", "--selection window", arguments.selection);
    }
    job.options.window_block_px = whole_number("--window-block", arguments.window_block, window_block_range);
    if (job.options.window_block_px % 16 != 0) reject("--window-block", "a multiple of 16", arguments.window_block);
  }
  job.writing.compression = compression_of(arguments.compression);
  job.device = device_option(arguments.device, arguments.console);
  return job;
}

}  // namespace holotone::cli
