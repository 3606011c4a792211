#pragma once
#include <cli/options/option_table.hpp>
#include <optional>

namespace holotone::cli {

/// --compression of commands that write pictures; no level: auto.
/// With the name of the output, the option is refused for one that is neither PNG nor TIFF.
OptionRow compression_option(std::optional<int>& level, const std::string* output = nullptr);

/// --scale-codes of commands that write codes, to a picture named by `output`.
OptionRow scale_codes_option(bool& scales, const std::string& output);

/// ImageWriteOptions::scaled_bits of codes of `bits` bits. Throws for --scale-codes of more bits than it has.
int scaled_bits_of(bool scales, int bits);

}  // namespace holotone::cli
