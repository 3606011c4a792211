// Lossless models: file header, and floats as whole numbers of the same order.
#include <bit>
#include <holotone/smoe/codec/codec_detail.hpp>

namespace holotone::smoe {

SmoeModel empty_model(const SmoeFileInfo& info) {
  SmoeModel model;
  model.dimensions = info.dimensions;
  model.channels = info.channels;
  model.low = info.low;
  model.high = info.high;
  model.linear = info.linear;
  const auto count = static_cast<std::size_t>(info.count);
  const auto d = static_cast<std::size_t>(info.dimensions);
  const auto q = static_cast<std::size_t>(info.channels);
  model.log_weight.resize(count);
  model.centre.resize(count * d);
  model.covariance.resize(count * (d * (d + 1) / 2));
  model.colour.resize(count * q);
  model.slope.resize(count * q * d);
  return model;
}

SmoeFileInfo make_info(const SmoeModel& model) {
  SmoeFileInfo info;
  info.dimensions = model.dimensions;
  info.channels = model.channels;
  info.linear = model.linear;
  info.count = model.count();
  for (int axis = 0; axis < model.dimensions; ++axis) {
    info.low[static_cast<std::size_t>(axis)] = model.low[static_cast<std::size_t>(axis)];
    info.high[static_cast<std::size_t>(axis)] = model.high[static_cast<std::size_t>(axis)];
  }
  return info;
}

namespace {

/// Calls body(float) for the floats of component j, in the order of CodedLayout.
template <class Model, class Body>
void over_floats(Model& model, std::int64_t j, const Body& body) {
  const int d = model.dimensions;
  const int q = model.channels;
  for (int k = 0; k < d; ++k) body(model.centre[static_cast<std::size_t>(j * d + k)]);
  body(model.log_weight[static_cast<std::size_t>(j)]);
  const int triangle = triangle_size(d);
  for (int k = 0; k < triangle; ++k) body(model.covariance[static_cast<std::size_t>(j * triangle + k)]);
  for (int k = 0; k < q; ++k) body(model.colour[static_cast<std::size_t>(j * q + k)]);
  for (int k = 0; k < q * d; ++k) body(model.slope[static_cast<std::size_t>(j * q * d + k)]);
}

/// Maps the bits of floats to whole numbers of the same order; its own inverse.
std::int32_t ordered(std::int32_t bits) { return bits < 0 ? bits ^ 0x7fffffff : bits; }

}  // namespace

CodedModel exact_numbers(const SmoeModel& model) {
  CodedModel coded;
  coded.info = make_info(model);
  coded.info.lossless = true;
  coded.values.reserve(static_cast<std::size_t>(model.count() * coded.layout().size()));
  for (std::int64_t j = 0; j < model.count(); ++j) {
    over_floats(model, j, [&](float value) { coded.values.push_back(ordered(std::bit_cast<std::int32_t>(value))); });
  }
  return coded;
}

SmoeModel exact_floats(const CodedModel& coded) {
  SmoeModel model = empty_model(coded.info);
  const std::int32_t* next = coded.values.data();
  for (std::int64_t j = 0; j < model.count(); ++j) {
    over_floats(model, j, [&](float& value) { value = std::bit_cast<float>(ordered(*next++)); });
  }
  return model;
}

}  // namespace holotone::smoe
