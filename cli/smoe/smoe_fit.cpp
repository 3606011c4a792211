#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cli/smoe/smoe_fit_job.hpp>
#include <cmath>
#include <holotone/io/file_format_detail.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Progress bar of a fit: attempt number if there are several, remaining time, PSNR.
class FitBar final : public Progress {
 public:
  explicit FitBar(const ConsoleOptions& console) : bar_(console) {}

  void begin(std::int64_t attempt, std::int64_t components) {
    attempt_ = fmt::format(", attempt {}, {}", attempt, counted(components, "component"));
    furthest_ = 0;
  }

  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
    if (stage == "measuring") return !cancelled();
    // The PSNR changes with each update: as part of the stage's name it would start a new bar.
    const auto comma = stage.find(", ");
    bar_.set_detail(comma == std::string_view::npos ? std::string() : std::string(stage.substr(comma + 2)));
    const std::string name(stage.substr(0, comma));
    if (name != "fitting") return bar_.update(name, done, total);
    furthest_ = std::max(furthest_, done);
    return bar_.update(name + attempt_, furthest_, total);
  }

 private:
  ProgressBar bar_;
  std::string attempt_;
  std::int64_t furthest_ = 0;
};

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
    UnfinishedRun::will_write(job_.output);
    write_mixture(job_.output, found_);
    if (!left_out_.images.empty()) {
      QuietProgress progress;
      auto compared = compare_mixture(found_.model, left_out_, false, job_.device, progress);
      left_out_psnr_ = compared.psnr_db;
      left_out_each_ = std::move(compared.each);
    }
    check_cancelled("writing");
    UnfinishedRun::keep();
    tell();
    return exit_ok;
  }

 private:
  [[nodiscard]] bool is_smoe() const { return io::has_format(job_.output, io::FileFormat::smoe); }

  void read() {
    pictures_ = read_fit_pictures(job_.input, {job_.rows, job_.options.linear, job_.grid});
    for (const auto& note : pictures_.notes) warn(job_.console, note);
    std::vector<InputFile> views;
    for (const auto& path : pictures_.paths) views.push_back({"IN", path});
    require_output(job_.output, views);
    views_ = std::ssize(pictures_.images);
    left_out_ = hold_out(pictures_, job_.left_out);
    if (pictures_.pixel_aspect != 1) {
      warn(job_.console, fmt::format("IN: a model has square pixels; the views' are {:.3g} times as high as wide",
                                     pictures_.pixel_aspect));
    }
    if (const auto words = order_warning(pictures_, "IN"); !words.empty()) warn(job_.console, words);
  }

  void fit() {
    std::optional<SmoeModel> start;
    if (!job_.resume.empty()) start = start_model();
    FitBar bar(job_.console);
    auto& options = job_.options;
    if (job_.time_s) options.time_limit_s = std::max(*job_.time_s - watch_.seconds(), 1e-3);
    options.on_components = [&](std::int64_t components, bool limited) { check_components(components, limited); };
    options.on_attempt = [&](std::int64_t attempt, std::int64_t components) { bar.begin(attempt, components); };
    options.on_estimate = [&](double render_s) { say_minimum(render_s); };
    found_ = start ? fit_mixture(pictures_, *start, options, job_.device, bar)
                   : fit_mixture(pictures_, options, job_.device, bar);
    if (!is_smoe()) found_.bytes.clear();
  }

  void check_components(std::int64_t components, bool limited) {
    const auto& shape = pictures_.images.front().shape();
    const std::int64_t pixels = shape[0] * shape[1] * std::ssize(pictures_.images);
    if (limited) {
      constexpr std::int64_t pixels_a_component = 4;
      warn(job_.console, fmt::format("--bytes: limited to {}, one for {} pixels; use --components for more",
                                     counted(components, "component"), pixels_a_component));
    }
    if (job_.options.components && components > pixels) {
      warn(job_.console, fmt::format("--components: {} exceed the {} of the pictures", counted(components, "component"),
                                     counted(pixels, "pixel")));
    }
    // Peak memory of a fit is about 1400 bytes per component.
    constexpr double bytes_a_component = 1500;
    require_memory("--components", bytes_a_component * static_cast<double>(components),
                   counted(components, "component"));
  }

  /// Warns before the fit if --time is below the minimum work. `render_s`: time to render all pictures.
  void say_minimum(double render_s) {
    const double prepared = watch_.seconds();
    // All pictures are rendered at the end of the fit and once for the file's PSNR, at most nine during rounding.
    constexpr double rounded = 9;
    const auto pictures = static_cast<double>(pictures_.images.size());
    const auto left_out = static_cast<double>(left_out_.images.size());
    const double looks = 2 * pictures + std::min(pictures, rounded) + left_out;
    const double least = prepared + looks / pictures * render_s;
    if (least <= *job_.time_s) return;
    warn(job_.console, fmt::format("--time: {:g} s are too short, minimum work takes about {}", *job_.time_s,
                                   format_duration(least)));
  }

  /// Model named by --resume, checked.
  SmoeModel start_model() {
    SmoeModel start = read_model(job_.resume, "--resume").model;
    if (start.linear != job_.options.linear) {
      reject<&SmoeFitJob::resume>(start.linear
                                      ? "a model of codes, or --linear as for a model of linear light"
                                      : "a model of linear light for --linear, or none of it for a model of codes",
                                  job_.resume);
    }
    const auto check = check_mixture_start(start, pictures_, job_.device);
    // Any model of these pictures is better than their mean colour.
    if (check.psnr_db < check.mean_colour_psnr_db && !std::isinf(check.mean_colour_psnr_db)) {
      warn(job_.console,
           fmt::format("--resume: {} reproduces {} with {:.1f} dB, less than its mean colour with {:.1f} dB; it may be "
                       "a model of another picture",
                       job_.resume, check.path, check.psnr_db, check.mean_colour_psnr_db));
    }
    return start;
  }

  /// Divides by pixels of all captured views, including those left out, which the model also represents.
  [[nodiscard]] double bits_a_pixel() const {
    const auto& shape = pictures_.images.front().shape();
    return 8 * static_cast<double>(found_.bytes.size()) / static_cast<double>(shape[0] * shape[1] * views_);
  }

  /// Why a PSNR was not reached, and what helps.
  [[nodiscard]] std::string remedy() const {
    switch (found_.end) {
      case MixtureFitEnd::components:
        return fmt::format("stopped at {}, one for 4 pixels; use --components for more, or more --iterations",
                           counted(found_.max_components, "component"));
      case MixtureFitEnd::time:
        return fmt::format("--time stopped the search at {}; increase --time or give --components",
                           counted(found_.model.count(), "component"));
      case MixtureFitEnd::options: break;
    }
    return job_.options.max_bytes ? "increase --bytes, --components, --iterations or --time"
                                  : "increase --components, --iterations or --time";
  }

  void tell() {
    if (job_.options.psnr_db && found_.psnr_db < *job_.options.psnr_db) {
      warn(job_.console, fmt::format("--psnr: {:g} dB requested, {:.2f} dB reached; {}", *job_.options.psnr_db,
                                     found_.psnr_db, remedy()));
    } else if (found_.cut_short) {
      warn(job_.console, fmt::format("--time stopped the search at {}; with more time a smaller file may be found",
                                     counted(found_.model.count(), "component")));
    }
    constexpr double late = 1.1;
    if (job_.time_s && watch_.seconds() > late * *job_.time_s) {
      warn(job_.console,
           fmt::format("--time: {:g} s requested, minimum work took {:.1f} s", *job_.time_s, watch_.seconds()));
    }
    const auto& shape = pictures_.images.front().shape();
    const auto count = std::ssize(pictures_.images);
    std::string text = fmt::format("{}: {}", job_.output, counted(found_.model.count(), "component"));
    if (!found_.bytes.empty()) {
      text += fmt::format(" in {} ({:.3g} bits a pixel)", counted(std::ssize(found_.bytes), "byte"), bits_a_pixel());
    }
    text += fmt::format(", {} {}{} x {} pixels", psnr_text(found_.psnr_db),
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
        {"components", found_.model.count()},
        {"bytes", found_.bytes.size()},
        {"bits_per_pixel", found_.bytes.empty() ? nlohmann::json(nullptr) : nlohmann::json(bits_a_pixel())},
        {"psnr_db", found_.psnr_db},
        {"fit_psnr_db", found_.fit_psnr_db},
        {"iterations", found_.iterations},
        {"seed", job_.options.seed},
        {"device", to_string(job_.device)},
        {"time_s", watch_.seconds()}};
    if (!left_out_.images.empty()) {
      object["left_out_psnr_db"] = left_out_psnr_;
      object["left_out"] = views_json(left_out_, left_out_each_);
    }
    return object;
  }

  Stopwatch watch_;
  SmoeFitJob& job_;
  CapturedViews pictures_;
  CapturedViews left_out_;
  std::int64_t views_ = 0;  ///< number of captured views
  MixtureFit found_;
  double left_out_psnr_ = 0;
  std::vector<double> left_out_each_;
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
