#pragma once
#include <cli/common/console.hpp>
#include <cli/options/values.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <optional>

namespace holotone::cli {

/// Divisor of quantized codes.
inline constexpr Bounds scale_bounds{1e-15, max_field_value};

/// Modulation, bits and levels of a panel's codes with --encode and --bits. Throws invalid_argument naming
/// `code_levels`, `modulation` or `bits`.
ErrorDiffusionOptions code_levels(const Panel& panel, std::optional<Modulation> modulation, std::optional<int> bits);

/// Notes that a viewer of pictures shows codes of so few bits as black, unless they are written for viewers.
void remark_few_bits(const ConsoleOptions& console, int bits, const ImageWriteOptions& writing,
                     const std::string& output);

}  // namespace holotone::cli
