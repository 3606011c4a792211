#pragma once
#include <cli/common/paths.hpp>
#include <cli/options/option_table.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// The row of --output, which a command needs: target, help, and a placeholder other than FILE.
OptionRow output_option(OptionRow row);

/// The same of a command that can do without it.
OptionRow optional_output(OptionRow row);

/// Throws invalid_argument about --output.
[[noreturn]] void reject_output(std::string_view expected, std::string_view got);

/// Throws invalid_argument unless the output names one file, or with `channels` one file, or a %c, for each colour.
void require_one_name(const std::string& output, bool channels = false,
                      std::string_view expected = "a name without a counter for one picture");

/// Input file, and the option that names it ("IN" for the input itself).
struct InputFile {
  std::string_view option;
  std::string path;
};

/// The files of --lut and --correction.
std::vector<InputFile> code_inputs(const std::string& lut, const std::string& correction);

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

/// The same for one file of --output.
void require_output(const std::string& output, const std::vector<InputFile>& inputs = {});

}  // namespace holotone::cli
