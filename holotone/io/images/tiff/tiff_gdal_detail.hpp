#pragma once
// What GDAL and GeoTIFF state beside the pixels. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <array>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string_view>
#include <tiffio.h>

namespace holotone::io {

/// Value of pixels without data, GDAL_NODATA (tag 42113).
std::optional<double> tiff_no_data(TIFF* file);

/// Sets image.no_data, with a note of the number of such pixels if there are any.
void note_no_data(const std::optional<double>& value, Image& image, std::string_view path);

/// Adds a note of a scale and an offset of GDALMetadata (tag 42112), which are not applied. Its unit becomes metadata
/// (unit_key), with a note unless the image is a map of depth; of that also GeoTIFF's unit of heights.
void note_gdal_metadata(TIFF* file, Image& image, bool as_depth, std::string_view path);

/// Adds notes of rows that run northward and of a scale and an offset of heights, which are not applied (GeoTIFF 1.1,
/// ModelPixelScale, ModelTiepoint 33922, ModelTransformation).
void note_geographic_places(TIFF* file, Image& image, std::string_view path);

/// Width and height of a pixel in the model's units (GeoTIFF 1.1, ModelPixelScale 33550, ModelTransformation 34264);
/// zeros without.
std::array<double, 2> geographic_sides(TIFF* file);

}  // namespace holotone::io
#endif
