#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <holotone/recipes/mixtures/view_files_detail.hpp>
#include <holotone/smoe/fit/steps.hpp>
#include <thread>

namespace holotone {
namespace {

/// A picture as it is read: its values, and its bits a channel.
struct ReadPicture {
  Array<float, 3> colours;
  int bits = 0;
  std::vector<std::string> notes{};
};

/// The first view, whose shape all others have.
struct FirstView {
  const std::string& path;
  const Shape<3>& shape;
};

void require_same_shape(const FirstView& first, const std::string& path, const Shape<3>& shape) {
  if (shape == first.shape) return;
  const auto text = [](const Shape<3>& s) {
    return fmt::format("{} x {} pixels of {}", s[1], s[0], io::counted(static_cast<std::uint64_t>(s[2]), "channel"));
  };
  throw_io(path, fmt::format("{}, as {} has", text(first.shape), first.path), text(shape));
}

void require_finite(const std::string& path, const Array<float, 3>& pixels) {
  const auto values = pixels.host();
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  const auto& [ny, nx, channels] = pixels.shape();
  const std::int64_t pixel = (bad - values.begin()) / channels;
  throw_io(path, "finite values", fmt::format("{} at row {}, column {}", *bad, pixel / nx, pixel % nx));
}

/// Reads a picture, of the first view's shape if there is one.
ReadPicture read_picture(const std::string& path, const ViewsReadOptions& options,
                         const std::optional<FirstView>& first) {
  const auto accept = [&](const Shape<3>& sides) {  // a palette's channels are not known yet
    if (first && (sides[0] != first->shape[0] || sides[1] != first->shape[1])) require_same_shape(*first, path, sides);
  };
  Image image = read_image(
      path, {.accept = accept, .bytes_a_pixel = 16, .as_light = !options.as_depth, .as_depth = options.as_depth});
  const auto shape = shape_of(image);
  if (first) require_same_shape(*first, path, shape);
  const int bits = std::holds_alternative<Array<float, 3>>(image.pixels)          ? 0
                   : std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8
                                                                                  : 16;
  if (bits == 0 && !options.linear && !options.as_depth && io::has_format(path, io::formats::light)) {
    throw_argument("read_views", "linear", fmt::format("true for {}, whose values are light", path), "false");
  }
  if (const auto unit = image.metadata.find(std::string(io::unit_key));
      options.as_depth && unit != image.metadata.end()) {
    io::note_unit(image.notes, unit->second, path);
  }
  auto colours = options.linear ? to_linear(image) : to_float(image);
  if (bits == 0) require_finite(path, colours);
  return {std::move(colours), bits, std::move(image.notes)};
}

/// Reads pictures of one shape, the first alone, then the others, one a thread. Progress hears of those of the calling
/// thread.
void read_pictures(CapturedViews& pictures, std::vector<std::string> files, const ViewsReadOptions& options,
                   Progress& progress) {
  const auto caller = std::this_thread::get_id();
  std::atomic<std::int64_t> done = 0;
  const auto read = [&](std::size_t i, const std::optional<FirstView>& first) {
    if (std::this_thread::get_id() == caller) progress.step("reading", done, std::ssize(files));
    ReadPicture picture = read_picture(files[i], options, first);
    pictures.images[i] = std::move(picture.colours);
    if (i == 0) pictures.notes = std::move(picture.notes);
    ++done;
    return picture.bits;
  };
  pictures.images.resize(files.size());
  pictures.bits = read(0, std::nullopt);
  const FirstView first{files.front(), pictures.images.front().shape()};
  std::vector<int> bits(files.size(), pictures.bits);
  parallel_for(1, std::ssize(files), [&](std::int64_t i) {
    const auto number = static_cast<std::size_t>(i);
    bits[number] = read(number, first);
  });
  progress.step("reading", done, std::ssize(files));
  pictures.bits = bits.back();
  pictures.paths = std::move(files);
}

View<const float, 3> image_at(const CapturedViews& pictures, std::int64_t row, std::int64_t column) {
  return pictures.images[static_cast<std::size_t>(row * pictures.columns + column)].view();
}

/// Sets the positions of the views, and `up` and `swapped` from the parallax.
void place_views(CapturedViews& pictures, ViewRows rows, bool both) {
  if (both) {
    const std::int64_t row = std::min(pictures.rows / 2, pictures.rows - 2);
    const std::int64_t column = std::min(pictures.columns / 2, pictures.columns - 2);
    const auto parallax = find_parallax(image_at(pictures, row, column), image_at(pictures, row, column + 1),
                                        image_at(pictures, row + 1, column));
    pictures.up = rows == ViewRows::up || (rows == ViewRows::by_parallax && parallax.opposite);
    pictures.swapped = parallax.swapped;
  }
  const auto place = [](std::int64_t i, std::int64_t count) {
    return 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
  };
  for (std::int64_t v = 0; v < pictures.rows; ++v) {
    for (std::int64_t u = 0; u < pictures.columns; ++u) {
      auto& view_place = pictures.at.emplace_back(std::vector{place(u, pictures.columns)});
      if (both) view_place.push_back(pictures.up ? -place(v, pictures.rows) : place(v, pictures.rows));
    }
  }
}

/// Refuses numbered views that their parallax shows to be rows of a grid.
void require_one_row(const CapturedViews& views) {
  const auto grid = mixtures::find_views_grid(views.images);
  if (!grid) return;
  const auto count = std::ssize(views.images);
  throw_argument(
      "read_views", "grid",
      fmt::format("{}x{}{} for {} views whose parallax {} after every {}, or {}x1 for a row", grid->columns, grid->rows,
                  grid->serpentine ? "s" : "", count, grid->serpentine ? "turns" : "jumps", grid->columns, count),
      "none");
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
  return psnr_db(variance);
}

void require_channels(const SmoeModel& model, const Shape<3>& shape, const std::string& path) {
  if (shape[2] == model.channels) return;
  throw_io(path,
           fmt::format("{}, as the model has", io::counted(static_cast<std::uint64_t>(model.channels), "channel")),
           std::to_string(shape[2]));
}

/// Refuses pictures of another aspect than the model's, up to rounding to whole pixels at any size.
void require_aspect(const SmoeModel& model, const Shape<3>& shape, const std::string& path) {
  if (model.dimensions < 2) return;
  const auto [own_height, own_width] = own_size(model);
  const std::int64_t off = std::abs(shape[1] * own_height - shape[0] * own_width);
  if (off <= std::max({own_width, own_height, shape[0], shape[1]})) return;
  throw_io(path, fmt::format("a picture of the model's aspect, {} x {}", own_width, own_height),
           fmt::format("{} x {} pixels", shape[1], shape[0]));
}

MixtureFitOptions options_for(const CapturedViews& views, MixtureFitOptions options) {
  options.bits = views.bits;
  options.linear = views.linear;
  return options;
}

std::string name_of_view(const ViewNumbers& view) {
  return view.v ? fmt::format("{},{}", view.u, *view.v) : fmt::format("{}", view.u);
}

}  // namespace

std::vector<SmoeFitView> fit_views(const CapturedViews& views) {
  std::vector<SmoeFitView> result;
  for (std::size_t i = 0; i < views.images.size(); ++i) result.push_back({views.images[i].view(), views.at[i]});
  return result;
}

CapturedViews read_views(const std::string& path, const ViewsReadOptions& options, Progress& progress) {
  CapturedViews pictures;
  pictures.name = path;
  pictures.linear = options.linear;
  auto files = mixtures::find_view_files(path, options.grid);
  const auto tiles = files ? std::nullopt : mixtures::find_view_tiles(path, options.grid);
  read_pictures(pictures, files ? std::move(files->paths) : std::vector{path}, options, progress);
  if (files) {
    pictures.numbers = std::move(files->numbers);
    pictures.columns = files->columns;
    pictures.rows = files->rows;
  } else if (tiles) {
    mixtures::cut_tiles(pictures, *tiles);
  } else {
    pictures.at.emplace_back();
    return pictures;
  }
  if (pictures.columns < 2) {
    throw_io(path, "2 or more views in a row", fmt::format("{} x {}", pictures.columns, pictures.rows));
  }
  if (files && files->one_counter) require_one_row(pictures);
  place_views(pictures, options.rows, pictures.rows > 1);
  return pictures;
}

CapturedViews hold_out(CapturedViews& views, std::span<const ViewNumbers> numbers) {
  const auto refuse = [](std::string_view expected, const ViewNumbers& view) {
    throw_argument("hold_out", "numbers", expected, fmt::format("'{}'", name_of_view(view)));
  };
  CapturedViews taken;
  taken.name = views.name;
  taken.bits = views.bits;
  taken.linear = views.linear;
  for (const auto& view : numbers) {
    const auto found = std::find(views.numbers.begin(), views.numbers.end(), view);
    if (found == views.numbers.end()) {
      const bool again = std::find(taken.numbers.begin(), taken.numbers.end(), view) != taken.numbers.end();
      const bool grid = !views.numbers.empty() && views.numbers.front().v.has_value();
      refuse(views.numbers.empty() ? "views of a light field"
             : again               ? "every view once"
                                   : fmt::format("an existing view as {}", grid ? "U,V" : "U"),
             view);
    }
    const auto i = found - views.numbers.begin();
    const auto move = [&](auto& from, auto& to) {
      to.push_back(std::move(from[static_cast<std::size_t>(i)]));
      from.erase(from.begin() + i);
    };
    move(views.paths, taken.paths);
    move(views.images, taken.images);
    move(views.at, taken.at);
    move(views.numbers, taken.numbers);
    if (views.images.size() < 2) refuse("at least 2 remaining views", view);
  }
  return taken;
}

MixtureFit fit_mixture(const CapturedViews& views, const MixtureFitOptions& options, const Queue& queue,
                       Progress& progress) {
  return fit_mixture(fit_views(views), options_for(views, options), queue, progress);
}

MixtureFit fit_mixture(const CapturedViews& views, const SmoeModel& start, const MixtureFitOptions& options,
                       const Queue& queue, Progress& progress) {
  return fit_mixture(fit_views(views), start, options_for(views, options), queue, progress);
}

MixtureComparison compare_mixture(const SmoeModel& model, const CapturedViews& views, bool with_colours,
                                  const Queue& queue, Progress& progress) {
  constexpr std::string_view where = "compare_mixture";
  if (views.images.empty()) throw_argument(where, "views", "one picture or more", "none");
  auto pictures = fit_views(views);
  if (views.numbers.empty()) {
    if (pictures.front().at.empty()) pictures.front().at = view_position(model);
  } else if (std::ssize(views.at.front()) != model.dimensions - 2) {
    throw_argument(where, "views",
                   model.dimensions <= 2   ? "one picture, as the model is of one"
                   : model.dimensions == 3 ? "a name with %u alone, as the model has views in one row"
                                           : "a name with %u and %v, as the model has rows of views",
                   fmt::format("'{}'", views.name));
  }
  require_channels(model, views.images.front().shape(), views.paths.front());
  require_aspect(model, views.images.front().shape(), views.paths.front());
  return compare_mixture(model, pictures, views.bits, with_colours, queue, progress);
}

MixtureStart check_mixture_start(const SmoeModel& start, const CapturedViews& views, const Queue& queue) {
  if (views.images.empty()) throw_argument("check_mixture_start", "views", "one picture or more", "none");
  const auto pictures = fit_views(views);
  smoe::require_start("SmoeFitter", start, pictures.front());
  const std::size_t middle = pictures.size() / 2;
  return {views.paths[middle], compare_mixture(start, {&pictures[middle], 1}, 0, false, queue).psnr_db,
          psnr_of_mean(views.images[middle])};
}

}  // namespace holotone
