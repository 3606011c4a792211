#pragma once
// The unit of heights that GeoTIFF states (OGC 19-008r4). Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <holotone/io/images/image.hpp>
#include <string>
#include <string_view>
#include <tiffio.h>

namespace holotone::io {

/// The unit of VerticalUnitsGeoKey 4099, or else of the vertical system by its EPSG code (VerticalGeoKey 4096) or, of
/// one of the file's own, by its name, as "NAVD88 height (ftUS)"; empty without one. A note names a system that is not
/// known.
std::string find_height_unit(TIFF* file, Image& image, std::string_view path);

}  // namespace holotone::io
#endif
