#include "cancel.hpp"
#include "memory_need.hpp"
#include "output_check.hpp"
#include "paths.hpp"
#include "smoe_command.hpp"
#include "smoe_picture.hpp"
#include "smoe_views.hpp"
#include "values.hpp"
#include <cmath>
#include <holotone/smoe/store.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

constexpr double default_quality = 60;

struct SmoeFitArguments {
  std::string input;
  std::string output;
  std::string components;
  std::string psnr;
  std::string bytes;
  std::string quality;
  bool lossless = false;
  std::string method = "gradient";
  std::string iterations;
  std::string time;
  std::string seed = "1";
  std::string resume;
  std::string rows = "auto";
  std::string device = "auto";
  bool linear = false;
  ConsoleOptions console;
};

struct SmoeFitJob {
  SmoeFitOptions options;
  Device device;
  std::optional<std::int64_t> bytes;
  double quality = default_quality;
  ViewRows rows = ViewRows::by_parallax;
};

SmoeFitJob fit_job(const SmoeFitArguments& a) {
  static constexpr Choice<SmoeFitMethod> methods[] = {{"gradient", SmoeFitMethod::gradient}, {"em", SmoeFitMethod::em}};
  static constexpr Choice<ViewRows> ways[] = {
      {"auto", ViewRows::by_parallax}, {"down", ViewRows::down}, {"up", ViewRows::up}};
  SmoeFitJob job;
  auto& options = job.options;
  options.method = choose("--method", a.method, methods);
  job.rows = choose("--rows", a.rows, ways);
  if (!a.bytes.empty()) {
    job.bytes = byte_count("--bytes", a.bytes);
    if (*job.bytes < 1) reject("--bytes", "1 or more, such as 40k", a.bytes);
  }
  if (!a.psnr.empty()) {
    options.psnr_db = number_between("--psnr", a.psnr, 1, 100);
    options.components = 0;
  }
  if (!a.components.empty()) options.components = whole_number("--components", a.components, 1, 1 << 24);
  if (!a.iterations.empty()) options.iterations = whole_number("--iterations", a.iterations, 0, 1000000);
  if (!a.time.empty()) options.time_limit_s = number_between("--time", a.time, 0.1, 1e6);
  if (!a.quality.empty()) job.quality = number_between("--quality", a.quality, 0, best_smoe_quality);
  options.seed = static_cast<std::uint64_t>(whole_number("--seed", a.seed, 0, INT64_MAX));
  options.linear = a.linear;
  job.device = parse_device(a.device);
  return job;
}

void check_outputs(const SmoeFitArguments& a) {
  require_known_counters("--output", a.output, false);
  require_model_name("--output", a.output);
  if (extension_of(a.output) != ".smoe" && (a.lossless || !a.quality.empty() || !a.bytes.empty())) {
    reject("--output", "a name ending in .smoe for --quality, --bytes or --lossless", a.output);
  }
  std::vector<InputFile> inputs{{"IN", a.input}};
  if (!a.resume.empty()) inputs.push_back({"--resume", a.resume});
  require_outputs({{"--output", 1, [&](std::int64_t) { return a.output; }}}, inputs);
}

/// Mean squared difference of the model's pictures, as they would be written, from those that it was fitted to.
double psnr_against(const FitPictures& pictures, const SmoeModel& model, Device device) {
  SmoeRenderer renderer(model, device);
  double sum = 0;
  for (std::size_t i = 0; i < pictures.images.size(); ++i) {
    const auto& image = pictures.images[i];
    const auto colours = rendered(renderer, {{image.shape()[0], image.shape()[1]}, {}, {}, pictures.at[i]}, device);
    // As files of codes would hold them.
    const auto codes = [&](const Array<float, 3>& own) { return to_float(coded(own, model.linear, pictures.bits)); };
    const double psnr = pictures.bits != 0 ? psnr_of(codes(colours), codes(image)) : psnr_of(colours, image);
    sum += std::pow(10, -0.1 * psnr) / static_cast<double>(pictures.images.size());
  }
  return -10 * std::log10(sum);
}

/// What is written: the bytes of a .smoe file and the model in them, or the model's floats.
struct Stored {
  std::vector<std::byte> bytes;
  SmoeModel model;
};

Stored stored(const SmoeFitArguments& a, const SmoeFitJob& job, const FitPictures& pictures, SmoeModel model) {
  if (extension_of(a.output) != ".smoe") return {{}, std::move(model)};
  Stored result;
  if (a.lossless) {
    result.bytes = encode_smoe(model, {.lossless = true, .steps = {}});
  } else {
    SmoeStoreOptions options;
    options.most_bytes = job.bytes.value_or(0);
    options.quality = job.quality;
    ProgressBar bar(a.console);
    result.bytes = store_smoe(pictures.views(), model, options, job.device, bar).bytes;
  }
  result.model = decode_smoe(result.bytes, a.output);
  return result;
}

