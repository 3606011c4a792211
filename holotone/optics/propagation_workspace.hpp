#pragma once
// What the engines of propagation on devices hold in memory, whatever their kernels. Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <memory>

namespace holotone::propagation {

/// Geometry of the padded array for kernels: Frame of propagation_opencl.cl.
struct Frame {
  int ny = 0;
  int nx = 0;
  int ly = 0;
  int lx = 0;
  int row = 0;
  int col = 0;
};

/// Memory, transform and layout of one padded shape.
struct Workspace {
  Workspace(const Layout& where, Shape<2> field, const Queue& queue)
      : layout(where),
        values(where.padded, queue),
        fft(where.padded, queue, {.scale_inverse = false, .first_row = where.row, .rows = field[0]}),
        frame{static_cast<int>(field[0]),        static_cast<int>(field[1]),  static_cast<int>(where.padded[0]),
              static_cast<int>(where.padded[1]), static_cast<int>(where.row), static_cast<int>(where.col)} {}

  [[nodiscard]] std::size_t bytes() const { return values.bytes() + fft.workspace_bytes(); }

  Layout layout;
  Array<Complex, 2> values;
  FftPlan fft;
  Frame frame;
};

/// Memory of the methods that a plan can use. Filter: the angular spectrum of a padded field in three passes;
/// AxisTable: one axis of a Fresnel transform.
template <class Filter, class AxisTable>
struct Workspaces {
  Workspaces(const PropagationOptions& options, const Queue& queue) {
    const auto shape = options.grid.shape();
    if (uses_angular_spectrum(options)) {
      const Layout layout = angular_spectrum_layout(options);
      filter = Filter::make(shape, layout.padded, queue);
      if (!filter) spectrum = std::make_shared<Workspace>(layout, shape, queue);
    }
    if (uses_fresnel(options)) {
      const Layout layout = fresnel_layout(options);
      fresnel = spectrum && spectrum->layout == layout ? spectrum : std::make_shared<Workspace>(layout, shape, queue);
      rows = std::make_unique<AxisTable>(shape[0], layout.padded[0], queue);
      columns = std::make_unique<AxisTable>(shape[1], layout.padded[1], queue);
    }
  }

  /// Leaves the spectrum of an input in spectrum->values: the kept one, or that of what `pad` writes there.
  template <class Pad>
  void transform(Spectrum which, const Queue& queue, Pad&& pad) {
    Workspace& work = *spectrum;
    if (which == Spectrum::kept) return copy<Complex, 2>(work.values.view(), kept.view(), queue);
    pad();
    work.fft.execute(work.values.view(), FftDirection::forward);
    if (which != Spectrum::keep) return;
    if (kept.empty()) kept = Array<Complex, 2>(work.values.shape(), queue);
    copy<Complex, 2>(kept.view(), work.values.view(), queue);
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = spectrum ? spectrum->bytes() : 0;
    if (filter) sum += filter->bytes();
    if (fresnel && fresnel != spectrum) sum += fresnel->bytes();
    if (rows) sum += rows->bytes() + columns->bytes();
    return sum + kept.bytes();
  }

  std::unique_ptr<Filter> filter;       ///< of the angular spectrum, or
  std::shared_ptr<Workspace> spectrum;  ///< where it has none
  Array<Complex, 2> kept;               ///< a spectrum before its product with H
  std::shared_ptr<Workspace> fresnel;   ///< is `spectrum` if the shapes are equal
  std::unique_ptr<AxisTable> rows;
  std::unique_ptr<AxisTable> columns;
};

}  // namespace holotone::propagation
