#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/hologram/stereogram/stereogram_engine.hpp>
#include <holotone/optics/complex_product.hpp>

namespace holotone::stereogram {
namespace {

constexpr std::int64_t rows_at_once = 8;  // a cache line of each column

Complex turned(float turns) {
  float sine = 0;
  float cosine = 0;
  sincos_turns(turns, sine, cosine);
  return {cosine, sine};
}

/// Workspace of one thread for one hogel.
struct Worker {
  HogelLight light;
  LightScratch scratch;
  Array<Complex, 1> columns;  ///< of the spectrum, one after the other
  Array<Complex, 1> rows;     ///< rows_at_once rows, as they are transformed
  std::vector<char> lit;      ///< 1 for columns that are not all dark
  std::vector<Complex> curved;
};

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const Geometry& geometry)
      : geometry_(geometry),
        n_(geometry.options.hogel_px),
        column_distance_(fft::gathered_distance(n_)),
        row_distance_(fft::line_distance(n_)),
        column_plan_(n_, 1, column_distance_, FftDirection::inverse),
        row_plan_(n_, rows_at_once, row_distance_, FftDirection::inverse) {}

  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                           Progress& progress) override {
    if (std::ssize(workers_) < thread_count()) workers_.resize(static_cast<std::size_t>(thread_count()));
    const std::int64_t across = geometry_.hogels[1];
    const std::int64_t all = across * geometry_.hogels[0];
    const auto [first_row, rows] = geometry_.hogel_rows(part);
    const std::int64_t count = across * rows;
    // Enough hogels to keep the threads busy between two progress reports, which only the caller's thread makes.
    const std::int64_t at_once = thread_count() * std::max<std::int64_t>(1, (std::int64_t{1} << 18) / (n_ * n_));
    std::vector<StereogramReport> reports(static_cast<std::size_t>(count));
    for (std::int64_t done = 0; done < count; done += at_once) {
      progress.step("computing hogels", first_row * across + done, all);
      parallel_for(done, std::min(count, done + at_once), [&, first_row = first_row](std::int64_t i) {
        Worker& worker = workers_[static_cast<std::size_t>(omp_get_thread_num())];
        reports[static_cast<std::size_t>(i)] =
            look_through(geometry_, source, channel, first_row + i / across, i % across, worker.light, worker.scratch);
        transform(worker, (first_row + i / across) * n_ - part.first_row, i % across * n_, output);
      });
    }
    progress.step("computing hogels", first_row * across + count, all);
    StereogramReport report;
    for (const auto& rows_report : reports) report += rows_report;
    return report;
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& worker : workers_) bytes += worker.columns.bytes() + worker.rows.bytes();
    return bytes;
  }

 private:
  /// Computes the hogel whose first row is `row` of the output, < 0 above it.
  void transform(Worker& worker, std::int64_t row, std::int64_t column, View<Complex, 2> output) const {
    const std::int64_t above = std::max<std::int64_t>(0, -row);
    const RowRange wanted{above, std::min(n_, output.shape()[0] - row) - above};
    const std::int64_t columns = std::min(n_, output.shape()[1] - column);
    Complex* const target = output.data() + (row + above) * output.shape()[1] + column;
    reserve(worker.columns, worker.light.hogel.columns * column_distance_);
    reserve(worker.rows, rows_at_once * row_distance_);
    bool first = true;
    for (std::size_t layer = 0; layer < worker.light.curvature.size(); ++layer) {
      if (worker.light.used[layer] == 0) continue;
      scatter(worker, layer);
      for (std::int64_t c = 0; c < worker.light.hogel.columns; ++c) {
        if (worker.lit[static_cast<std::size_t>(c)] != 0) {
          column_plan_.execute(worker.columns.data() + c * column_distance_);
        }
      }
      finish_rows(worker, worker.light.curvature[layer], first, wanted, columns, target, output.shape()[1]);
      first = false;
    }
    if (!first) return;
    for (std::int64_t y = 0; y < wanted.rows; ++y) std::fill_n(target + y * output.shape()[1], columns, Complex{});
  }

  /// Writes the rays of a layer with their phases to the spectrum, column by column.
  void scatter(Worker& worker, std::size_t layer) const {
    const HogelLight& light = worker.light;
    const Hogel& hogel = light.hogel;
    worker.lit.assign(static_cast<std::size_t>(hogel.columns), 0);
    std::fill_n(worker.columns.data(), hogel.columns * column_distance_, Complex{});
    for (std::int64_t r = 0; r < hogel.rows; ++r) {
      const std::int64_t place = transform_index(r - hogel.first_ky, n_);  // rows go down, ky goes up
      for (std::int64_t c = 0; c < hogel.columns; ++c) {
        const auto i = static_cast<std::size_t>(r * hogel.columns + c);
        if (light.amplitude[i] == 0 || (!light.layer.empty() && light.layer[i] != layer)) continue;
        worker.columns.data()[c * column_distance_ + place] =
            light.amplitude[i] * turned(ray_turns(geometry_.options.seed, hogel, n_, r, c));
        worker.lit[static_cast<std::size_t>(c)] = 1;
      }
    }
  }

  /// Transforms the rows, rows_at_once at a time, and adds the hogel's wanted rows to the output, with the curvature.
  void finish_rows(Worker& worker, double curvature, bool first, const RowRange& wanted, std::int64_t columns,
                   Complex* target, std::int64_t stride) const {
    const Hogel& hogel = worker.light.hogel;
    const double turns = curvature * geometry_.curvature_per_px2;
    const float scale = 1 / static_cast<float>(n_);
    const bool flat = curvature == 0;
    worker.curved.resize(static_cast<std::size_t>(columns));
    for (std::int64_t x = 0; x < columns; ++x) {
      worker.curved[static_cast<std::size_t>(x)] = turned(curved_turns(turns, x, n_));
    }
    Complex* const rows = worker.rows.data();
    // The grouping of lines is the same for every range of wanted rows.
    for (std::int64_t y = wanted.first_row / rows_at_once * rows_at_once; y < wanted.end(); y += rows_at_once) {
      const std::int64_t some = std::min(rows_at_once, wanted.end() - y);
      std::fill_n(rows, rows_at_once * row_distance_, Complex{});
      for (std::int64_t c = 0; c < hogel.columns; ++c) {
        if (worker.lit[static_cast<std::size_t>(c)] == 0) continue;
        const Complex* const from = worker.columns.data() + c * column_distance_ + y;
        Complex* const to = rows + transform_index(hogel.first_kx + c, n_);
        for (std::int64_t r = 0; r < some; ++r) to[r * row_distance_] = from[r];
      }
      row_plan_.execute(rows);
      for (std::int64_t r = std::max<std::int64_t>(0, wanted.first_row - y); r < some; ++r) {
        const Complex down = flat ? Complex(scale) : scale * turned(curved_turns(turns, y + r, n_));
        const Complex* const from = rows + r * row_distance_;
        Complex* const to = target + (y + r - wanted.first_row) * stride;
        for (std::int64_t x = 0; x < columns; ++x) {
          const Complex value =
              flat ? from[x] * scale : product(product(from[x], worker.curved[static_cast<std::size_t>(x)]), down);
          to[x] = first ? value : to[x] + value;
        }
      }
    }
  }

  Geometry geometry_;
  std::int64_t n_;
  std::int64_t column_distance_;
  std::int64_t row_distance_;
  fft::LinePlan<float> column_plan_;
  fft::LinePlan<float> row_plan_;
  std::vector<Worker> workers_;
};

}  // namespace

EnginePointer engine_cpu(const Geometry& geometry) { return std::make_unique<CpuEngine>(geometry); }

}  // namespace holotone::stereogram
