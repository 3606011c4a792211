#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <span>

namespace holotone {

/// Quantile of the pixels of these images: the value that `fraction` of them do not exceed (0.999: all but the
/// brightest thousandth). The quantile over a focus sweep is the common reference of its pictures. Images on the
/// queue's device, the CPU or CUDA; pixels that are not finite are ignored. Throws invalid_argument for a fraction
/// outside 0..1 or no finite pixel, unsupported for OpenCL. Waits. Cost O(pixels).
float percentile(std::span<const View<const float, 2>> images, double fraction, const Queue& queue = {});
float percentile(View<const float, 2> image, double fraction, const Queue& queue = {});

/// Default intensity of white: the 99.9th percentile, so that a few bright pixels do not darken the picture. The
/// brightest pixel if that is zero (a few points on black), 1 for images without light. Devices and errors as
/// percentile.
float default_reference(std::span<const View<const float, 2>> images, const Queue& queue = {});

/// Sum of the mean and the standard deviation of all pixels of these images, the normalisation of reconstructions for
/// an eye in Lagrange et al. 2024, section 4.3. 1 for images without light. Host arrays; pixels that are not finite
/// are ignored.
float mean_plus_deviation(std::span<const View<const float, 2>> images);

struct ToneOptions {
  float reference = 0;  ///< linear intensity of white; 0: default_reference of the image
  double gamma = 1;     ///< > 0; above 1 brightens shadows
  double decades = 0;   ///< > 0: logarithmic; black is 10^-decades of white, and gamma is not used
};

/// Converts linear light to 8-bit sRGB code values:
///   v = min(1, max(0, I / reference))^(1/gamma),  code = round(255 s(v)),
///   s(v) = 12.92 v for v <= 0.0031308, else 1.055 v^(1/2.4) - 0.055   (IEC 61966-2-1)
/// At gamma 1 a calibrated display therefore emits light proportional to the intensity. With `decades` D the codes
/// themselves are proportional to the logarithm:
///   code = round(255 min(1, max(0, 1 + log10(I / reference) / D)))
/// NaN and images without light are black. The image and the codes are on the queue's device, the CPU or CUDA, which
/// give the same codes; on CUDA the queue has the work when this returns. Throws invalid_argument for a negative
/// reference or decades, or gamma not > 0, unsupported for OpenCL. Cost O(pixels).
Array<std::uint8_t, 2> tone_map(View<const float, 2> intensity, const ToneOptions& options = {},
                                const Queue& queue = {});

/// Averages an image in linear light over the area of each target pixel (a pixel cut by an edge is weighted by area).
/// `shape` is at most the image's along either axis. Host arrays. Throws invalid_argument. Cost O(pixels).
Array<float, 2> area_average(View<const float, 2> image, Shape<2> shape);

}  // namespace holotone
