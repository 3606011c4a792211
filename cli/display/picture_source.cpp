#include <algorithm>
#include <cli/common/frame_gaps.hpp>
#include <cli/display/picture_source.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/tiff_pages_detail.hpp>

namespace holotone::cli {
namespace {

/// The option that takes files which are refused without it.
std::string_view remedy_text(const Error& error) {
  if (error.expected() == "8 bits a channel") return "--packed16 sends 16 bits of one channel in two";
  if (error.expected().starts_with("three channels"))
    return "a name with %c stands for three files of --field-sequence";
  return {};
}

}  // namespace

/// The file of a name, or the pages of one, or the files of a pattern by their numbers.
PictureSource::Files PictureSource::list_files(const std::string& name) {
  const auto pattern = frame_pattern("FILE", name);
  if (!pattern) return io::page_names(name);
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
    for (const auto& file : files) io::require_input(file);
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
  try {
    return read_panel_pictures(steps_[static_cast<std::size_t>(step)], rules_);
  } catch (const FileError& error) {
    const auto remedy = remedy_text(error);
    if (remedy.empty()) throw;
    throw FileError(error.path(), with_remark(error, std::string(remedy)));
  }
}

}  // namespace holotone::cli
