#include <holotone/io/images/tiff/geo_heights_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <fmt/format.h>
#include <holotone/io/images/tiff/tiff_lists_detail.hpp>
#include <optional>
#include <span>

namespace holotone::io {
namespace {

constexpr std::uint32_t tag_geo_keys = 34735;
constexpr std::uint16_t tag_geo_text = 34737;
constexpr std::uint16_t key_system = 4096;
constexpr std::uint16_t key_citation = 4097;
constexpr std::uint16_t key_unit = 4099;

struct GeoKey {
  std::uint16_t place;  ///< tag of the value; 0: in `value`
  std::uint16_t count;
  std::uint16_t value;
};

std::optional<GeoKey> find_key(TIFF* file, std::uint16_t key) {
  constexpr std::size_t entry = 4;  // key, place of the value, count, value
  if (!is_tiff_list(file, tag_geo_keys, TIFF_SHORT)) return std::nullopt;
  std::uint32_t count = 0;
  const std::uint16_t* keys = nullptr;
  if (TIFFGetField(file, tag_geo_keys, &count, &keys) != 1 || keys == nullptr) return std::nullopt;
  for (std::size_t i = entry; i + entry <= count; i += entry) {
    if (keys[i] == key) return GeoKey{keys[i + 1], keys[i + 2], keys[i + 3]};
  }
  return std::nullopt;
}

std::string unit_of_code(std::uint16_t code) {
  switch (code) {
    case 9001: return "metre";
    case 9002: return "foot";
    case 9003: return "US survey foot";
    case 9036: return "kilometre";
    default: return fmt::format("EPSG {}", code);
  }
}

struct Codes {
  std::uint16_t first;
  std::uint16_t last;
};

/// Vertical systems in metres (EPSG v12).
constexpr Codes in_metres[] = {
    {3855, 3855},   {3886, 3886},   {3900, 3900},   {4440, 4440},   {4458, 4458},   {5193, 5193},   {5195, 5195},
    {5214, 5214},   {5237, 5237},   {5317, 5317},   {5336, 5336},   {5597, 5597},   {5600, 5613},   {5615, 5621},
    {5701, 5701},   {5703, 5706},   {5709, 5753},   {5755, 5799},   {5829, 5829},   {5831, 5831},   {5843, 5843},
    {5861, 5874},   {5941, 5941},   {6178, 6187},   {6357, 6357},   {6638, 6644},   {6647, 6647},   {6693, 6695},
    {6916, 6916},   {7446, 7447},   {7651, 7652},   {7699, 7700},   {7707, 7707},   {7832, 7832},   {7837, 7837},
    {7839, 7839},   {7841, 7841},   {7888, 7890},   {7962, 7962},   {7968, 7968},   {7976, 7976},   {7979, 7979},
    {8089, 8089},   {8266, 8267},   {8357, 8358},   {8378, 8378},   {8434, 8434},   {8675, 8675},   {8690, 8691},
    {8841, 8841},   {8881, 8881},   {8904, 8904},   {8911, 8911},   {9130, 9130},   {9245, 9245},   {9255, 9255},
    {9274, 9274},   {9279, 9279},   {9287, 9288},   {9303, 9303},   {9335, 9335},   {9351, 9351},   {9389, 9390},
    {9392, 9402},   {9451, 9451},   {9458, 9458},   {9471, 9471},   {9650, 9651},   {9663, 9663},   {9666, 9666},
    {9669, 9669},   {9672, 9672},   {9675, 9675},   {9681, 9681},   {9721, 9722},   {9923, 9923},   {9927, 9927},
    {10150, 10151}, {10190, 10190}, {10349, 10349}, {10352, 10354}, {10364, 10364}, {10370, 10379}, {10482, 10485},
    {10547, 10552}, {10565, 10565}, {10588, 10588}, {10649, 10650}, {10678, 10678}, {20000, 20000}, {20034, 20036}};

/// The unit of a vertical system of EPSG; empty for one that is not known.
std::string_view unit_of_system(std::uint16_t code) {
  switch (code) {
    case 5614:
    case 6130:
    case 6131:
    case 6132:
    case 8050:
    case 8051:
    case 8228:
    case 8897: return "foot";
    case 5702:
    case 6358:
    case 6359:
    case 6360:
    case 8052:
    case 8053: return "US survey foot";
    case 5754: return "ft(Br36)";
    default: break;
  }
  const bool is_known =
      std::ranges::any_of(in_metres, [code](const Codes& codes) { return code >= codes.first && code <= codes.last; });
  return is_known ? "metre" : "";
}

}  // namespace

std::string find_height_unit(TIFF* file, Image& image, std::string_view path) {
  constexpr std::uint16_t defined_by_user = 32767;
  if (const auto unit = find_key(file, key_unit); unit && unit->place == 0) return unit_of_code(unit->value);
  const auto system = find_key(file, key_system);
  if (!system || system->place != 0 || system->value == 0) return {};
  if (system->value != defined_by_user) {
    const auto unit = unit_of_system(system->value);
    if (unit.empty()) {
      image.notes.push_back(
          fmt::format("{}: its vertical system EPSG:{} is not known: taken as metres", path, system->value));
    }
    return std::string(unit);
  }
  const auto citation = find_key(file, key_citation);
  const auto texts = find_tiff_text(file, tag_geo_text);
  if (!citation || citation->place != tag_geo_text || citation->value >= texts.size()) return {};
  const auto name = texts.substr(citation->value, citation->count);
  if (name.find("(ftUS)") != std::string_view::npos) return "US survey foot";
  return name.find("(ft)") != std::string_view::npos ? "foot" : "";
}

}  // namespace holotone::io
#endif
