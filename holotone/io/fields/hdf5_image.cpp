#include <holotone/io/fields/hdf5_image_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone::io {
namespace {

/// The attribute's text, in capitals; empty without one.
std::string capital_text(hid_t dataset, const char* name) {
  const auto texts = read_attribute_texts(dataset, name);
  std::string text(texts.empty() ? std::string_view() : trim(texts.front()));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// False for 0, "0", "false" and no attribute.
bool is_set(hid_t dataset, const char* name) {
  const auto text = capital_text(dataset, name);
  if (!text.empty()) return text != "0" && text != "FALSE" && text != "F" && text != "NO";
  return std::ranges::any_of(read_attribute_numbers(dataset, name), [](double number) { return number != 0; });
}

/// Throws io for a domain but space, as the attributes spatialDomain of openPMD and domain state it. That of time is
/// another.
void refuse_frequencies(hid_t object, const std::string& path) {
  constexpr std::string_view other[] = {
      "K",          "Q",           "K-SPACE",           "KSPACE",  "FREQUENCY", "FOURIER",
      "RECIPROCAL", "FREQUENCIES", "SPATIAL FREQUENCY", "MOMENTUM"};
  for (const auto& name : list_hdf5_attributes(object)) {
    const auto words = split_name_words(name);
    const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    const bool is_of_space = (has("domain") || has("space")) && !has("temporal") && !has("time") && !has("color");
    const auto value = is_of_space ? capital_text(object, name.c_str()) : std::string();
    const bool is_openpmd = name == "spatialDomain" && !value.empty() && value != "R";
    if (!is_openpmd && std::ranges::find(other, value) == std::end(other)) continue;
    throw_io(path, "a field in space (spatialDomain r)",
             printable(fmt::format("{} {}", name, in_quotes(read_attribute_texts(object, name.c_str()).front()))));
  }
}

}  // namespace

std::string check_hdf5_image(const Hdf5Choice& choice, const std::string& path) {
  const hid_t dataset = choice.dataset.get();
  refuse_frequencies(dataset, path);
  for (const auto& above : open_hdf5_groups(choice)) refuse_frequencies(above.get(), path);
  if (is_set(dataset, "IMAGE_WHITE_IS_ZERO")) {
    throw_io(path, "numbers of which 0 is black (IMAGE_WHITE_IS_ZERO 0)", "IMAGE_WHITE_IS_ZERO 1");
  }
  if (has_hdf5_attribute(dataset, "IMAGE_TRANSPARENCY")) {
    throw_io(path, "an image without a transparent number", "the attribute IMAGE_TRANSPARENCY");
  }
  const auto kind = capital_text(dataset, "IMAGE_SUBCLASS");
  const auto model = capital_text(dataset, "IMAGE_COLORMODEL");
  if (kind == "IMAGE_TRUECOLOR" && !model.empty() && model != "RGB") {
    throw_io(path, "colours of the model RGB as IMAGE_COLORMODEL", in_quotes(model));
  }
  const auto order = capital_text(dataset, "INTERLACE_MODE");
  if (choice.extents.size() == 3 && (order == "INTERLACE_PIXEL" || order == "INTERLACE_LINE")) {
    throw_io(path, "colours in planes {n, ny, nx} (INTERLACE_PLANE)", order);
  }
  if (!has_hdf5_attribute(dataset, "PALETTE")) return {};
  if (kind.empty() || kind == "IMAGE_INDEXED") {
    throw_io(path, "numbers that are no indices of colours", "indices of a PALETTE (IMAGE_INDEXED)");
  }
  return fmt::format("{}: the PALETTE of {} is not applied", path, printable(choice.name));
}

}  // namespace holotone::io
#endif
