#pragma once
// Codes of a phase pattern that is added to holograms. Not for users.
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/field.hpp>
#include <vector>

namespace holotone {

/// Encodes rows of exp(2 pi i pattern) times the light of holograms: their phases are added modulo 2 pi.
class PhaseSum {
 public:
  /// Turns {rows, nx} of the pattern.
  using Pattern = std::function<Array<float, 2>(const FieldGrid& grid, const RowRange& rows)>;
  /// Fills rows {n, nx} with the light of a hologram of the same grid.
  using Added = std::function<void(std::int64_t first_row, View<Complex, 2> rows)>;

  PhaseSum(const EncodeOptions& options, const FieldGrid& grid, Pattern pattern, std::vector<Added> added);

  Array<std::uint16_t, 2> codes(const RowRange& rows);

 private:
  EncodePlan plan_;
  FieldGrid grid_;
  Pattern pattern_;
  std::vector<Added> added_;
};

}  // namespace holotone
