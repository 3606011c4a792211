#pragma once
// The pattern of taps as the wavefront's kernel is compiled for it. Not for users.
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <string>

namespace holotone::diffusion {

/// How a warp of 32 rows goes through a hogel. Step s of a row, `lag` columns behind the row above, is at column s -
/// row lag. Errors of a row dy above come `delay` steps after they were made; each is added at once to the sums of the
/// pixels to come, `slots` of them. Errors of late rows are added in the step before they count, while the level of its
/// pixel is looked for; those of early rows, that were made only then, at the start of the step.
struct WavefrontPattern {
  struct Row {
    int dy;
    int delay;
    bool early;
  };
  struct Tap {
    int weight;  ///< its place in the order of sums
    int row;     ///< its place in `rows`
    int slot;    ///< steps from when its error comes to the pixel that collects it
  };
  static constexpr int block = 8;          ///< columns for which code is written out
  static constexpr int chunk = 2 * block;  ///< columns that are loaded at once
  int taps = 0;
  int lag = 1;
  int above = 0;    ///< rows above a group whose errors it needs
  int history = 1;  ///< blocks before the present one from which errors come
  int slots = 1;
  int ring = 1;  ///< of the row itself, the last errors that stay in registers
  std::vector<Row> rows{};
  std::vector<Tap> above_taps{};  ///< row by row from the farthest
  std::vector<Tap> own_taps{};    ///< slot: their dx

  /// For taps in the order of sums. least_delay >= 1: an error is written in one step and read in the next.
  static WavefrontPattern of(const std::vector<DiffusionTap>& taps, int least_delay);

  /// Blocks of a tile: the present chunk, the next, and the history.
  [[nodiscard]] int stages() const { return history + 4; }
  /// Bytes of shared memory that a warp needs.
  [[nodiscard]] std::int64_t tile_bytes() const { return std::int64_t{8} * stages() * (32 + above) * (block + 1); }
  /// As macros.
  [[nodiscard]] std::string source() const;
};

}  // namespace holotone::diffusion
