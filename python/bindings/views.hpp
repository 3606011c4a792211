#pragma once
// Sources of views: the library's, and objects of Python.
#include "functions.hpp"
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/layer_views.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <holotone/smoe/light_field_views.hpp>

namespace holotone::python {

/// Any object with channels, has_distances and look(origin_x_m, ..., channel) of Python.
class PythonViews final : public ViewSource {
 public:
  PythonViews(nb::handle object, std::shared_ptr<Job> job) : object_(nb::borrow(object)), job_(std::move(job)) {
    job_->calls_python();
  }
  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override;
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

 private:
  nb::object object_;
  std::shared_ptr<Job> job_;
};

template <>
class Argument<const ViewSource&> {
 public:
  static void describe(Signature& signature, const Name& name) { signature.add(name.text, "Any", {}, false); }
  Argument(Context& context, const Name& /*name*/);
  const ViewSource& get() { return own_ ? *own_ : *source_; }

 private:
  const ViewSource* source_ = nullptr;
  std::unique_ptr<PythonViews> own_;
};

}  // namespace holotone::python
