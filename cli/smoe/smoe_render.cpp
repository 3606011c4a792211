#include <cli/common/cancel.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <cli/smoe/smoe_render_job.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_image_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/mixture_views.hpp>
#include <holotone/recipes/mixtures/colours_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

void warn_of_view(const SmoeModel& model, const std::vector<double>& at, std::string_view option,
                  std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double low = model.low[2 + i];
    const double high = model.high[2 + i];
    if (at[i] >= low && at[i] <= high) continue;
    warnings.push_back(
        fmt::format("{}: {} = {:g} lies outside the captured {:g} to {:g}: the model is extrapolated there", option,
                    "uv"[i], at[i], low, high));
  }
}

/// Warnings for requests beyond the range that the model was fitted to.
std::vector<std::string> list_warnings(const SmoeModel& model, const SmoeView& view, const SmoeRenderJob& job,
                                       const std::array<std::vector<double>, 2>& ends) {
  std::vector<std::string> warnings;
  warn_of_view(model, view.at, "--view", warnings);
  if (job.along) {
    for (const auto& end : ends) warn_of_view(model, end, "--along", warnings);
  }
  // The centre of row 0 is half a pixel below the edge.
  if (job.epipolar && !(*job.epipolar + 0.5 >= model.low[1] && *job.epipolar + 0.5 <= model.high[1])) {
    warnings.push_back(
        fmt::format("--epi: row {:g} lies outside the picture's {:g} to {:g}: the model is extrapolated there",
                    *job.epipolar, model.low[1], model.high[1] - 1));
  }
  if (job.crop) {
    const auto& c = *job.crop;
    const bool within =
        c[0] >= model.low[0] && c[1] >= model.low[1] && c[0] + c[2] <= model.high[0] && c[1] + c[3] <= model.high[1];
    if (!within) {
      warnings.push_back(fmt::format(
          "--crop: reaches beyond the picture, {:g} x {:g} from {:g}, {:g}: the model is extrapolated there",
          model.high[0] - model.low[0], model.high[1] - model.low[1], model.low[0], model.low[1]));
    }
  }
  return warnings;
}

SmoeView view_to_render(const SmoeModel& model, const SmoeRenderJob& job) {
  MixtureViewOptions options{.crop = job.crop, .at = job.view, .epipolar_y = job.epipolar};
  if (job.size) options.size = {(*job.size)[1], (*job.size)[0]};
  SmoeView view = mixture_view(model, options);
  // Colours, and their codes both in memory and in the file's rows.
  const auto [ny, nx] = view.size;
  const double bytes_a_colour = !job.floats && job.bits == 8 ? 6 : 8;
  require_memory("--size", bytes_a_colour * static_cast<double>(nx * ny * model.channels),
                 fmt::format("{} x {} pixels", nx, ny));
  return view;
}

/// First and last view of a sweep: those of --along, or the leftmost and the rightmost.
std::array<std::vector<double>, 2> ends_of(const SmoeModel& model, const SmoeRenderJob& job, const SmoeView& view) {
  if (job.along) {
    if (model.dimensions < 3) reject<&SmoeRenderJob::along>("a light field, not a model of two dimensions", job.input);
    return for_option("--along", [&] {
      return std::array{view_position(model, job.along->front()), view_position(model, job.along->back())};
    });
  }
  std::array<std::vector<double>, 2> ends{view.at, view.at};
  if (view.at.empty()) return ends;
  ends[0][0] = model.low[2];
  ends[1][0] = model.high[2];
  return ends;
}

/// Renders views of one model to files.
class RenderRun {
 public:
  RenderRun(const SmoeRenderJob& job, SmoeModel model)
      : job_(job),
        view_(view_to_render(model, job)),
        ends_(ends_of(model, job, view_)),
        warnings_(cli::list_warnings(model, view_, job, ends_)),
        renderer_(std::move(model), Queue(job.device), job.options),
        bar_(job.console) {
    if (!job.diameter) return;
    aperture_ = job.aperture;
    aperture_->diameter = *job.diameter;
  }

  void make() {
    if (job_.diameter) require_light_field<&SmoeRenderJob::diameter>();
    if (!job_.sweep) {
      write(job_.output, view_);
      return;
    }
    require_light_field<&SmoeRenderJob::sweep>();
    views_ = positions_on_line(ends_[0], ends_[1], *job_.sweep);
    for (std::int64_t i = 0; i < *job_.sweep; ++i) {
      bar_.step("rendering", i, *job_.sweep);
      SmoeView view = view_;
      view.at = views_[static_cast<std::size_t>(i)];
      write(job_.frames->name(i), view);
    }
  }

