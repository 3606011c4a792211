#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/halftone/halftone_maker.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <optional>

// Converts pictures to inks.
namespace holotone::cli {
namespace {

void require_memory_for_inks(const std::string& path, const Image& image, std::size_t inks) {
  const auto shape = shape_of(image);
  const double pixels = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  // The picture as float32, its inks, and one of them resampled.
  const double need = pixels * sizeof(float) * (static_cast<double>(shape[2]) + static_cast<double>(inks) + 1);
  require_memory(path, need, size_text(page_of(image)));
}

bool has_ink(const std::vector<Array<float, 2>>& inks) {
  return std::any_of(inks.begin(), inks.end(), [](const auto& ink) { return total_ink(ink.view()) > 0; });
}

}  // namespace

HalftonePage read_page(const HalftoneJob& job) {
  HalftonePage page;
  Array<float, 2> mask;
  std::optional<Separation> separation;
  if (job.cmyk) separation = separation_of(job.black, job.apart());
  bool floats = !job.ink.mask.empty();  // the mask may be of floats too
  for (const auto& path : job.inputs) {
    const Image image = read_picture(path);
    print_notes(job.console, image);
    const Shape<2> shape = page_of(image);
    floats = floats || std::holds_alternative<Array<float, 3>>(image.pixels);
    if (page.inks.empty()) {
      page.ny = shape[0];
      page.nx = shape[1];
      mask = read_mask(job.ink, shape, path);
    } else if (shape != Shape<2>{page.ny, page.nx}) {
      throw_io(path, fmt::format("the {} of {}", size_text({page.ny, page.nx}), job.inputs.front()), size_text(shape));
    }
    require_memory_for_inks(path, image, job.cmyk ? 4 : 1);
    if (job.cmyk) {
      for (auto& ink : inks_of(path, image, job.ink, mask.view(), *separation)) {
        page.inks.push_back(std::move(ink));
      }
    } else {
      page.inks.push_back(ink_of(path, image, job.ink, mask.view()));
    }
  }
  if (!has_ink(page.inks)) reject_no_ink(job.ink, job.inputs);
  page.clip_does_nothing = job.ink.options.out_of_range == OutOfRange::clip && !floats;
  page.printed = default_inks(page.inks.size());
  if (job.size_m > 0) page.pixel_m = job.size_m / static_cast<double>(std::max(page.nx, page.ny));
  return page;
}

}  // namespace holotone::cli
