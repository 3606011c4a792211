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

/// Share of the time limit for the fit; the rest is for storing.
double share_of_fit(const SmoeFitJob& job) {
  if (job.lossless) return 0.9;
  if (job.psnr_db) return 0.4;
  return job.bytes ? 0.5 : 0.6;
}

/// -10 log10 of an image's variance over all channels: PSNR of its mean colour.
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

/// Begins a phrase that ends with the reference picture.
std::string psnr_text(double psnr_db) {
  return std::isinf(psnr_db) ? "equal to" : fmt::format("PSNR {:.2f} dB of", psnr_db);
}

/// One fit, from the pictures to the report.
class FitRun {
 public:
  explicit FitRun(SmoeFitJob& job) : job_(job) { complete(job_); }

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

  [[nodiscard]] double time_left() const { return job_.time_s.value_or(0) - watch_.seconds(); }

  void read() {
    pictures_ = read_fit_pictures(job_.input, job_.rows, job_.options.linear);
    std::vector<InputFile> views;
    for (const auto& path : pictures_.paths) views.push_back({"IN", path});
    require_outputs({{"--output", 1, [&](std::int64_t) { return job_.output; }}}, views);
    views_ = std::ssize(pictures_.images);
    left_out_ = take_out(pictures_, job_.left_out);
    for (auto& remark : settle(job_, pictures_)) say(std::move(remark));
    if (pictures_.swapped) {
      say("IN: the parallax is vertical along %u and horizontal along %v; exchange %u and %v");
    }
    const auto& shape = pictures_.images.front().shape();
    const std::int64_t pixels = shape[0] * shape[1] * std::ssize(pictures_.images);
    if (job_.components && job_.options.components > pixels) {
      say(fmt::format("--components: {} exceed the {} of the pictures", counted(job_.options.components, "component"),
                      counted(pixels, "pixel")));
    }
  }

  void fit() {
    std::optional<SmoeModel> start;
    if (!job_.resume.empty()) start = start_model();
    if (job_.options.components == 0) {
      found_ = search_fit(job_, pictures_, start ? &*start : nullptr, time_left());
      return;
    }
    if (job_.time_s) job_.options.time_limit_s = std::max(share_of_fit(job_) * time_left(), 1e-3);
    SmoeFitOptions options = job_.options;
    if (start && !job_.components && !job_.bytes) options.components = start->count();
    SmoeFitter fitter = start ? SmoeFitter(pictures_.views(), *start, options, job_.device)
                              : SmoeFitter(pictures_.views(), options, job_.device);
    if (job_.time_s) say_minimum(fitter.model());
    {
      FitBar bar(job_.console);
      fitter.run(bar);
    }
    found_ = {stored_fit(job_, pictures_, fitter.model(), time_left()), fitter.psnr_db(), fitter.iterations(),
              job_.bytes ? "increase --bytes, --components, --iterations or --time"
                         : "increase --components, --iterations or --time",
              false};
  }

  /// Warns before the fit if --time is below the minimum work; `start` is the initial model.
  void say_minimum(const SmoeModel& start) {
    const double prepared = watch_.seconds();
    // All pictures are rendered at the end of the fit and once for the file's PSNR, at most nine during rounding.
    constexpr double rounded = 9;
    const auto pictures = static_cast<double>(pictures_.images.size());
    const auto left_out = static_cast<double>(left_out_.images.size());
    const double looks = 2 * pictures + std::min(pictures, rounded) + left_out;
    const double least = prepared + looks / pictures * measuring_seconds(pictures_, start, job_.device);
    if (least <= *job_.time_s) return;
    say(fmt::format("--time: {:g} s are too short, minimum work takes about {}", *job_.time_s, format_duration(least)));
  }

  /// Model named by --resume, checked.
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

  /// Warns if the model is worse than the mean colour: any model of these pictures is better.
  void check_start(const SmoeModel& start) {
    const std::size_t middle = pictures_.images.size() / 2;
    const auto& image = pictures_.images[middle];
    SmoeRenderer renderer(start, job_.device);
    const auto own =
        rendered(renderer, {{image.shape()[0], image.shape()[1]}, {}, {}, pictures_.at[middle]}, job_.device);
    const double psnr = psnr_of(own, image);
    const double of_mean = psnr_of_mean(image);
    if (psnr >= of_mean || std::isinf(of_mean)) return;
    say(
        fmt::format("--resume: {} reproduces {} with {:.1f} dB, less than its mean colour with {:.1f} dB; it may be a "
                    "model of another "
                    "picture",
                    job_.resume, pictures_.paths[middle], psnr, of_mean));
  }

  /// Divides by pixels of all captured views, including those left out, which the model also represents.
  [[nodiscard]] double bits_a_pixel() const {
    const auto& shape = pictures_.images.front().shape();
    return 8 * static_cast<double>(found_.stored.bytes.size()) / static_cast<double>(shape[0] * shape[1] * views_);
  }

  void tell() {
    if (job_.psnr_db && found_.stored.psnr_db < *job_.psnr_db) {
      say(fmt::format("--psnr: {:g} dB requested, {:.2f} dB reached; {}", *job_.psnr_db, found_.stored.psnr_db,
                      found_.ended));
    } else if (found_.cut_short) {
      say(fmt::format("--time stopped the search at {}; with more time a smaller file may be found",
                      counted(found_.stored.model.count(), "component")));
    }
    constexpr double late = 1.1;
    if (job_.time_s && watch_.seconds() > late * *job_.time_s) {
      say(fmt::format("--time: {:g} s requested, minimum work took {:.1f} s", *job_.time_s, watch_.seconds()));
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
      text += fmt::format(", {} {} held out", psnr_text(left_out_psnr_), counted(std::ssize(left_out_.images), "view"));
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
  SmoeFitJob& job_;
  FitPictures pictures_;
  FitPictures left_out_;
  std::int64_t views_ = 0;  ///< number of captured views
  FoundFit found_;
  double left_out_psnr_ = 0;
  std::vector<double> left_out_each_;
  std::vector<std::string> warnings_;
};

}  // namespace

Command smoe_fit_command() {
  const auto job = std::make_shared<SmoeFitJob>();
  return {.name = "fit",
          .purpose = "Fit a model to a picture or to the views of a light field",
          .examples = {"holotone smoe fit photo.png -o photo.smoe --components 5k",
                       "holotone smoe fit photo.png -o photo.smoe --bytes 40k --time 60",
                       "holotone smoe fit 'chess/view_%v_%u.png' -o chess.smoe --components 20k"},
          .groups = smoe_fit_options(*job),
          .run = [job] { return FitRun(*job).run(); }};
}

}  // namespace holotone::cli
