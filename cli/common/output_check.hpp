#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// A file that the work reads, and the option that names it ("IN" for the input itself).
struct InputFile {
  std::string_view option;
  std::string path;
};

/// The files that an option has written: one, or one a frame.
struct OutputFiles {
  std::string_view option;
  std::int64_t count = 1;
  std::function<std::string(std::int64_t)> name;
};

/// Throws, before any long work is done, unless every output can become a file: its folder exists and can be written,
/// its name is not too long, it is no folder or device, its format is one this build writes, it is none of the inputs
/// (under any name: links are followed), none of the files that a glTF among them names, and no other output. Asks
/// the system for each folder and existing file, not for each output; throws cancelled on a signal.
void require_outputs(const std::vector<OutputFiles>& outputs, const std::vector<InputFile>& inputs);

}  // namespace holotone::cli
