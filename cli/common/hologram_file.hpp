#pragma once
#include <cli/common/hologram_overrides.hpp>
#include <holotone/core/error.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>
#include <string>

namespace holotone::cli {

/// Reads a hologram file; the overrides replace or supplement its metadata. Throws io naming the file, or
/// invalid_argument naming the option for a value that the file does not state.
HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides);

/// Reads a hologram by rows, otherwise as read_hologram.
HologramRows hologram_rows(const std::string& path, const HologramOverrides& overrides);

/// The file for a recipe of the library, which read_hologram would read. Throws for flags that do not apply to it.
HologramSource hologram_source(const std::string& path, const HologramOverrides& overrides);

/// Throws the error of a file with the option that helps, if the program has one.
void throw_with_remedy(const Error& error);

/// Calls work(); its errors name the option that helps.
template <class Work>
auto with_remedy(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw_with_remedy(error);
    throw;
  }
}

}  // namespace holotone::cli
