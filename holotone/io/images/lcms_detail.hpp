#pragma once
// Little CMS: codes of a profile to codes of sRGB. Needs HOLOTONE_LCMS. Not for users.
#include <cstddef>
#include <cstdint>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <lcms2.h>
#include <memory>
#include <string>

namespace holotone::io {

struct CloseLcms {
  void operator()(void* context) const { cmsDeleteContext(static_cast<cmsContext>(context)); }
};
struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
struct CloseTransform {
  void operator()(void* transform) const { cmsDeleteTransform(transform); }
};

/// A conversion from one profile. May convert in several threads.
class Lcms {
 public:
  explicit Lcms(const std::string& profile) {
    open(cmsOpenProfileFromMemTHR(context_id(), profile.data(), static_cast<cmsUInt32Number>(profile.size())));
  }
  /// Of curves, a gamma or primaries; what is missing is that of sRGB.
  explicit Lcms(const ColourClaim& claim) {
    const auto& xy = claim.primaries ? *claim.primaries : srgb_primaries;
    for (std::size_t i = 0; i < xy.size(); ++i) {
      if (!(xy[i] >= (i % 2 == 0 ? 0 : 1e-4) && xy[i] <= 1)) return;
    }
    const cmsCIExyY white{xy[0], xy[1], 1};
    const cmsCIExyYTRIPLE colours{{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
    cmsToneCurve* curves[3];
    for (std::size_t c = 0; c < 3; ++c) curves[c] = build_curve(claim, c);
    if (curves[0] != nullptr && curves[1] != nullptr && curves[2] != nullptr) {
      open(cmsCreateRGBProfileTHR(context_id(), &white, &colours, curves));
    }
    for (auto* curve : curves) cmsFreeToneCurve(curve);
  }

  [[nodiscard]] bool usable() const { return transform_ != nullptr; }
  [[nodiscard]] int channels() const { return channels_; }  ///< 1, 3 or 4
  /// Converts `count` pixels of 16-bit codes to three codes each.
  void convert(const std::uint16_t* codes, std::uint16_t* srgb, std::int64_t count) const {
    cmsDoTransform(transform_.get(), codes, srgb, static_cast<cmsUInt32Number>(count));
  }

 private:
  [[nodiscard]] cmsContext context_id() const { return static_cast<cmsContext>(context_.get()); }

  /// Of channel `c`.
  cmsToneCurve* build_curve(const ColourClaim& claim, std::size_t c) {
    if (!claim.curves.empty()) {
      const auto& curve = claim.curves[claim.curves.size() == 3 ? c : 0];
      return cmsBuildTabulatedToneCurve16(context_id(), static_cast<cmsUInt32Number>(curve.size()), curve.data());
    }
    if (claim.gamma) return cmsBuildGamma(context_id(), *claim.gamma);
    const double numbers[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    return cmsBuildParametricToneCurve(context_id(), 4, numbers);
  }

  void open(cmsHPROFILE profile) {
    profile_.reset(profile);
    if (profile_ == nullptr) return;
    const auto space = cmsGetColorSpace(profile_.get());
    if (space != cmsSigRgbData && space != cmsSigGrayData && space != cmsSigCmykData) return;
    channels_ = space == cmsSigCmykData ? 4 : space == cmsSigRgbData ? 3 : 1;
    constexpr cmsUInt32Number formats[] = {TYPE_GRAY_16, 0, TYPE_RGB_16, TYPE_CMYK_16};
    const std::unique_ptr<void, CloseProfile> srgb(cmsCreate_sRGBProfileTHR(context_id()));
    if (srgb == nullptr) return;
    // Resampled to a table, dark codes of a gamma would be off by several; a cache would not stand several threads.
    constexpr cmsUInt32Number flags = cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION;
    transform_.reset(cmsCreateTransformTHR(context_id(), profile_.get(), formats[channels_ - 1], srgb.get(),
                                           TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC, flags));
  }

  std::unique_ptr<void, CloseLcms> context_{cmsCreateContext(nullptr, nullptr)};  // prints nothing
  std::unique_ptr<void, CloseProfile> profile_;
  std::unique_ptr<void, CloseTransform> transform_;
  int channels_ = 0;
};

}  // namespace holotone::io
