#pragma once
// Pattern of taps for which the wavefront's kernel is compiled. Not for users.
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <string>

namespace holotone::diffusion {

/// Schedule of a warp of 32 rows in a hogel. At step s a row is at column s - row lag, `lag` columns behind the row
/// above. An error of a row dy above is added `delay` steps after its computation, at once to the sums of all the next
/// `slots` pixels. Errors of late rows are read in the step before, while the level of that step's pixel is computed.
/// Early rows are those with a delay of 1 and all nearer ones: their errors are read at the start of the step that adds
/// them.
struct WavefrontPattern {
  struct Row {
    int dy;
    int delay;
    bool early;
  };
  struct Tap {
    int weight;  ///< index in the order of sums
    int row;     ///< index in `rows`
    int slot;    ///< steps from the arrival of its error to the pixel that collects it
  };
  static constexpr int block = 8;          ///< columns of unrolled code
  static constexpr int chunk = 2 * block;  ///< columns loaded at once
  int taps = 0;
  int lag = 1;
  int above = 0;    ///< number of rows above a group whose errors it uses
  int history = 1;  ///< number of blocks before the present one whose errors are used
  int slots = 1;
  int ring = 1;  ///< number of the row's own last errors in registers
  std::vector<Row> rows{};
  std::vector<Tap> above_taps{};  ///< row by row from the farthest
  std::vector<Tap> own_taps{};    ///< slot: dx

  /// Returns the pattern of taps in the order of sums. min_delay >= 1: an error is written in one step and read in
  /// the next.
  static WavefrontPattern of(const std::vector<DiffusionTap>& taps, int min_delay);

  /// Number of blocks of a tile: the present chunk, the next, and the history.
  [[nodiscard]] int stages() const { return history + 4; }
  /// Bytes of shared memory per warp.
  [[nodiscard]] std::int64_t tile_bytes() const { return std::int64_t{8} * stages() * (32 + above) * (block + 1); }
  /// Returns the pattern as macros.
  [[nodiscard]] std::string source() const;
};

}  // namespace holotone::diffusion
