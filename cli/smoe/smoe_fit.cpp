#include <CLI/CLI.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/smoe_picture.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cli/smoe/smoe_fit_job.hpp>
#include <cli/smoe/smoe_fit_search.hpp>
#include <cmath>
#include <holotone/smoe/fit/steps.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// What part of the time the fit may take, the rest being for storing it.
double share_of_fit(const SmoeFitJob& job) {
  if (job.lossless) return 0.9;
  if (job.psnr_db > 0) return 0.4;
  return job.bytes ? 0.5 : 0.6;
}

/// -10 log10 of an image's variance, all channels: how near its mean colour is to it.
double psnr_of_mean(const Array<float, 3>& image) {
  const std::int64_t channels = image.shape()[2];
  const auto pixels = static_cast<double>(image.size() / channels);
  double variance = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = c; i < image.size(); i += channels) {
      const auto value = static_cast<double>(image.data()[i]);
      sum += value;
      squares += value * value;
    }
    variance += std::max(squares / pixels - sum / pixels * (sum / pixels), 0.0) / static_cast<double>(channels);
  }
  return -10 * std::log10(variance);
}

/// With the word that joins it to what was measured.
std::string psnr_text(double psnr_db) {
  return std::isinf(psnr_db) ? "equal to" : fmt::format("PSNR {:.2f} dB of", psnr_db);
}

/// One fit from what was typed to what is told.
class FitRun {
 public:
  explicit FitRun(const SmoeFitArguments& arguments) : job_(smoe_fit_job(arguments)) {}

  int run() {
    read();
    const UnfinishedRun unfinished;
    fit();
    check_cancelled("writing");
    if (found_.stored.bytes.empty()) {
      write_model_floats(job_.output, found_.stored.model);
    } else {
      write_smoe(job_.output, found_.stored.bytes);
    }
    if (!left_out_.images.empty()) {
      left_out_psnr_ = psnr_of_pictures(left_out_, found_.stored.model, job_.device, &left_out_each_);
    }
    check_cancelled("writing");
    UnfinishedRun::keep();
    tell();
    return exit_ok;
  }

 private:
  void say(std::string warning) {
    warn(job_.console, warning);
    warnings_.push_back(std::move(warning));
  }

  void read() {
    pictures_ = read_fit_pictures(job_.input, job_.rows, job_.options.linear);
    std::vector<InputFile> views;
    for (const auto& path : pictures_.paths) views.push_back({"IN", path});
    require_outputs({{"--output", 1, [&](std::int64_t) { return job_.output; }}}, views);
    views_ = std::ssize(pictures_.images);
    left_out_ = take_out(pictures_, job_.left_out);
    for (auto& remark : settle(job_, pictures_)) say(std::move(remark));
    if (pictures_.swapped) {
      say("IN: things shift up and down along %u and to the sides along %v: the two seem to be the wrong way round");
    }
    const auto& shape = pictures_.images.front().shape();
    const std::int64_t pixels = shape[0] * shape[1] * std::ssize(pictures_.images);
    if (job_.counted && job_.options.components > pixels) {
      say(fmt::format("--components: {} are more than the {} to fit them to",
                      counted(job_.options.components, "component"), counted(pixels, "pixel")));
    }
  }

  void fit() {
    std::optional<SmoeModel> start;
    if (!job_.resume.empty()) start = start_model();
    if (job_.options.components == 0) {
      found_ = search_fit(job_, pictures_, start ? &*start : nullptr, job_.time_s - watch_.seconds());
      return;
    }
    if (job_.time_s > 0) {
      job_.options.time_limit_s = std::max(share_of_fit(job_) * (job_.time_s - watch_.seconds()), 1e-3);
    }
    SmoeFitOptions options = job_.options;
    if (start && !job_.counted && !job_.bytes) options.components = start->count();
    SmoeFitter fitter = start ? SmoeFitter(pictures_.views(), *start, options, job_.device)
                              : SmoeFitter(pictures_.views(), options, job_.device);
    if (job_.time_s > 0) say_minimum(fitter.model());
    {
      FitBar bar(job_.console);
      fitter.run(bar);
    }
    found_ = {stored_fit(job_, pictures_, fitter.model(), job_.time_s - watch_.seconds()), fitter.psnr_db(),
              fitter.iterations(), "more --components, --iterations or --time help"};
  }

