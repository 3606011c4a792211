#pragma once
// Sources of views: the library's, and objects of Python.
#include "functions.hpp"
#include <condition_variable>
#include <deque>
#include <exception>
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/layer_views.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <holotone/smoe/light_field_views.hpp>
#include <mutex>

namespace holotone::python {

/// Calls of Python that threads of the library ask for. The caller's thread makes them: it alone sees Ctrl-C.
class Questions {
 public:
  /// Of any thread, without the interpreter's lock: returns when `question` has been called. Throws cancelled if one
  /// has thrown.
  void ask(const std::function<void()>& question);
  /// Runs `work` in another thread and answers its questions, without the interpreter's lock. Throws what a question
  /// threw, a signal's handler raised, or the work threw.
  void answer(const std::function<void()>& work);

 private:
  struct Asked {
    const std::function<void()>& question;
    bool answered = false;
  };
  /// Of the caller's thread: calls what was asked, or looks for signals. Takes the lock for its own work.
  void serve(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Asked*> asked_;
  std::exception_ptr failure_;  ///< of a question, or a signal
  bool ended_ = false;
};

/// Any object with channels, has_distances and look(origin_x_m, ..., channel) of Python.
class PythonViews final : public ViewSource {
 public:
  explicit PythonViews(nb::handle object) : object_(nb::borrow(object)) {}
  [[nodiscard]] Questions& questions() { return questions_; }
  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override;
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

 private:
  nb::object object_;
  mutable Questions questions_;
};

template <>
class Argument<const ViewSource&> {
 public:
  static void describe(Signature& signature, const Name& name) { signature.add(name.text, "Any", {}, false); }
  Argument(Context& context, const Name& /*name*/);
  const ViewSource& get() { return own_ ? *own_ : *source_; }
  /// Who answers if the source is one of Python, else null.
  Questions* questions() { return own_ ? &own_->questions() : nullptr; }

 private:
  const ViewSource* source_ = nullptr;
  std::unique_ptr<PythonViews> own_;
};

}  // namespace holotone::python
