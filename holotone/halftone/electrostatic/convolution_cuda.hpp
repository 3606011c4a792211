#pragma once
// The far force on a CUDA device, from charge on a grid to force on the same grid. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <memory>
#include <vector>

namespace holotone::electrostatic {

/// Two numbers of a CUDA kernel: x and y of a force, or a complex number.
struct Pair {
  float x;
  float y;
};

/// Transforms charges on nodes {ny, nx} to forces there, by a product in the Fourier domain, zero-padded to {ly, lx}:
///
///     F_x + i F_y = DFT^-1[ (G_y - i G_x) DFT[charge] ]
///
/// `influence` holds (G_x, G_y) at frequencies {ly / 2 + 1, lx / 2 + 1} as computed by far_spectrum: G_x odd in x and
/// even in y, G_y the reverse, both 0 at lx / 2 and ly / 2. The scale 1 / (ly lx) is included. ly >= 2 ny, lx >= 2 nx,
/// both even.
///
/// Lengths that are powers of two from 256 to 4096 run in three kernels that keep a whole transform in shared memory
/// and skip the padding; others use cuFFT. Every run gives the same bits.
class Convolution {
 public:
  Convolution(Shape<2> nodes, Shape<2> lengths, const std::vector<Pair>& influence, const Queue& queue);
  ~Convolution();
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  /// `charge` and `force`: {ny, nx} on the device. Only enqueues on `stream`, a cudaStream_t; may be captured in a
  /// graph.
  void run(const float* charge, Pair* force, void* stream);
  [[nodiscard]] std::size_t bytes() const;

  struct Path;

 private:
  std::unique_ptr<Path> path_;
};

}  // namespace holotone::electrostatic
