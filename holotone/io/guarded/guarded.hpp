#pragma once
#include <holotone/core/geometry.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/guarded/sandbox.hpp>
#include <holotone/io/points/points.hpp>
#include <optional>
#include <string>

namespace holotone {

// Reads files in a child process with libraries that crash on hostile ones (assimp, libhdf5, matio, OpenEXR). The
// program must begin main with
//     if (const auto code = guarded_child(argc, argv)) return *code;
// and read with read_scene_guarded(path, current_program()), read_field_guarded(path, current_program()) and
// FieldRowsReader(path, current_program()); read_image reads OpenEXR so from then on. The child is the same program
// called as `program COMMAND FILE MEMORY_BYTES` with COMMAND __read-scene, __read-scene-centred, __read-field,
// __read-field-layout, __read-field-rows:FIRST:COUNT, __read-exr or __read-exr-depth. Its standard output is private
// and checked by the parent.

/// Limits of a guarded reader.
struct ReaderLimits {
  GuardLimits run = {};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  ///< memory that the reader may add (limit_memory)
};

/// Returns the limits for a glTF or GLB of `bytes`, including the buffers and pictures that it names:
///   memory 256 MiB + 128 bytes a byte, output 64 MiB + 24 bytes a byte, processor time 3 s + 1 us a byte.
/// Measured with assimp 5.2 on text (OBJ): at most 34 bytes of memory and 0.1 us.
ReaderLimits scene_reader_limits(std::uint64_t bytes);

/// Returns the limits for an HDF5 file of `bytes`: 20 s of processor time + 0.25 us a byte, and
///   memory 256 MiB + the least of 4000 bytes a byte (gzip's ratio is at most 1032; the values lie in memory up to
///   three times) and 2 GiB + 24 bytes a byte; output 64 MiB + the least of 1100 bytes a byte and 4 GiB + 24 bytes a
///   byte.
ReaderLimits field_reader_limits(std::uint64_t bytes);

/// Returns the limits for an OpenEXR file of `bytes` whose pixels are `pixel_bytes` as float32:
///   memory 256 MiB + 4 bytes a byte + 3 bytes a byte of pixels, output these pixels, processor time 10 s + 0.25 us a
///   byte of pixels.
ReaderLimits exr_reader_limits(std::uint64_t bytes, std::uint64_t pixel_bytes);

/// Reads a scene: glTF as read_scene_assimp in a child `program`, under scene_reader_limits by default; other
/// formats as read_scene in this process. Throws io in one line: the reader's error, or that it crashed, took too long
/// or needed too much memory.
Mesh read_scene_guarded(const std::string& path, const std::string& program,
                        const std::optional<ReaderLimits>& limits = {}, Coordinates coordinates = Coordinates::stored);

/// Reads a field as read_field. HDF5 and MATLAB 5 are read in a child `program`, under field_reader_limits by default;
/// other formats in this process. Throws as read_scene_guarded.
FieldFile read_field_guarded(const std::string& path, const std::string& program,
                             const std::optional<ReaderLimits>& limits = {}, const FieldReadOptions& options = {});

/// Entry point of the child. If the arguments name a guarded read, performs it and returns the exit code: 0, 2 after an
/// error, which is passed to the parent, or 1 if the output cannot be written. Otherwise returns empty. Call it first
/// in main, before any thread starts.
std::optional<int> guarded_child(int argc, const char* const* argv);

}  // namespace holotone
