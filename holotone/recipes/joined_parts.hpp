#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <string>
#include <vector>

// Parts of a hologram, as print_points makes them of some rows, joined to the whole.
namespace holotone {

struct JoinOptions {
  /// current_program() if its main begins with guarded_child: HDF5 is then read in a child process (guarded.hpp).
  /// Empty: in this process.
  std::string program{};
  /// Called before the whole appears under its name.
  std::function<void(const std::string& output)> before_output{};
};

struct JoinedParts {
  Shape<2> shape{};  ///< {ny, nx} of the whole
  std::int64_t parts = 0;
  std::int64_t unchecked = 0;  ///< parts that state no checksum: files of an older Holotone
};

/// Joins all parts of one hologram, in any order, and checks their rows by their checksums. `inputs`: .h5 or .hdf5 of
/// fields, .tif or .tiff of codes (print_points with rows, `hologram --block`). `output`: .h5, .hdf5 or .npy of fields,
/// .tif, .tiff or .npy of codes; it appears when it is complete. Reports `reading the parts` and `joining rows`. Throws
/// io naming the file that is no part, of another hologram, damaged, twice given or missing; as FieldRowsWriter and
/// CodeRowsWriter; cancelled. Memory: 2^23 values.
JoinedParts join_parts(const std::vector<std::string>& inputs, const std::string& output,
                       const JoinOptions& options = {}, Progress& progress = Progress::none());

}  // namespace holotone
