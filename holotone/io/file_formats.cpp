// One row for each format and content. A new reader or writer adds its row here: `holotone formats`, docs/files.md and
// Python's file_formats() follow, and a test compares the extensions with those of file_format_detail.hpp.
#include <holotone/io/file_formats.hpp>

#ifndef HOLOTONE_EXR
#define HOLOTONE_EXR 0
#endif

namespace holotone {
namespace {

#if HOLOTONE_MATIO
constexpr bool has_matio = true;
#else
constexpr bool has_matio = false;
#endif

using enum FileContent;

std::vector<FormatSupport> list_formats() {
  return {
      {.name = "PNG",
       .content = picture,
       .extensions = {".png"},
       .by_content = true,
       .read = "1 to 16 bit, palette, interlaced, alpha",
       .written = "8, 16 bit, 1 to 4 channels; grey of 1, 2, 4 bit",
       .honoured = "orientation (eXIf, raw profiles); as light: iCCP, raw profiles, gAMA, cHRM, Adobe RGB of EXIF "
                   "(Little CMS); "
                   "text chunks",
       .not_honoured =
           "named: cICP, pCAL, sTER, orientation of XMP, frames of an animation, pixels that are not square"},
      {.name = "TIFF, BigTIFF",
       .content = picture,
       .extensions = {".tif", ".tiff"},
       .by_content = true,
       .read = "1, 2, 4, 8, 16 bit, floats of 16, 32, 64 bits; strips, tiles, planes, pages; CMYK",
       .written = "8, 16 bit, float32; grey of 1, 2, 4 bit",
       .honoured =
           "orientation, alpha, transparency masks, white is zero, palette, ImageDescription, picture of full "
           "resolution, GDAL_NODATA, unit of depths (GDAL, GeoTIFF), bits of OME-XML and Micro-Manager; as light: "
           "profile, TransferFunction, primaries, Adobe RGB of EXIF (Little CMS)",
       .not_honoured =
           "named: scale and offset of GDAL, GeoTIFF, ImageJ, JPK, Gatan and descriptions, GrayResponseCurve, unknown "
           "tags, "
           "ReferenceBlackWhite, units, orientation of XMP, pixels that "
           "are not "
           "square (GeoTIFF too), pictures beyond its pages (ImageJ, MetaMorph, OME-XML, ImageDepth); refused: "
           "other inks, YCbCr but JPEG's, raw sensor data, signed (ImageJ's too) or 32-bit integers",
       .library = "libtiff 4.5",
       .is_built = HOLOTONE_TIFF},
      {.name = "BMP",
       .content = picture,
       .extensions = {".bmp"},
       .by_content = true,
       .read = "1, 4, 8, 24, 32 bit, uncompressed",
       .written = "8-bit grey, 24 bit",
       .honoured = "order of rows, palette; as light: profile, LCS_CALIBRATED_RGB (Little CMS)",
       .not_honoured =
           "named: profile of another file, alpha of 0 everywhere (opaque), pixels that are not square; refused: "
           "run-length"},
      {.name = "JPEG",
       .content = picture,
       .extensions = {".jpg", ".jpeg"},
       .by_content = true,
       .read = "grey, colour, progressive; CMYK of Adobe",
       .honoured = "EXIF orientation; as light: profile, Adobe RGB of EXIF (Little CMS)",
       .not_honoured = "named: gain map, further pictures (MPO, JPS), unknown segments, orientation of XMP, pixels "
                       "that are not square; "
                       "refused: CMYK without Adobe's "
                       "marker, codes"},
      {.name = "PFM",
       .content = picture,
       .extensions = {".pfm"},
       .by_content = true,
       .read = "grey, colour, in linear light",
       .honoured = "order of rows and bytes",
       .not_honoured = "named: a scale other than 1"},
      {.name = "OpenEXR",
       .content = picture,
       .extensions = {".exr"},
       .by_content = true,
       .read = "half, float, in linear light; lines, tiles, every compression",
       .honoured = "R G B A, Y A or the only channel, data and display window, alpha",
       .not_honoured = "named: other channels, chromaticities, colorInteropID, envmap, unknown attributes, "
                       "pixelAspectRatio; refused: deep, several parts, integers, "
                       "channels at fewer pixels",
       .library = "OpenEXR 3",
       .is_built = HOLOTONE_EXR},
      {.name = "PLY",
       .content = scene,
       .extensions = {".ply"},
       .by_content = true,
       .read = "ascii, binary in both byte orders",
       .written = "binary",
       .honoured = "coordinates, units in comments, normals, colours, amplitude, intensity, phase, polygons",
       .not_honoured = "named: other properties; refused: Gaussian splats, triangle strips"},
      {.name = "OBJ",
       .content = scene,
       .extensions = {".obj"},
       .read = "vertices, normals, polygons",
       .honoured = "colours of vertices, units in comments, negative indices, continued lines",
       .not_honoured =
           "named: vertices without a face, vt, p, l, mtllib, usemtl; refused: weights, free-form curves and surfaces"},
      {.name = "STL",
       .content = scene,
       .extensions = {".stl"},
       .read = "ascii of several solids, binary",
       .honoured = "triangles, a unit in the header",
       .not_honoured = "named: attribute bytes (colours); left out: normals of facets"},
      {.name = "glTF, GLB",
       .content = scene,
       .extensions = {".gltf", ".glb"},
       .read = "triangles, strips, fans, points; quantized meshes",
       .honoured = "nodes and whether they are shown, normals, baseColorFactor times COLOR_0, sparse accessors",
       .not_honoured = "named: vertices without an index, lines, textures, emission, alpha, animations; refused: "
                       "skins, weights of morph targets, instances, "
                       "required extensions of the geometry but Draco's, version 1",
       .library = "assimp",
       .is_built = HOLOTONE_ASSIMP},
      {.name = "XYZ, CSV, TSV, TXT, ASC",
       .content = scene,
       .extensions = {".xyz", ".csv", ".tsv", ".txt", ".asc"},
       .read = "a point a line",
       .honoured = "names of columns, their units (ECSV too), units in comments",
       .not_honoured =
           "named: other columns; refused: dB and logarithms, decimal commas, UTF-16, six columns that may be normals"},
      {.name = "NPY",
       .content = scene,
       .extensions = {".npy"},
       .by_content = true,
       .read = "real {n, 3}, {n, 4}",
       .honoured = "type, byte order, Fortran order"},
      {.name = "HDF5",
       .content = field,
       .extensions = {".h5", ".hdf5", ".mat"},
       .by_content = true,
       .read = "complex {ny, nx}; real with --read",
       .written = "complex64",
       .honoured =
           "names of members, attributes, order of dimensions of MATLAB, Octave and Julia, names of "
           "dimensions, "
           "DISPLAY_ORIGIN, scale_factor, add_offset, units of phases, unitSI, scale and offset of NWB and NeXus, "
           "units and scaling of Igor Pro, axes and grid of openPMD, axes "
           "of NeXus, CXI, HyperSpy, EMD and ilastik, coordinates of netCDF and attached scales",
       .not_honoured =
           "named: unknown scales, offsets and units, datasets of errors and masks beside, chunks that are not in "
           "the file; refused: dB and logarithms, missing values, other units "
           "of phases, uneven coordinates, exchanged quadrants (CXI), IMAGE_WHITE_IS_ZERO, "
           "palettes, links, external and virtual data",
       .library = "libhdf5",
       .is_built = HOLOTONE_HDF5},
      {.name = "MATLAB 5",
       .content = field,
       .extensions = {".mat"},
       .by_content = true,
       .read = "complex {ny, nx}; real with --read",
       .honoured = "type, byte order, compression",
       .not_honoured = "refused: version 4, text, cells, structures, sparse matrices",
       .library = "matio",
       .is_built = has_matio},
      {.name = "NPY",
       .content = field,
       .extensions = {".npy"},
       .by_content = true,
       .read = "complex64, complex128 {ny, nx}; real with --read",
       .written = "complex64",
       .honoured = "type, byte order, Fortran order"},
      {.name = "OHC (OpenHolo)",
       .content = field,
       .extensions = {".ohc"},
       .by_content = true,
       .read = "one wavelength; float32, float64; real and imaginary part, or amplitude and phase",
       .written = "float32 real and imaginary part",
       .honoured = "wavelength, pitch, sizes of the headers",
       .not_honoured = "refused: compressed, coded or several wavelengths, pxPitchY other than pxPitchX"},
      {.name = "CSV, TSV, TXT, DAT, XY",
       .content = dots,
       .extensions = {".csv", ".tsv", ".txt", ".dat", ".xy"},
       .read = "a dot a line",
       .written = "CSV, TXT",
       .honoured = "names of columns, count, page, size of a pixel",
       .not_honoured = "named: other columns; refused: units but pixels, in comments too, decimal commas, UTF-16"},
      {.name = "NPY",
       .content = dots,
       .extensions = {".npy"},
       .read = "real {n, 2} to {n, 4}",
       .written = "float32",
       .honoured = "type, byte order, Fortran order"},
      {.name = "SVG",
       .content = dots,
       .extensions = {".svg"},
       .read = "circles, ellipses",
       .written = "circles in layers",
       .honoured = "transforms, viewBox, preserveAspectRatio, switch, fill, stroke, what is hidden, layers",
       .not_honoured = "named: use, rings, circles in the page's colour, effects; refused: paths and other shapes, "
                       "computed styles"},
      {.name = "PDF", .content = dots, .extensions = {".pdf"}, .written = "a page"},
      {.name = "PNG and other pictures",
       .content = dots,
       .extensions = {".png", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg", ".pfm", ".exr"},
       .by_content = true,
       .read = "two levels",
       .written = "PNG of 8 bit or 1 bit with pixels a metre",
       .honoured = "transparency, on white",
       .not_honoured = "left out: resolutions such as pHYs"},
      {.name = "SMOE",
       .content = model,
       .extensions = {".smoe"},
       .read = "all",
       .written = "all",
       .honoured = "all of its header"},
      {.name = "JSON, NPZ",
       .content = model,
       .extensions = {".json", ".npz"},
       .read = "every float of a model",
       .written = "every float of a model",
       .honoured = "all of its arrays"},
      {.name = "NPY, NPZ, PFM, OpenEXR, float TIFF",
       .content = depth,
       .extensions = {".npy", ".npz", ".pfm", ".exr", ".tif", ".tiff"},
       .read = "real {ny, nx}",
       .honoured = "type, byte order, channel Z or Depth; zero, negative, NaN and infinity are holes"},
      {.name = "NPY",
       .content = map,
       .extensions = {".npy"},
       .read = "real {ny, nx}: --correction, info",
       .written = "float32 {ny, nx}, {ny, nx, 3}: reconstruct --linear",
       .honoured = "type, byte order, Fortran order",
       .not_honoured = "named: a correction's span above 6 pi; refused: integers as a correction"},
      {.name = "HTML", .content = page, .extensions = {".html", ".htm"}, .written = "report of measure"},
  };
}

}  // namespace

const std::vector<FormatSupport>& file_formats() {
  static const std::vector<FormatSupport> list = list_formats();
  return list;
}

}  // namespace holotone