int run_smoe_fit(const SmoeFitArguments& a) {
  const Stopwatch watch;
  SmoeFitJob job = fit_job(a);
  check_outputs(a);
  const FitPictures pictures = read_fit_pictures(a.input, job.rows, a.linear);
  std::vector<InputFile> views;
  for (const auto& path : pictures.paths) views.push_back({"IN", path});
  require_outputs({{"--output", 1, [&](std::int64_t) { return a.output; }}}, views);
  if (job.bytes && a.components.empty() && a.psnr.empty()) {
    const int dimensions = 2 + static_cast<int>(pictures.at.front().size());
    const auto channels = static_cast<int>(pictures.images.front().shape()[2]);
    job.options.components = smoe_components_for(*job.bytes, dimensions, channels);
  }
  // A fit holds some 1400 bytes of each component at its fullest.
  constexpr double bytes_a_component = 1500;
  const auto most = static_cast<double>(job.options.components);
  require_memory("--components", bytes_a_component * most, counted(job.options.components, "component"));
  const UnfinishedRun unfinished;
  const auto begun = [&]() -> SmoeFitter {
    if (a.resume.empty()) return SmoeFitter(pictures.views(), job.options, job.device);
    const SmoeModel start = read_model(a.resume).model;
    SmoeFitOptions options = job.options;
    if (a.components.empty() && a.psnr.empty() && a.bytes.empty()) options.components = start.count();
    return SmoeFitter(pictures.views(), start, options, job.device);
  };
  SmoeFitter fitter = begun();
  {
    ProgressBar bar(a.console);
    fitter.run(bar);
  }
  const Stored written = stored(a, job, pictures, fitter.model());
  check_cancelled("writing");
  if (written.bytes.empty()) {
    write_model_floats(a.output, written.model);
  } else {
    write_smoe(a.output, written.bytes);
  }
  const double psnr = psnr_against(pictures, written.model, job.device);
  check_cancelled("writing");
  UnfinishedRun::keep();
  const auto& shape = pictures.images.front().shape();
  const auto count = std::ssize(pictures.images);
  std::string size;
  if (!written.bytes.empty()) {
    const auto pixels = static_cast<double>(shape[0] * shape[1] * count);
    size = fmt::format(" in {} bytes ({:.3g} bits a pixel)", written.bytes.size(),
                       8 * static_cast<double>(written.bytes.size()) / pixels);
  }
  std::vector<std::string> warnings;
  if (job.options.psnr_db > 0 && psnr < job.options.psnr_db) {
    warnings.push_back(fmt::format("--psnr: {:g} dB were asked for, the model has {:.2f}", job.options.psnr_db, psnr));
    warn(a.console, warnings.back());
  }
  report(a.console, fmt::format("{}: {}{}, PSNR {:.2f} dB of {}{} x {} pixels, {}, {}", a.output,
                                counted(written.model.count(), "component"), size, psnr,
                                count > 1 ? counted(count, "view") + " of " : std::string(), shape[1], shape[0],
                                counted(fitter.iterations(), "step"), format_duration(watch.seconds())));
  report_json(a.console,
              {{"software", "holotone " HOLOTONE_VERSION},
               {"input", a.input},
               {"output", a.output},
               {"views", {pictures.columns, pictures.rows}},
               {"rows", pictures.rows > 1 ? nlohmann::json(pictures.up ? "up" : "down") : nlohmann::json(nullptr)},
               {"resolution", {shape[1], shape[0]}},
               {"channels", shape[2]},
               {"components", written.model.count()},
               {"bytes", written.bytes.size()},
               {"psnr_db", psnr},
               {"fit_psnr_db", fitter.psnr_db()},
               {"iterations", fitter.iterations()},
               {"seed", job.options.seed},
               {"device", to_string(job.device)},
               {"warnings", warnings},
               {"time_s", watch.seconds()}});
  return exit_ok;
}

}  // namespace

void add_smoe_fit(CLI::App& smoe, Action& action) {
  const auto arguments = std::make_shared<SmoeFitArguments>();
  auto& a = *arguments;
  auto* command = smoe.add_subcommand("fit", "A picture, or the views of a light field, to a model");
  command->add_option("IN", a.input, "A picture, or views by a name such as view_%v_%u.png: u to the right")
      ->required();
  command->add_option("-o,--output", a.output, "A model: .smoe, .json or .npz")->required();
  command->add_option("--components", a.components, "So many; default 5000, or by --bytes or --psnr");
  command->add_option("--psnr", a.psnr,
                      "Until the picture is so near, in dB; without --components as many as that takes");
  auto* bytes = command->add_option("--bytes", a.bytes, "Of .smoe: the best in so many, such as 40k");
  auto* quality =
      command->add_option("--quality", a.quality, "Of .smoe, 0 to 100: each 10 halve the steps; default 60");
  auto* lossless = command->add_flag("--lossless", a.lossless, "Of .smoe: every float exactly");
  quality->excludes(bytes)->excludes(lossless);
  bytes->excludes(lossless);
  command->add_option("--method", a.method, "gradient, or em: expectation-maximisation alone")->capture_default_str();
  command->add_option("--iterations", a.iterations, "Steps, at most; default 2000");
  command->add_option("--time", a.time, "Seconds after which the fit ends with what it has");
  command->add_option("--seed", a.seed, "Of every random choice")->capture_default_str();
  command->add_option("--resume", a.resume, "A model of the same pictures to start from");
  command->add_option("--rows", a.rows, "Way in which %v counts: down, up, or auto by the parallax")
      ->capture_default_str();
  command->add_option("--device", a.device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_flag("--linear", a.linear, "Fit linear light instead of the file's codes");
  add_console_options(*command, a.console);
  command->callback([arguments, &action] { action = [arguments] { return run_smoe_fit(*arguments); }; });
}

}  // namespace holotone::cli