  /// Before the fit, whether --time is too short whatever is left out: `start` is what the fit begins with.
  void say_minimum(const SmoeModel& start) {
    const double prepared = watch_.seconds();
    // All pictures are looked at when the fit ends and when the file is measured, nine at most when it is rounded.
    constexpr double rounded = 9;
    const auto pictures = static_cast<double>(pictures_.images.size());
    const auto left_out = static_cast<double>(left_out_.images.size());
    const double looks = 2 * pictures + std::min(pictures, rounded) + left_out;
    const double least = prepared + looks / pictures * measuring_seconds(pictures_, start, job_.device);
    if (least <= job_.time_s) return;
    say(fmt::format("--time: {:g} s are too short, minimum work takes about {}", job_.time_s, format_duration(least)));
  }

  /// What --resume names, checked.
  SmoeModel start_model() {
    SmoeModel start = read_model(job_.resume, "--resume").model;
    if (start.linear != job_.options.linear) {
      reject("--resume",
             start.linear ? "a model of codes, or --linear as for a model of linear light"
                          : "a model of linear light for --linear, or none of it for a model of codes",
             job_.resume);
    }
    const auto views = pictures_.views();
    smoe::require_start("SmoeFitter", start, views.front());
    check_start(start);
    return start;
  }

  /// A model of these pictures shows them better than one colour does, however few components it has.
  void check_start(const SmoeModel& start) {
    const std::size_t middle = pictures_.images.size() / 2;
    const auto& image = pictures_.images[middle];
    SmoeRenderer renderer(start, job_.device);
    const auto own =
        rendered(renderer, {{image.shape()[0], image.shape()[1]}, {}, {}, pictures_.at[middle]}, job_.device);
    const double psnr = psnr_of(own, image);
    const double of_mean = psnr_of_mean(image);
    if (psnr >= of_mean || std::isinf(of_mean)) return;
    say(fmt::format(
        "--resume: {} shows {} with {:.1f} dB, its mean colour alone would with {:.1f}: it seems to be a model of "
        "another picture",
        job_.resume, pictures_.paths[middle], psnr, of_mean));
  }

  /// Pixels of all captured views: those left out too, which the model shows as well.
  [[nodiscard]] double bits_a_pixel() const {
    const auto& shape = pictures_.images.front().shape();
    return 8 * static_cast<double>(found_.stored.bytes.size()) / static_cast<double>(shape[0] * shape[1] * views_);
  }

  void tell() {
    if (job_.psnr_db > 0 && found_.stored.psnr_db < job_.psnr_db) {
      say(fmt::format("--psnr: {:g} dB were asked for, the model has {:.2f}: {}", job_.psnr_db, found_.stored.psnr_db,
                      found_.ended));
    }
    constexpr double late = 1.1;
    if (job_.time_s > 0 && watch_.seconds() > late * job_.time_s) {
      say(fmt::format("--time: {:g} s were asked for, minimum work took {:.1f} s", job_.time_s, watch_.seconds()));
    }
    const auto& shape = pictures_.images.front().shape();
    const auto count = std::ssize(pictures_.images);
    std::string text = fmt::format("{}: {}", job_.output, counted(found_.stored.model.count(), "component"));
    if (!found_.stored.bytes.empty()) {
      text +=
          fmt::format(" in {} ({:.3g} bits a pixel)", counted(std::ssize(found_.stored.bytes), "byte"), bits_a_pixel());
    }
    text += fmt::format(", {} {}{} x {} pixels", psnr_text(found_.stored.psnr_db),
                        count > 1 ? counted(count, "view") + " of " : std::string(), shape[1], shape[0]);
    if (!left_out_.images.empty()) {
      text += fmt::format(", {} {} left out", psnr_text(left_out_psnr_), counted(std::ssize(left_out_.images), "view"));
    }
    report(job_.console,
           fmt::format("{}, {}, {}", text, counted(found_.iterations, "step"), format_duration(watch_.seconds())));
    report_json(job_.console, json());
  }

