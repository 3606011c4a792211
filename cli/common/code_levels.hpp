#pragma once
#include <cli/common/values.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// Bits and divisor of quantized codes.
inline constexpr Range quantized_bits_range = count_range(1, 8);
inline constexpr Range scale_range = number_range(1e-15, most_field_value);

/// Modulation, bits and levels of a panel's codes with --encode and --bits. Throws invalid_argument naming the option.
ErrorDiffusionOptions code_levels(const Panel& panel, std::optional<Modulation> modulation, std::optional<int> bits);

/// Modulation, bits and levels of a panel's codes with --encode and --bits as typed. Throws invalid_argument naming the
/// option.
ErrorDiffusionOptions code_levels(const Panel& panel, const std::string& encoding, const std::string& bits);

}  // namespace holotone::cli
