#include "cancel.hpp"
#include "halftone_maker.hpp"
#include "startup.hpp"
#include "values.hpp"
#include <algorithm>
#include <holotone/core/error.hpp>
#include <holotone/io/image.hpp>

// Pictures to inks.
namespace holotone::cli {
namespace {

std::string size_text(const Shape<2>& shape) { return fmt::format("{} x {} pixels", shape[1], shape[0]); }

Shape<2> page_of(const Image& image) {
  const auto shape = shape_of(image);
  return {shape[0], shape[1]};
}

/// Before the system ends the program for trying.
void require_memory(const std::string& path, const Image& image, std::size_t inks) {
  const auto shape = shape_of(image);
  const double pixels = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  // The picture as numbers, its inks, and one more of them resampled.
  const double need = pixels * sizeof(float) * (static_cast<double>(shape[2]) + static_cast<double>(inks) + 1);
  const double free = std::min(static_cast<double>(describe(Device{}).free_bytes), free_address_space());
  if (need <= free) return;
  throw Error(ErrorCode::out_of_memory, fmt::format("{}: expected {} of memory for {}, got {} free", path,
                                                    format_bytes(need), size_text(page_of(image)), format_bytes(free)));
}

Image read(const std::string& path) {
  check_cancelled("reading");
  Image image = read_image(path);
  check_cancelled("reading");
  return image;
}

/// What the library has against a picture is said of its file.
template <class Work>
auto of_picture(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || names_option(error)) throw;
    throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
  }
}

Array<float, 2> read_mask(const HalftoneJob& job, const Shape<2>& page) {
  const Image image = read(job.mask);
  if (page_of(image) != page) {
    throw_io(job.mask, fmt::format("the {} of {}", size_text(page), job.inputs.front()), size_text(page_of(image)));
  }
  return to_grey(image);
}

bool has_ink(const std::vector<Array<float, 2>>& inks) {
  return std::any_of(inks.begin(), inks.end(), [](const auto& ink) { return total_ink(ink.view()) > 0; });
}

}  // namespace

HalftonePage read_page(const HalftoneJob& job) {
  HalftonePage page;
  Array<float, 2> mask;
  for (const auto& path : job.inputs) {
    const Image image = read(path);
    const Shape<2> shape = page_of(image);
    if (page.inks.empty()) {
      page.ny = shape[0];
      page.nx = shape[1];
      if (!job.mask.empty()) mask = read_mask(job, shape);
    } else if (shape != Shape<2>{page.ny, page.nx}) {
      throw_io(path, fmt::format("the {} of {}", size_text({page.ny, page.nx}), job.inputs.front()), size_text(shape));
    }
    require_memory(path, image, job.cmyk ? 4 : 1);
    InkOptions options = job.ink;
    options.mask = mask.view();
    if (job.tone_by_file && std::holds_alternative<Array<float, 3>>(image.pixels)) options.tone = PixelTone::linear;
    of_picture(path, [&] {
      const auto pixels = to_float(image);
      if (job.cmyk) {
        for (auto& ink : cmyk_inks(pixels.view(), job.black, options)) page.inks.push_back(std::move(ink));
      } else {
        page.inks.push_back(ink_from_pixels(pixels.view(), options));
      }
    });
  }
  if (!has_ink(page.inks)) {
    throw_io(job.inputs.front(), "a picture with ink",
             fmt::format("none: it is {} everywhere{}",
                         job.ink.invert ? "black, and --invert puts ink where it is bright," : "white",
                         job.mask.empty() ? "" : ", or where --mask leaves ink"));
  }
  page.printed = default_inks(page.inks.size());
  if (job.size_m > 0) page.pixel_m = job.size_m / static_cast<double>(std::max(page.nx, page.ny));
  return page;
}

}  // namespace holotone::cli