  [[nodiscard]] nlohmann::json json(double seconds) const {
    const auto info = renderer_.info();
    const auto& model = renderer_.model();
    const auto& options = job_.options;
    const bool bounded = options.selection == SmoeSelection::bounded;
    const nlohmann::json none(nullptr);
    return {{"software", "holotone " HOLOTONE_VERSION},
            {"input", job_.input},
            {"outputs", outputs_},
            {"components", model.count()},
            {"resolution", {view_.size[1], view_.size[0]}},
            {"bits", job_.floats ? nlohmann::json("float32") : nlohmann::json(job_.bits)},
            job_.epipolar ? nlohmann::json{"views_from_to", ends_}
            : !job_.sweep ? nlohmann::json{"view", view_.at}
                          : nlohmann::json{"views", views_},
            {"crop", job_.crop ? nlohmann::json(*job_.crop) : none},
            {"selection", name_of(options.selection)},
            {"precision", name_of(options.precision)},
            {"tolerance", bounded ? nlohmann::json(options.tolerance) : none},
            {"components_per_tile", info.components_per_tile},
            {"tile", {info.tile[1], info.tile[0]}},
            {"device", to_string(job_.device)},
            {"render_s", render_seconds_},
            {"time_s", seconds}};
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] std::string summary(double seconds) const {
    return fmt::format("{}: {} x {} pixels of {}, {}",
                       outputs_.size() == 1 ? outputs_.front() : outputs_.front() + " to " + outputs_.back(),
                       view_.size[1], view_.size[0], counted(renderer_.model().count(), "component"),
                       format_duration(seconds));
  }

 private:
  template <auto Member>
  void require_light_field() const {
    if (renderer_.model().dimensions < 3) reject<Member>("a light field, not a model of two dimensions", job_.input);
  }

  /// One row of pixels of each view from the leftmost to the rightmost.
  Array<float, 3> epipolar(const SmoeView& view) {
    require_light_field<&SmoeRenderJob::epipolar>();
    QuietProgress progress;
    return epipolar_image(renderer_, view, ends_[0][0], ends_[1][0], job_.device, progress);
  }

  void write(const std::string& path, const SmoeView& view) {
    check_cancelled("rendering");
    const Stopwatch watch;
    auto colours = job_.epipolar ? epipolar(view) : render_mixture(renderer_, view, aperture_, job_.device, bar_);
    render_seconds_ += watch.seconds();
    check_cancelled("writing");
    UnfinishedRun::will_write(path);
    if (io::has_format(path, io::FileFormat::npy)) {
      io::write_npy(path, colours);
    } else {
      Image image = job_.floats ? Image{std::move(colours), {}}
                                : mixtures::coded(colours.view(), renderer_.model().linear, job_.bits);
      set_metadata(image.metadata, "software", "holotone " HOLOTONE_VERSION);
      set_metadata(image.metadata, "source", job_.input);
      write_image(path, image, job_.writing);
    }
    outputs_.push_back(path);
  }

  const SmoeRenderJob& job_;
  SmoeView view_;
  std::optional<SmoeAperture> aperture_;  ///< none: a pinhole
  std::array<std::vector<double>, 2> ends_;
  std::vector<std::string> warnings_;
  SmoeRenderer renderer_;
  ProgressBar bar_;
  std::vector<std::string> outputs_;
  std::vector<std::vector<double>> views_;  ///< of a sweep
  double render_seconds_ = 0;
};

int run_smoe_render(SmoeRenderJob& job) {
  const Stopwatch watch;
  complete(job);
  const UnfinishedRun unfinished;
  RenderRun run(job, read_model(job.input).model);
  run.make();
  check_cancelled("writing");
  UnfinishedRun::keep();
  for (const auto& warning : run.warnings()) warn(job.console, warning);
  report_json(job.console, run.json(watch.seconds()));
  report(job.console, run.summary(watch.seconds()));
  return exit_ok;
}

}  // namespace

Command smoe_render_command() {
  const auto job = std::make_shared<SmoeRenderJob>();
  return {.name = "render",
          .purpose = "Render a model as a picture of any size, any part and any view",
          .examples = {"holotone smoe render photo.smoe -o big.png --size 3840x2160",
                       "holotone smoe render chess.smoe -o view.png --view 0.3,-0.5",
                       "holotone smoe render chess.smoe -o frame_%03d.png --sweep 120"},
          .groups = smoe_render_options(*job),
          .run = [job] { return run_smoe_render(*job); }};
}

}  // namespace holotone::cli
