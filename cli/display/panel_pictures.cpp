#include <algorithm>
#include <cli/common/frame_gaps.hpp>
#include <cli/common/values.hpp>
#include <cli/display/panel_pictures.hpp>
#include <fmt/format.h>
#include <holotone/display/bit_planes.hpp>
#include <holotone/display/trigger.hpp>

namespace holotone::cli {
namespace {

constexpr std::size_t planes_a_picture = 24;

/// Channel `c` of an image of one or three channels.
Array<std::uint8_t, 2> channel(const Array<std::uint8_t, 3>& pixels, std::int64_t c) {
  const auto [ny, nx, channels] = pixels.shape();
  Array<std::uint8_t, 2> one({ny, nx});
  for (std::int64_t i = 0; i < ny * nx; ++i) one.data()[i] = pixels.data()[i * channels + c];
  return one;
}

}  // namespace

Shape<2> panel_shape(const PanelCodes& codes) {
  return std::visit([](const auto& array) { return Shape<2>{array.shape()[0], array.shape()[1]}; }, codes);
}

/// The file of a name, or the files of a pattern by their numbers.
PictureSource::Files PictureSource::list_files(const std::string& name) {
  const auto pattern = frame_pattern("FILE", name);
  if (!pattern) return {name};
  Files files;
  const auto frames = find_frames(*pattern, name);
  if (auto gaps = gaps_in(frames, name); !gaps.empty()) warnings_.push_back(std::move(gaps));
  for (const auto& frame : frames) files.push_back(frame.path);
  return files;
}

PictureSource::PictureSource(const std::vector<std::string>& names, const PictureRules& rules) : rules_(rules) {
  std::vector<std::string> coloured;
  for (const auto& name : names) {
    const bool by_colour = name.find("%c") != std::string::npos;
    if (by_colour && !rules.field_sequence) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: %c needs --field-sequence", name));
    }
    if (!by_colour) {
      for (auto& file : list_files(name)) steps_.push_back({std::move(file)});
      continue;
    }
    std::vector<Files> by_channel;
    for (const auto* colour : {"r", "g", "b"}) by_channel.push_back(list_files(channel_path(name, colour)));
    for (std::size_t i = 0; i < by_channel[0].size(); ++i) {
      Files step;
      for (const auto& files : by_channel) {
        if (files.size() != by_channel[0].size()) {
          throw Error(ErrorCode::invalid_argument,
                      fmt::format("{}: expected as many files of each colour, got {} and {}", name,
                                  by_channel[0].size(), files.size()));
        }
        step.push_back(files[i]);
      }
      steps_.push_back(std::move(step));
    }
  }
  for (const auto& files : steps_) {
    for (const auto& file : files) require_input(file);
  }
  if (rules.bit_planes.empty()) return;
  std::vector<Files> packs;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i % planes_a_picture == 0) packs.emplace_back();
    packs.back().push_back(steps_[i].front());
  }
  steps_ = std::move(packs);
}

std::vector<PanelPicture> PictureSource::read(std::int64_t step) const {
  const Files& files = steps_[static_cast<std::size_t>(step)];
  if (rules_.field_sequence) return fields_of(files);
  std::vector<PanelPicture> one;
  one.push_back(with_trigger(
      rules_.bit_planes.empty() ? PanelPicture{files.front(), read_codes(files.front()), {}} : packed(files), 0));
  return one;
}

std::vector<PanelPicture> PictureSource::fields_of(const Files& files) const {
  std::vector<PanelPicture> fields;
  for (std::int64_t c = 0; c < 3; ++c) {
    const auto& file = files[files.size() == 1 ? 0 : static_cast<std::size_t>(c)];
    PanelCodes codes = read_codes(file);
    const auto* const colours = std::get_if<Array<std::uint8_t, 3>>(&codes);
    if (files.size() == 1 && colours == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected three channels for --field-sequence (or a name with %c), got one", file));
    }
    if (files.size() == 1) codes = channel(*colours, c);
    fields.push_back(with_trigger({file, std::move(codes), {}}, c));
  }
  return fields;
}

PanelPicture PictureSource::packed(const Files& files) const {
  std::vector<Array<std::uint8_t, 2>> frames;
  std::vector<View<const std::uint8_t, 2>> views;
  for (const auto& file : files) {
    PanelCodes codes = read_codes(file);
    auto* const grey = std::get_if<Array<std::uint8_t, 2>>(&codes);
    if (grey == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected one channel for --bit-planes, got three", file));
    }
    const auto codes_of_frame = grey->host();
    if (std::ranges::any_of(codes_of_frame, [](std::uint8_t code) { return code != 0 && code != 1 && code != 255; })) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{}: expected a binary frame of codes 0 and 1, or 0 and 255, for --bit-planes, got others",
                      file));
    }
    if (!frames.empty() && grey->shape() != frames.front().shape()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected {} x {} pixels, as {} has, got {} x {}", file, frames.front().shape()[1],
                              frames.front().shape()[0], files.front(), grey->shape()[1], grey->shape()[0]));
    }
    frames.push_back(std::move(*grey));
  }
  views.reserve(frames.size());
  for (const auto& frame : frames) views.push_back(frame.view());
  return {files.front(), pack_bit_planes(views, rules_.bit_planes), {}};
}

PanelCodes PictureSource::read_codes(const std::string& path) const {
  Image image = read_image(path);
  const std::int64_t channels = holotone::shape_of(image)[2];
  if (channels == 2 || channels == 4) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected 1 or 3 channels, got {}: a panel has no transparency", path, channels));
  }
  if (auto* const words = std::get_if<Array<std::uint16_t, 3>>(&image.pixels)) {
    if (rules_.packed16 && channels == 1) return plane_of(*words);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected 8 bits a channel, got 16{}", path,
                            channels == 1 ? ": --packed16 sends high and low byte in two channels" : ""));
  }
  auto* const bytes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  if (bytes == nullptr || rules_.packed16) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected {} codes, got {}", path, rules_.packed16 ? "16-bit" : "8-bit",
                            bytes == nullptr ? "floating-point numbers" : "8-bit ones"));
  }
  if (channels == 1) return plane_of(*bytes);
  return std::move(*bytes);
}

PanelPicture PictureSource::with_trigger(PanelPicture picture, std::int64_t field) const {
  if (rules_.trigger_px == 0) return picture;
  const std::int64_t fields = pictures_a_step();
  std::visit(
      [&](auto& codes) {
        auto lit = codes.to(Device{});
        draw_trigger(codes.view(), {.side_px = rules_.trigger_px, .fields = fields, .lit = -1});
        draw_trigger(lit.view(), {.side_px = rules_.trigger_px, .fields = fields, .lit = field});
        picture.lit = std::move(lit);
      },
      picture.codes);
  return picture;
}

}  // namespace holotone::cli
