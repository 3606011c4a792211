#include "views.hpp"
#include "tables_generated.hpp"
#include <chrono>
#include <holotone/core/parallel.hpp>
#include <thread>

namespace holotone::python {

void Questions::ask(const std::function<void()>& question) {
  std::unique_lock lock(mutex_);
  Asked own{question};
  if (!failure_) {
    asked_.push_back(&own);
    changed_.notify_all();
    changed_.wait(lock, [&] { return own.answered; });
  }
  if (failure_) throw Error(ErrorCode::cancelled, "a source of views failed");
}

void Questions::serve(std::unique_lock<std::mutex>& lock) {
  Asked* const next = asked_.empty() ? nullptr : asked_.front();
  if (next) asked_.pop_front();
  if (!failure_) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (next) {
        const nb::gil_scoped_acquire held;
        next->question();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      } else {
        check_signals();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
  }
  if (next) {
    next->answered = true;
    changed_.notify_all();
  }
}

void Questions::answer(const std::function<void()>& work) {
  std::exception_ptr own;
  const int threads = thread_count();
  std::thread worker([&] {
    limit_threads(threads);
    try {
      work();
    } catch (...) {
      own = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  });
  {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended_ || !asked_.empty(); });
      if (!ended_) serve(lock);
    }
  }
  worker.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (own) std::rethrow_exception(own);
}

void answer(Questions& questions, const std::function<void()>& work) { questions.answer(work); }

int PythonViews::channels() const {
  int channels = 0;
  questions_.ask([&] {
    nb::object given = object_.attr("channels")();
    if (nb::try_cast(given, channels)) return;
    throw_argument("", "channels()", "int", nb::cast<std::string>(nb::repr(given)));
  });
  return channels;
}

bool PythonViews::has_distances() const {
  bool has = false;
  questions_.ask([&] { has = nb::cast<bool>(nb::bool_(nb::object(object_.attr("has_distances")()))); });
  return has;
}

void PythonViews::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  questions_.ask([&] {
    CallbackArgument<View<float, 2>> seen(intensity);
    CallbackArgument<View<float, 2>> far(distance_m);
    object_.attr("look")(rays, channel, seen.object, far.object);
    seen.finish();
    far.finish();
  });
}

Argument<const ViewSource&>::Argument(Context& context, const Name& /*name*/) {
  const nb::handle value = context.given.next();
  const auto take = [&]<class Source>(const Bound<Source>* bound) {
    if (!source_ && nb::try_cast(value, bound) && bound) source_ = bound->plan.get();
  };
  take(static_cast<const Bound<ViewGrid>*>(nullptr));
  take(static_cast<const Bound<LayerViews>*>(nullptr));
  take(static_cast<const Bound<DiceScene>*>(nullptr));
  take(static_cast<const Bound<LightFieldViews>*>(nullptr));
  if (source_) return;
  if (!nb::hasattr(value, "look") || !nb::hasattr(value, "channels") || !nb::hasattr(value, "has_distances")) {
    throw_argument(context.call.function(), context.given.name(),
                   "a source of views: ViewGrid, LayerViews, DiceScene, LightFieldViews, or an object with channels(), "
                   "has_distances() and look(rays, channel, intensity, distance_m)",
                   nb::cast<std::string>(nb::repr(value)));
  }
  own_ = std::make_unique<PythonViews>(value);
}

std::vector<std::int64_t> extents_of(const Dots& /*dots*/, std::string_view member) {
  if (member == "position") return {2};
  return {};
}

std::vector<std::int64_t> extents_of(const SmoeModel& model, std::string_view member) {
  if (member == "centre") return {model.dimensions};
  if (member == "covariance") return {triangle_size(model.dimensions)};
  if (member == "colour") return {model.channels};
  if (member == "slope") return {model.channels, model.dimensions};
  return {};
}

std::vector<std::int64_t> extents_of(const SmoeGradient& gradient, std::string_view member) {
  const auto count = static_cast<std::int64_t>(gradient.log_weight.size());
  const std::int64_t channels = count ? static_cast<std::int64_t>(gradient.colour.size()) / count : 1;
  if (member == "centre") return {2};
  if (member == "covariance") return {3};
  if (member == "colour") return {channels};
  if (member == "slope") return {channels, 2};
  return {};
}

SlicedPicture copied(const SlicedPicture& picture) {
  return {copy_of(picture.intensity.view(), {}), copy_of(picture.layer.view(), {}), picture.distance_m, picture.beyond};
}

}  // namespace holotone::python
