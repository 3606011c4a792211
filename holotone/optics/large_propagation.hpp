#pragma once
#include <functional>
#include <holotone/core/device.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <vector>

namespace holotone {

struct LargePropagationOptions {
  FieldGrid grid = {};     ///< grid of input and output
  double distance_m = 0;   ///< signed, finite; positive: with the light, toward the viewer
  bool band_limit = true;  ///< Matsushima's limit of the angular spectrum, as in PropagationOptions
  /// Most memory taken on each device that is named, in bytes. 0: half of what is free there when the plan is made,
  /// shared by those that are the same device.
  std::size_t device_memory_bytes = 0;
};

/// Sizes and cost of a LargePropagationPlan.
struct LargePropagationInfo {
  Shape<2> padded{};                  ///< {Ly, Lx}
  std::int64_t spectrum_columns = 0;  ///< frequencies along x that are kept, at most Lx
  std::int64_t rows_at_once = 0;      ///< rows of a band
  std::int64_t columns_at_once = 0;   ///< columns of a strip
  std::size_t host_bytes = 0;         ///< host memory: the spectrum, and what bands and strips pass through
  std::size_t device_bytes = 0;       ///< most memory taken on a device; 0 on the CPU
  std::size_t moved_bytes = 0;        ///< copied between host and devices in both directions; 0 on the CPU
};

/// Propagates a field that is larger than a device's memory, by bands of rows and strips of columns that pass through
/// the devices. The field and its spectrum stay in host memory or in files.
///
///   U_d = IFFT[ H FFT[U] ]
///
/// is the angular spectrum of PropagationPlan: the same H, band limit and padded lengths Ly, Lx. Three passes compute
/// it, each line (row or column) transformed by itself:
///   1. bands of rows {rows, nx}: zero-padded, FFT along x, to a spectrum {ny, W} in host memory
///   2. strips of columns {ny, columns} of the spectrum: zero-padded, FFT along y, times H, inverse FFT, cropped, back
///   3. bands of rows {rows, W}: inverse FFT along x, cropped to {rows, nx}
/// W are the frequencies along x that the band limit and evanescent waves leave: at a long distance much less than Lx.
///
/// Bands and strips are fixed by the shape and by device_memory_bytes. The result's bits depend on neither on the CPU,
/// and nowhere on the number of devices. A GPU works on three bands at once in queues of their own: one is copied
/// there, one computed, one copied back. Page-locked memory makes these copies asynchronous on CUDA.
///
/// Relative l2 error against the same formula in float64: below 1e-6.
/// Cost: O(L log L), L = Lx Ly; host memory 8 ny W bytes and the bands; 16 ny nx + 32 ny W bytes copied between host
/// and devices. For 65,536 x 65,536 pixels and W = Lx = 131,072: 64 GiB of spectrum, 320 GiB copied.
/// Source: passes of a transform out of core, as in Bailey, "FFTs in external or hierarchical memory", J.
/// Supercomputing 4, 23 (1990), for the two axes of a field; H as in PropagationPlan.
class LargePropagationPlan {
 public:
  /// Fills `rows` {n, nx}, in host memory, with rows first_row to first_row + n - 1 of the input.
  using ReadRows = std::function<void(std::int64_t first_row, View<Complex, 2> rows)>;
  /// Takes rows first_row to first_row + n - 1 of the output, in host memory.
  using WriteRows = std::function<void(std::int64_t first_row, View<const Complex, 2> rows)>;

  /// Allocates all memory. `devices` work together, whichever is free takes the next band; one may be named more than
  /// once. Throws invalid_argument for a grid or distance out of range, no device, or device_memory_bytes too small for
  /// a line (with the least); out_of_memory for the host or a device.
  explicit LargePropagationPlan(const LargePropagationOptions& options, std::vector<Device> devices = {Device{}});
  ~LargePropagationPlan();
  LargePropagationPlan(LargePropagationPlan&&) noexcept;
  LargePropagationPlan& operator=(LargePropagationPlan&&) noexcept;

  /// Propagates and waits. `read` is called for bands from top to bottom, `write` for bands in any order after the last
  /// read: each from one thread at a time, not the caller's. What they throw reaches the caller. A distance of zero
  /// copies. Throws cancelled if `progress` cancels; rows that were written are then of no use.
  void execute(const ReadRows& read, const WriteRows& write, Progress& progress = Progress::none());
  /// The same from and to host memory; shapes {ny, nx}; both may be the same array.
  void execute(View<const Complex, 2> input, View<Complex, 2> output, Progress& progress = Progress::none());

  [[nodiscard]] LargePropagationInfo info() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The info of a plan that is not made, to ask for the memory first; device_bytes is an upper bound. Throws
/// invalid_argument as the plan.
LargePropagationInfo large_propagation_info(const LargePropagationOptions& options,
                                            const std::vector<Device>& devices = {Device{}});

}  // namespace holotone