  [[nodiscard]] nlohmann::json json() const {
    const auto& shape = pictures_.images.front().shape();
    nlohmann::json object{
        {"software", "holotone " HOLOTONE_VERSION},
        {"input", job_.input},
        {"output", job_.output},
        {"views", {pictures_.columns, pictures_.rows}},
        {"rows", pictures_.rows > 1 ? nlohmann::json(pictures_.up ? "up" : "down") : nlohmann::json(nullptr)},
        {"resolution", {shape[1], shape[0]}},
        {"channels", shape[2]},
        {"components", found_.stored.model.count()},
        {"bytes", found_.stored.bytes.size()},
        {"bits_per_pixel", found_.stored.bytes.empty() ? nlohmann::json(nullptr) : nlohmann::json(bits_a_pixel())},
        {"psnr_db", found_.stored.psnr_db},
        {"fit_psnr_db", found_.fit_psnr_db},
        {"iterations", found_.iterations},
        {"seed", job_.options.seed},
        {"device", to_string(job_.device)},
        {"warnings", warnings_},
        {"time_s", watch_.seconds()}};
    if (!left_out_.images.empty()) {
      object["left_out_psnr_db"] = left_out_psnr_;
      object["left_out"] = views_json(left_out_, left_out_each_);
    }
    return object;
  }

  Stopwatch watch_;
  SmoeFitJob job_;
  FitPictures pictures_;
  FitPictures left_out_;
  std::int64_t views_ = 0;  ///< captured
  FoundFit found_;
  double left_out_psnr_ = 0;
  std::vector<double> left_out_each_;
  std::vector<std::string> warnings_;
};

}  // namespace

void add_smoe_fit(CLI::App& smoe, Action& action) {
  const auto arguments = std::make_shared<SmoeFitArguments>();
  auto& a = *arguments;
  auto* command = smoe.add_subcommand("fit", "A picture, or the views of a light field, to a model");
  command->add_option("IN", a.input, "A picture, or views by a name such as view_%v_%u.png: u to the right")
      ->required();
  command->add_option("-o,--output", a.output, "A model: .smoe, .json or .npz")->required();
  command->add_option("--components", a.components, "So many; default 5000, or by --bytes or --psnr");
  auto* psnr = command->add_option(
      "--psnr", a.psnr, "The smallest file found that is so near, in dB; without --components as many as that takes");
  auto* bytes = command->add_option("--bytes", a.bytes, "Of .smoe: the best in so many, such as 40k");
  auto* quality =
      command->add_option("--quality", a.quality, "Of .smoe, 0 to 100: each 10 halve the steps; default 60");
  auto* lossless = command->add_flag("--lossless", a.lossless, "Of .smoe: every float exactly");
  quality->excludes(bytes)->excludes(lossless)->excludes(psnr);
  bytes->excludes(lossless);
  command->add_option("--method", a.method, "gradient, or em: expectation-maximisation alone")->capture_default_str();
  command->add_option("--iterations", a.iterations, "Steps, at most; default 2000");
  command->add_option("--time", a.time, "Seconds that all of it may take: fit and storing end with what they have");
  command->add_option("--seed", a.seed, "Of every random choice")->capture_default_str();
  command->add_option("--resume", a.resume, "A model of the same pictures to start from");
  command->add_option("--rows", a.rows, "Way in which %v counts: down, up, or auto by the parallax")
      ->capture_default_str();
  command
      ->add_option(
          "--leave-out", a.left_out,
          "U,V of views, as in their names, that are not fitted: how well they are foretold is told; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--device", a.device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_flag("--linear", a.linear, "Fit linear light instead of the file's codes");
  add_console_options(*command, a.console);
  command->callback([arguments, &action] { action = [arguments] { return FitRun(*arguments).run(); }; });
}

}  // namespace holotone::cli
