#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// Input file, and the option that names it ("IN" for the input itself).
struct InputFile {
  std::string_view option;
  std::string path;
};

/// Output files of an option: one, or one per frame.
struct OutputFiles {
  std::string_view option;
  std::int64_t count = 1;
  std::function<std::string(std::int64_t)> name;
};

/// Throws before any long work unless every output can be written. Its folder exists and is writable, its name is not
/// too long, it is no folder or device, and this build writes its format. It is no other output, none of the inputs,
/// and none of the files that a glTF among them names. Links are followed. Above 256 outputs the check queries the
/// system for each folder and existing file, not for each output. Throws cancelled on a signal.
void require_outputs(const std::vector<OutputFiles>& outputs, const std::vector<InputFile>& inputs);

}  // namespace holotone::cli
