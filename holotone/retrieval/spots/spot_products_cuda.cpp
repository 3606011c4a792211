#include <holotone/core/cuda_check.hpp>
#include <holotone/retrieval/spots/spot_products_cuda.hpp>

namespace holotone::spots {

using cuda::MatrixElement;
using cuda::MatrixProductChoice;
using cuda::stream_of;

SpotProducts::SpotProducts(const Panel& panel, int first, int count, const Queue& queue, void* scratch)
    : panel_(panel),
      first_(first),
      count_(count),
      queue_(queue),
      scratch_(scratch),
      table_({static_cast<std::int64_t>(panel.planes()) * count * panel.width}, queue),
      transposed_({table_.size()}, queue),
      waves_({static_cast<std::int64_t>(panel.planes()) * count * panel.rows()}, queue),
      products_({waves_.size()}, queue),
      to_panel_(panel_shape(MatrixElement::float16), queue, scratch),
      from_panel_(
          {.rows = panel.rows(), .columns = count, .depth = panel.width, .batch = panel.planes(), .half_output = true},
          queue, static_cast<std::byte*>(scratch) + cuda::MatrixProduct::workspace_bytes) {}

cuda::MatrixProductShape SpotProducts::panel_shape(MatrixElement element) const {
  return {.element = element,
          .rows = panel_.rows(),
          .columns = panel_.width,
          .depth = count_,
          .batch = panel_.planes(),
          .half_output = true};
}

void SpotProducts::choose(MatrixProductChoice how, const __half* other, __half* sum) {
  if (how == MatrixProductChoice::timed && transposed_.data() != nullptr) {
    transposed_ = {};
    auto shape = panel_shape(MatrixElement::float16);
    shape.across_b = true;
    to_panel_ = cuda::MatrixProduct(shape, queue_, scratch_);
  }
  to_panel_.choose(how, waves_.data(), half_table(), sum);
  from_panel_.choose(how, other, table_.data(), products_.data());
}

bool SpotProducts::make_narrow(__half* sum) {
  narrow_ = Array<std::uint8_t, 1>({table_.size()}, queue_);
  to_panel_narrow_.emplace(panel_shape(MatrixElement::float8), queue_, scratch_);
  try {
    to_panel_narrow_->choose(MatrixProductChoice::timed, waves_.data(), narrow_.data(), sum);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device) throw;
    to_panel_narrow_.reset();
  }
  return has_narrow();
}

void SpotProducts::place(const float4* spots, WaveType type, const Queue& queue) {
  const auto* const some = spots + first_;
  fill_table(panel_, some, count_, table_.data(), stream_of(queue));
  void* const across = type == WaveType::fp8 ? static_cast<void*>(narrow_.data()) : transposed_.data();
  if (across != nullptr) fill_transposed(panel_, some, count_, type, across, stream_of(queue));
}

void SpotProducts::sum_over_spots(WaveType type, __half* sum) const {
  if (type == WaveType::fp8) {
    to_panel_narrow_->run(waves_.data(), narrow_.data(), sum, false);
  } else {
    to_panel_.run(waves_.data(), half_table(), sum, false);
  }
}

void SpotProducts::sum_over_columns(const __half* field) {
  from_panel_.run(field, table_.data(), products_.data(), false);
}

void SpotProducts::update(const SpotArrays& spots, const SpotUpdate& what, WaveType type, int multiprocessors) {
  update_spots(panel_, spots, count_, products_.data(), what, type, waves_.data(), multiprocessors, stream_of(queue_));
}

}  // namespace holotone::spots
