#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/display/bit_planes.hpp>
#include <holotone/display/trigger.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/codes/panel_pictures_detail.hpp>
#include <holotone/recipes/codes/scaled_codes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <string_view>
#include <utility>

namespace holotone {
namespace {

using Files = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& path, const std::string& expected, const std::string& got) {
  throw FileError(path, Error(ErrorCode::invalid_argument, ErrorFields{"read_panel_pictures", "", expected, got}));
}

/// Channel `c` of an image.
template <class Code>
Array<Code, 2> channel(const Array<Code, 3>& pixels, std::int64_t c) {
  const auto [ny, nx, channels] = pixels.shape();
  Array<Code, 2> one({ny, nx});
  for (std::int64_t i = 0; i < ny * nx; ++i) one.data()[i] = pixels.data()[i * channels + c];
  return one;
}

/// Turns codes from black to white into codes, or all codes into such as the rules ask for.
void set_scale(const std::string& path, Image& image, const PictureRules& rules, std::vector<std::string>& notes) {
  const int stored_bits = code_bits(image);
  const bool scaled = checked_number(path, image.metadata, "scaled_codes").value_or(0) == 1;
  const auto stated = static_cast<int>(checked_number(path, image.metadata, "bits").value_or(stored_bits));
  const int bits = std::clamp(stated, 1, 8);
  take_scale_out(path, image, bits, scaled);
  auto* const codes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  if (bits == 8 || codes == nullptr) return;
  const int most = (1 << bits) - 1;
  if (rules.scale_codes) {
    if (std::ranges::any_of(codes->host(), [most](std::uint8_t code) { return code > most; })) {
      refuse(path, fmt::format("codes of its {} bits, at most {}", bits, most), "others");
    }
    io::scale_codes("read_panel_pictures", codes->data(), codes->data(), codes->size(), bits);
  } else if (rules.bit_planes.empty() && (scaled || stored_bits < 8)) {
    notes.push_back(
        fmt::format("{}: its white is sent as code {} of {} bits; --scale-codes sends 255", path, most, bits));
  }
}

PanelCodes read_codes(const std::string& path, const PictureRules& rules, std::vector<std::string>& notes) {
  Image image = read_image(path, {.one_page = true});
  const std::int64_t channels = shape_of(image)[2];
  if (image.lossy) refuse(path, "codes in PNG, TIFF or BMP without loss", "JPEG, which changes codes");
  if (channels == 2 || channels == 4) {
    refuse(path, "1 or 3 channels", fmt::format("{}: a panel has no transparency", channels));
  }
  set_scale(path, image, rules, notes);
  if (auto* const words = std::get_if<Array<std::uint16_t, 3>>(&image.pixels)) {
    if (rules.packed16 && channels == 1) return channel(*words, 0);
    refuse(path, "8 bits a channel", "16");
  }
  auto* const bytes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  if (bytes == nullptr || rules.packed16) {
    refuse(path, rules.packed16 ? "16-bit codes" : "8-bit codes",
           bytes == nullptr ? "floating-point numbers" : "8-bit ones");
  }
  if (channels == 1) return channel(*bytes, 0);
  return std::move(*bytes);
}

PanelPicture with_trigger(PanelPicture picture, const PictureRules& rules, std::int64_t field) {
  if (rules.trigger_px == 0) return picture;
  const std::int64_t fields = rules.field_sequence ? 3 : 1;
  std::visit(
      [&](auto& codes) {
        auto lit = codes.to(Device{});
        draw_trigger(codes.view(), {.side_px = rules.trigger_px, .fields = fields, .lit = -1});
        draw_trigger(lit.view(), {.side_px = rules.trigger_px, .fields = fields, .lit = field});
        picture.lit = std::move(lit);
      },
      picture.codes);
  return picture;
}

std::vector<PanelPicture> read_fields(const Files& files, const PictureRules& rules) {
  std::vector<PanelPicture> fields;
  for (std::int64_t c = 0; c < 3; ++c) {
    const auto& file = files[files.size() == 1 ? 0 : static_cast<std::size_t>(c)];
    std::vector<std::string> notes;
    PanelCodes codes = read_codes(file, rules, notes);
    const auto* const colours = std::get_if<Array<std::uint8_t, 3>>(&codes);
    if (files.size() == 1 && colours == nullptr) refuse(file, "three channels for a sequence of colours", "one");
    if (files.size() == 1) codes = channel(*colours, c);
    fields.push_back(with_trigger({file, std::move(codes), {}, std::move(notes)}, rules, c));
  }
  return fields;
}

PanelPicture read_packed(const Files& files, const PictureRules& rules) {
  std::vector<Array<std::uint8_t, 2>> frames;
  std::vector<View<const std::uint8_t, 2>> views;
  std::vector<std::string> notes;
  for (const auto& file : files) {
    PanelCodes codes = read_codes(file, rules, notes);
    auto* const grey = std::get_if<Array<std::uint8_t, 2>>(&codes);
    if (grey == nullptr) refuse(file, "one channel for bit planes", "three");
    if (std::ranges::any_of(grey->host(), [](std::uint8_t code) { return code != 0 && code != 1 && code != 255; })) {
      refuse(file, "a binary frame of codes 0 and 1, or 0 and 255, for bit planes", "others");
    }
    if (!frames.empty() && grey->shape() != frames.front().shape()) {
      refuse(
          file,
          fmt::format("{} x {} pixels, as {} has", frames.front().shape()[1], frames.front().shape()[0], files.front()),
          fmt::format("{} x {}", grey->shape()[1], grey->shape()[0]));
    }
    frames.push_back(std::move(*grey));
  }
  views.reserve(frames.size());
  for (const auto& frame : frames) views.push_back(frame.view());
  return {files.front(), pack_bit_planes(views, rules.bit_planes), {}};
}

PanelPicture read_one(const std::string& file, const PictureRules& rules) {
  PanelPicture picture{file, {}, {}};
  picture.codes = read_codes(file, rules, picture.notes);
  return picture;
}

}  // namespace

Shape<2> panel_shape(const PanelCodes& codes) {
  return std::visit([](const auto& array) { return Shape<2>{array.shape()[0], array.shape()[1]}; }, codes);
}

std::vector<PanelPicture> read_panel_pictures(const std::vector<std::string>& files, const PictureRules& rules) {
  if (rules.field_sequence) return read_fields(files, rules);
  std::vector<PanelPicture> one;
  one.push_back(
      with_trigger(rules.bit_planes.empty() ? read_one(files.front(), rules) : read_packed(files, rules), rules, 0));
  return one;
}

}  // namespace holotone
