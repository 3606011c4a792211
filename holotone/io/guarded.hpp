#pragma once
#include <holotone/core/geometry.hpp>
#include <holotone/io/field_file.hpp>
#include <holotone/io/sandbox.hpp>
#include <optional>
#include <string>

namespace holotone {

// Reads files in a child process with libraries that crash on hostile ones (assimp, libhdf5). The program must begin
// main with
//     if (const auto code = guarded_child(argc, argv)) return *code;
// and read with read_scene_guarded(path, current_program()), read_field_guarded(path, current_program()) and
// FieldRowsReader(path, current_program()). The child is the same program called as `program COMMAND FILE
// MEMORY_BYTES` with COMMAND __read-scene, __read-field, __read-field-layout or __read-field-rows:FIRST:COUNT. Its
// standard output is private and checked by the parent.

/// Limits of a guarded reader.
struct ReaderLimits {
  GuardLimits run = {};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  ///< see limit_memory
};

/// Like read_scene for the formats of our own readers, in this process; OBJ and glTF in a child `program`. The default
/// limits grow with the file: 2 GiB + 24 bytes of memory a byte, 20 s + 1 s for every 4 MB. Throws io in one line: the
/// reader's error, or that it crashed, took too long or needed too much memory.
Mesh read_scene_guarded(const std::string& path, const std::string& program,
                        const std::optional<ReaderLimits>& limits = {});

/// Like read_field; HDF5 in a child `program`, under the same limits.
FieldFile read_field_guarded(const std::string& path, const std::string& program,
                             const std::optional<ReaderLimits>& limits = {});

/// The child's side: if the arguments name a guarded read, performs it and returns the exit code (0, or 2 after an
/// error, which is passed to the parent). Otherwise empty. Call it first in main, before anything starts threads.
std::optional<int> guarded_child(int argc, const char* const* argv);

}  // namespace holotone
