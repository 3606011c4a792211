#pragma once
#include <cli/quantize/quantize_job.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// The job's reference beam for a field. Throws invalid_argument naming --reference-angle if none separates the viewing
/// window from its mirror image.
ReferenceBeam reference_beam(const QuantizeJob& job, const std::string& path, const FieldGrid& grid, std::int64_t side);

/// The job's weights for hogels of `side` pixels (0: the panel). Throws invalid_argument naming --viewer, with the
/// missing degrees, if no light of the field `path` reaches the window.
HogelWeights hogel_weights(const QuantizeJob& job, const std::string& path, const FieldGrid& grid, std::int64_t side,
                           const ReferenceBeam& beam);

}  // namespace holotone::cli
