#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/io/images/light_codes_detail.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#if HOLOTONE_LCMS
#include <holotone/io/images/lcms_detail.hpp>
#endif

namespace holotone::io {
namespace {

/// Light, 0 to 1, of each code: one table for all channels, or three.
using Tables = std::vector<std::vector<double>>;

/// `light` of codes 0 to `largest`, as shares of it.
template <class Light>
std::vector<double> make_table(std::size_t largest, Light light) {
  std::vector<double> table(largest + 1);
  for (std::size_t code = 0; code <= largest; ++code) {
    table[code] = std::clamp(light(static_cast<double>(code) / static_cast<double>(largest)), 0.0, 1.0);
  }
  return table;
}

double between(const std::vector<std::uint16_t>& curve, double share) {
  const double place = share * static_cast<double>(curve.size() - 1);
  const auto at = std::min(static_cast<std::size_t>(place), curve.size() - 2);
  const double part = place - static_cast<double>(at);
  return ((1 - part) * curve[at] + part * curve[at + 1]) / 65535;
}

#if HOLOTONE_LCMS
/// Y of each code of a grey profile, whose curve may be of lightness.
std::vector<double> grey_table(cmsContext context, cmsHPROFILE profile, std::size_t largest) {
  const std::unique_ptr<void, CloseProfile> colours(cmsCreateXYZProfileTHR(context));
  constexpr cmsUInt32Number flags = cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE;
  const std::unique_ptr<void, CloseTransform> transform(cmsCreateTransformTHR(
      context, profile, TYPE_GRAY_DBL, colours.get(), TYPE_XYZ_DBL, INTENT_RELATIVE_COLORIMETRIC, flags));
  if (transform == nullptr) return {};
  return make_table(largest, [&](double share) {
    std::array<double, 3> xyz{};
    cmsDoTransform(transform.get(), &share, xyz.data(), 1);
    return xyz[1];
  });
}

/// Empty for a damaged profile, one of other channels, or one of colours without curves.
Tables profile_tables(const std::string& profile, std::size_t largest, bool has_colours) {
  const std::unique_ptr<void, CloseLcms> owner(cmsCreateContext(nullptr, nullptr));
  const auto context = static_cast<cmsContext>(owner.get());
  const std::unique_ptr<void, CloseProfile> opened(
      cmsOpenProfileFromMemTHR(context, profile.data(), static_cast<cmsUInt32Number>(profile.size())));
  if (opened == nullptr) return {};
  if (cmsGetColorSpace(opened.get()) == cmsSigGrayData && !has_colours) {
    auto table = grey_table(context, opened.get(), largest);
    return table.empty() ? Tables() : Tables{std::move(table)};
  }
  if (cmsGetColorSpace(opened.get()) != cmsSigRgbData) return {};
  Tables tables;
  for (const auto tag : {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag}) {
    const auto* const curve = static_cast<const cmsToneCurve*>(cmsReadTag(opened.get(), tag));
    if (curve == nullptr) return {};
    tables.push_back(make_table(largest, [curve](double share) {
      return static_cast<double>(cmsEvalToneCurveFloat(curve, static_cast<cmsFloat32Number>(share)));
    }));
  }
  return has_colours ? tables : Tables{std::move(tables[1])};
}
#endif

/// Empty if a profile's cannot be had.
Tables claimed_tables(const ColourClaim& claim, std::size_t largest, [[maybe_unused]] bool has_colours) {
  if (!claim.profile.empty()) {
#if HOLOTONE_LCMS
    if (claim.profile.size() > max_profile_bytes) return {};
    return profile_tables(claim.profile, largest, has_colours);
#else
    if (!profile_name(claim.profile).starts_with("'sRGB")) return {};
    return {make_table(largest, srgb_to_linear)};
#endif
  }
  Tables tables;
  for (const auto& curve : claim.curves) {
    tables.push_back(make_table(largest, [&](double share) { return between(curve, share); }));
  }
  if (!tables.empty()) return tables;
  if (claim.gamma) return {make_table(largest, [&](double share) { return std::pow(share, *claim.gamma); })};
  return {make_table(largest, srgb_to_linear)};
}

bool is_line(const std::vector<double>& table) {
  constexpr double nearest = 1e-4;
  const auto largest = static_cast<double>(table.size() - 1);
  for (std::size_t code = 0; code < table.size(); ++code) {
    if (std::abs(table[code] - static_cast<double>(code) / largest) > nearest) return false;
  }
  return true;
}

template <class T>
Array<std::uint16_t, 3> proportional(const Array<T, 3>& codes, const Tables& tables) {
  constexpr double full = 65535;
  const auto [ny, nx, channels] = codes.shape();
  const std::int64_t colours = channels >= 3 ? 3 : 1;
  const std::size_t largest = tables[0].size() - 1;
  Array<std::uint16_t, 3> light(codes.shape());
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    const auto channel = i % channels;
    const auto code = std::min<std::size_t>(codes.data()[i], largest);
    const auto& table = tables[tables.size() == 3 && channel < colours ? static_cast<std::size_t>(channel) : 0];
    const double share =
        channel < colours ? table[code] : static_cast<double>(code) / static_cast<double>(largest);  // or alpha
    light.data()[i] = static_cast<std::uint16_t>(std::lround(full * share));
  }
  return light;
}

}  // namespace

void make_proportional(Image& image, const ColourClaim& claim, std::string_view path) {
  const bool has_curve = claim.is_srgb || !claim.profile.empty() || !claim.curves.empty() || claim.gamma;
  const bool is_unknown = !claim.unsupported.empty() && !claim.gamma;
  if (!has_curve && !is_unknown) return;
  constexpr std::size_t some_codes = 255;
  const bool has_floats = std::holds_alternative<Array<float, 3>>(image.pixels);
  const auto largest = has_floats ? some_codes : (std::size_t{1} << code_bits(image)) - 1;
  const auto tables = is_unknown ? Tables() : claimed_tables(claim, largest, shape_of(image)[2] >= 3);
  if (!tables.empty() && std::ranges::all_of(tables, is_line)) return;
  if (has_floats) {
    image.notes.push_back(fmt::format("{}: {} ignored: its floats are taken as light", path, claim_name(claim)));
    return;
  }
  if (tables.empty()) {
    image.notes.push_back(fmt::format("{}: {} ignored: its codes are taken as proportional to light{}", path,
                                      claim_name(claim), has_little_cms() ? "" : "; this build has no Little CMS"));
    return;
  }
  image.notes.push_back(fmt::format("{}: its codes become light by {}", path, claim_name(claim)));
  const auto stored = std::move(image.pixels);
  image.bits = 0;
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(*codes.data())>>) {
          image.pixels = proportional(codes, tables);
        }
      },
      stored);
}

void take_colours(Image& image, const ColourClaim& claim, const ImageReadOptions& options, std::string_view path) {
  if (options.as_measured) return make_proportional(image, claim, path);
  if (options.as_light) make_srgb(image, claim, path);
}

}  // namespace holotone::io
