#include <algorithm>
#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/jpeg_segments_detail.hpp>
#include <holotone/io/name_list_detail.hpp>
#include <map>
#include <string>

namespace holotone::io {
namespace {

/// Segments that are followed or named elsewhere, or do not change what pixels mean: text, thumbnails, comments of a
/// camera's maker, places.
struct KnownSegment {
  int number;
  std::string_view begin;
};
constexpr KnownSegment known_segments[] = {
    {1, "Exif"},         {1, "http://ns.adobe.com/"},
    {2, "ICC_PROFILE"},  {2, "MPF"},
    {2, "FPXR"},         {2, "urn:iso:std:iso:ts:21496"},
    {3, "Meta"},         {3, "META"},
    {3, "_JPSJPS_"},     {4, "SCALADO"},
    {4, "FPXR"},         {5, "RMETA"},
    {5, "ssuniqueid"},   {6, "EPPIM"},
    {6, "GoPro"},        {6, "NITF"},
    {7, "HUAWEI"},       {7, "MediaTek"},
    {10, "AROT"},        {12, "Ducky"},
    {12, "PictureInfo"}, {13, "Photoshop"},
    {13, "Adobe_"},      {14, "Adobe"},
};
constexpr std::string_view word_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::size_t longest_word = 16;

/// Data behind the name of the first segment that has it.
std::string_view find_segment(const std::vector<JpegSegment>& segments, int number, std::string_view name) {
  for (const auto& segment : segments) {
    if (segment.number == number && segment.data.starts_with(name)) return segment.data.substr(name.size());
  }
  return {};
}

/// Pictures that an index of a multi-picture file lists, without previews of the first; 1 if it is damaged.
std::int64_t count_pictures(std::string_view block) {
  constexpr std::uint16_t tag_count = 0xb001;
  constexpr std::uint16_t tag_entries = 0xb002;
  constexpr std::size_t entry_bytes = 12;
  constexpr std::size_t picture_bytes = 16;
  const bool little = block.starts_with(std::string_view("II*\0", 4));
  if (block.size() < 8 || (!little && !block.starts_with(std::string_view("MM\0*", 4)))) return 1;
  const auto order = little ? std::endian::little : std::endian::big;
  const auto number_at = [&](std::size_t at) { return load<std::uint32_t>(block.data() + at, order); };
  const std::size_t directory = number_at(4);
  if (directory > block.size() - 2) return 1;
  const std::size_t entries = load<std::uint16_t>(block.data() + directory, order);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < entries && directory + 2 + (i + 1) * entry_bytes <= block.size(); ++i) {
    const std::size_t at = directory + 2 + i * entry_bytes;
    const auto tag = load<std::uint16_t>(block.data() + at, order);
    if (tag == tag_count) count = number_at(at + 8);
    if (tag != tag_entries) continue;
    const std::size_t bytes = number_at(at + 4);
    const std::size_t begin = number_at(at + 8);
    if (begin > block.size() || bytes > block.size() - begin) return 1;
    count = 0;
    for (std::size_t k = 0; k < bytes / picture_bytes; ++k) {
      const std::uint32_t type = number_at(begin + k * picture_bytes) & 0xffffff;
      if (type >> 16 != 1) ++count;  // 0x01....: a large thumbnail
    }
  }
  return count;
}

}  // namespace

std::string_view jpeg_exif(const std::vector<JpegSegment>& segments) {
  return find_segment(segments, 1, std::string_view("Exif\0\0", 6));
}

std::string_view jpeg_xmp(const std::vector<JpegSegment>& segments) {
  return find_segment(segments, 1, std::string_view("http://ns.adobe.com/xap/1.0/\0", 29));
}

ColourClaim jpeg_profile(const std::vector<JpegSegment>& segments) {
  constexpr std::string_view name("ICC_PROFILE\0", 12);
  constexpr std::size_t head = name.size() + 2;  // the part's number and how many there are
  std::map<int, std::string_view> parts;
  for (const auto& segment : segments) {
    if (segment.number != 2 || !segment.data.starts_with(name) || segment.data.size() < head) continue;
    parts.emplace(static_cast<unsigned char>(segment.data[name.size()]), segment.data.substr(head));
  }
  if (parts.empty()) return {};
  std::string profile;
  for (auto part = parts.find(1); part != parts.end(); part = parts.find(part->first + 1)) profile += part->second;
  if (profile.empty()) return {.unsupported = "ICC profile without its first part"};
  return {.profile = std::move(profile)};
}

void note_jpeg_pictures(Image& image, const std::vector<JpegSegment>& segments, std::string_view path) {
  const std::int64_t pictures = count_pictures(find_segment(segments, 2, std::string_view("MPF\0", 4)));
  const bool gain_map = jpeg_xmp(segments).find("hdrgm:") != std::string_view::npos ||
                        !find_segment(segments, 2, "urn:iso:std:iso:ts:21496:-1").empty();
  if (gain_map) image.notes.push_back(fmt::format("{}: its gain map is not applied", path));
  const bool is_stereo = std::ranges::any_of(
      segments, [](const auto& segment) { return segment.number == 3 && segment.data.starts_with("_JPSJPS_"); });
  if (is_stereo) {
    image.notes.push_back(fmt::format("{}: two views side by side (JPS) are read as one picture", path));
  }
  if (pictures > (gain_map ? 2 : 1)) {
    image.notes.push_back(fmt::format("{}: the first of {} pictures is read (MPO)", path, pictures));
  }
}

void note_unknown_segments(Image& image, const std::vector<JpegSegment>& segments, std::string_view path) {
  std::vector<std::string> unknown;
  for (const auto& segment : segments) {
    const bool is_known = std::ranges::any_of(known_segments, [&](const KnownSegment& known) {
      return known.number == segment.number && segment.data.starts_with(known.begin);
    });
    constexpr std::size_t box_at = 12;  // of the type of JUMBF's box, which C2PA fills with a picture's history
    const bool is_history =
        segment.number == 11 && segment.data.size() > box_at && segment.data.substr(box_at).starts_with("jumb");
    if (is_known || is_history) continue;
    const std::string_view word = segment.data.substr(0, segment.data.find_first_not_of(word_characters));
    auto name = fmt::format("APP{}{}{}", segment.number, word.empty() ? "" : " ", word.substr(0, longest_word));
    if (std::ranges::find(unknown, name) == unknown.end()) unknown.push_back(std::move(name));
  }
  if (!unknown.empty()) image.notes.push_back(fmt::format("{}: ignored: {}", path, list_unknown("segment", unknown)));
}

}  // namespace holotone::io
