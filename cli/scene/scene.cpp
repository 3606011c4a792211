#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/new_folder.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/points_options.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/scene/scene_metadata.hpp>
#include <cmath>
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/json_text_detail.hpp>
#include <holotone/io/npy_image_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/recipes/mixtures/colours_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

std::array<std::int64_t, 2> parse_views(std::string_view option, const std::string& text) {
  if (text.find('x') == std::string::npos) reject(option, "COLUMNSxROWS such as 7x7", text);
  const auto views = resolution(option, text);
  if (std::max(views[0], views[1]) > 100) reject(option, "at most 100x100 views", text);
  return views;
}

/// Writes the scene's files, one progress step each.
class DiceWriter {
 public:
  DiceWriter(const DiceJob& job, const NewFolder& folder, Progress& progress)
      : job_(job), folder_(folder), progress_(progress), scene_(scene_options(job)) {}

  void operator()() {
    step();
    write_rgbd();
    step();
    DicePointsOptions points = job_.points;
    points.eye = job_.eye(0.5, 0.5);
    write_points(folder_.file("points.ply"), scene_.points(points), progress_);
    folder_.add_folder("views");
    for (std::int64_t v = 0; v < job_.views[1]; ++v) {
      for (std::int64_t u = 0; u < job_.views[0]; ++u) {
        step();
        write_picture(fmt::format("views/view_{}_{}.png", v, u), job_.camera(v, u));
      }
    }
    folder_.add_folder("truth");
    for (const auto& truth : dice_truths) {
      step();
      write_picture(truth.file, job_.eye(truth.right, truth.down));
    }
    write_file(folder_.file("scene.json"),
               io::json_text(dice_story(job_, scene_.options(), near_m_, far_m_), 2) + "\n");
  }

 private:
  static DiceSceneOptions scene_options(const DiceJob& job) {
    DiceSceneOptions options;
    options.channels = job.grey ? 1 : 3;
    options.seed = job.points.seed;
    return options;
  }

  void step() { progress_.step("drawing", done_++, job_.views[1] * job_.views[0] + 2 + std::ssize(dice_truths)); }

  [[nodiscard]] DicePictureOptions picture_options() const {
    return {.shape = {job_.resolution, job_.resolution}, .pitch_m = job_.pitch_m()};
  }

  void write_picture(const std::string& name, const Eye& eye) const {
    auto options = picture_options();
    options.plane_m = dice_plane_m;
    options.eye = eye;
    write_image(folder_.file(name), mixtures::coded(scene_.picture(options).colours.view(), true, 8), job_.writing);
  }

  void write_rgbd() {
    const DicePicture picture = scene_.picture(picture_options());
    write_image(folder_.file("image.png"), mixtures::coded(picture.colours.view(), true, 8), job_.writing);
    const auto distances = picture.distance_m.host();
    const auto [least, most] = std::minmax_element(distances.begin(), distances.end());
    // Range of whole tenths of a millimetre around the depths, up to float32 rounding, so that it can be typed. Code 0
    // stays unused: readers may treat it as no depth.
    near_m_ = (std::ceil(1e4 * static_cast<double>(*least)) - 1) / 1e4;
    far_m_ = std::ceil(1e4 * static_cast<double>(*most) - 1e-3) / 1e4;
    Array<std::uint16_t, 3> codes({job_.resolution, job_.resolution, 1});
    Array<float, 3> metres(codes.shape());
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const double share = (static_cast<double>(distances[i]) - near_m_) / (far_m_ - near_m_);
      codes.data()[i] = static_cast<std::uint16_t>(std::clamp(std::lround(65535 * share), 1L, 65535L));
      metres.data()[i] = distances[i];
    }
    io::write_npy(folder_.file("depth.npy"), metres);
    write_image(
        folder_.file("depth.png"),
        {std::move(codes), {{"depth_near_m", fmt::format("{}", near_m_)}, {"depth_far_m", fmt::format("{}", far_m_)}}},
        job_.writing);
  }

  const DiceJob& job_;
  const NewFolder& folder_;
  Progress& progress_;
  DiceScene scene_;
  std::int64_t done_ = 0;
  double near_m_ = 0;
  double far_m_ = 0;
};

int run_scene(DiceJob& job) {
  require_memory_for_points(job.points.count);
  NewFolder folder(output_name, job.folder);
  job.folder = folder.path();
  {
    ProgressBar progress(job.console);
    try {
      DiceWriter(job, folder, progress)();
    } catch (const Error& error) {
      throw folder.named(error);
    }
  }
  check_cancelled("drawing");
  folder.commit();
  const std::int64_t files = job.views[0] * job.views[1] + std::ssize(dice_truths) + 5;
  report_json(job.console, {{"scene", "dice"}, {"files", files}, {"outputs", {job.folder}}});
  report(job.console,
         fmt::format("{}: {}; {}/scene.json describes them", job.folder, counted(files, "file"), job.folder));
  return exit_ok;
}

}  // namespace

Command scene_command() {
  const auto held = std::make_shared<DiceJob>();
  auto& job = *held;
  return {
      .name = "scene",
      .purpose = "Render a built-in test scene: picture with depth, points, light field, and what an eye should see",
      .examples = {"holotone scene dice -o dice", "holotone scene dice -o dice --viewer 36mm:9.2mm --views 15x15"},
      .groups = {{"",
                  {{.names = "NAME",
                    .target = choice<bool>(job.dice, {{"dice", true}}),
                    .help = "Scene: dice, three dice in front of a checkerboard (Lagrange et al. 2024)",
                    .required = true},
                   output_option({.target = &job.folder, .value = "FOLDER", .help = "New folder for the files"}),
                   {.names = "--resolution",
                    .target = number(job.resolution, ValueUnit::count, {16, 16384}),
                    .value = "N",
                    .help = "Pixels a side of every picture",
                    .common = true},
                   {.names = "--views",
                    .target = parsed(job.views, parse_views, "7x7"),
                    .value = "COLUMNSxROWS",
                    .help = "Grid of views over the viewing window, at most 100x100",
                    .common = true},
                   {.names = "--viewer",
                    .target = parsed(job.viewer, viewer_of, std::string(DiceJob::default_viewer)),
                    .value = "WINDOW",
                    .help = "Viewing window DISTANCE:SIZE[@X,Y] in front of the panel",
                    .common = true},
                   {.names = "--points",
                    .target = member<&DicePointsOptions::count>(job.points),
                    .value = "N",
                    .help = "Number of points of points.ply, uniform on the surface seen from the window's centre",
                    .common = true,
                    .feeds = "scene_points.points"},
                   {.names = "--seed",
                    .target = number(job.points.seed, ValueUnit::count, {.low = 0}),
                    .value = "N",
                    .help = "Seed of the points and of antialiasing",
                    .common = true},
                   {.names = "--grey", .target = &job.grey, .help = "Render luminance only", .common = true},
                   compression_option(job.writing.compression)}},
                 console_options(job.console)},
      .run = [held] { return run_scene(*held); }};
}

}  // namespace holotone::cli
