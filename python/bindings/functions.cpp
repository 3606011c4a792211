#include "functions.hpp"
#include <utility>

namespace holotone::python {

Refusals& refusals() {
  thread_local Refusals all;
  return all;
}

void refuse_values(bool last, const Error& error) {
  Refusals& all = refusals();
  if (!last) {
    if (!all.value) all.value = error;
    throw nb::next_overload();
  }
  const Refusals before = std::exchange(all, {});
  if (before.value) throw Error(*before.value);
  if (!before.missing.empty()) throw nb::type_error(before.missing.c_str());
  throw Error(error);
}

std::string documentation_of(std::string_view declaration, const Signature& signature) {
  std::string text(documentation(declaration));
  const std::string arguments = signature.comments();
  if (!arguments.empty()) text += (text.empty() ? "" : "\n\n") + ("Arguments:" + arguments);
  return text;
}

const char* signature_text(nb::handle scope, const char* name, bool method, const Function& function,
                           const std::string& result) {
  const bool alone = function.last && !nb::hasattr(scope, name);
  return kept_text(function.signature.text(name, method, result, alone));
}

namespace {

/// A call whose arrays the plan reads later: they live as long as it does, or till the method's next call.
class KeepingInvocation final : public Invocation {
 public:
  KeepingInvocation(std::unique_ptr<Invocation> call, const char* method, const Call& arrays, BoundState& state)
      : call_(std::move(call)), method_(method), arrays_(arrays), state_(state) {}
  void take(Context& context, const std::vector<Name>& names) override { call_->take(context, names); }
  void run() override {
    call_->run();
    const nb::gil_scoped_acquire lock;  // before another thread has its turn
    state_.kept[method_] = nb::cast(arrays_.held());
  }
  nb::object result() override { return call_->result(); }

 private:
  std::unique_ptr<Invocation> call_;
  const char* method_;
  const Call& arrays_;
  BoundState& state_;
};

/// Calls a function without the interpreter's lock and behind the caller's stream. Returns its result and the outputs.
nb::object invoke(const Function& function, const std::shared_ptr<Call>& call, Context& context, Turn* turn,
                  std::shared_ptr<Invocation> invocation) {
  call->begin(function.starts);
  try {
    invocation->take(context, function.parameters);
  } catch (const Error& error) {
    refuse_values(function.last, error);
  }
  refusals() = {};
  if (function.has_stream) call->set_stream(context.given.next());
  const Queue queue = context.queue.value_or(Queue());
  for (const auto& output : context.outputs) call->keep(output.array);
  if (turn) call->job()->use(*turn, Turn::By::own_method, context.looks);
  for (Turn* const one : context.turns) call->job()->use(*one, Turn::By::function);
  call->before(queue);
  const bool enqueues = turn && function.is_silent && call->enqueues(queue);
  call->job()->run(
      [call, invocation, queue] {
        invocation->run();
        call->after(queue);
      },
      !function.starts || enqueues || (context.looks && function.parameters.empty()));
  nb::list results;
  nb::object result = invocation->result();
  if (result.is_valid()) results.append(result);
  for (auto& [array, made] : context.outputs) {
    results.append(made ? call->finished(std::move(array)) : std::move(array));
  }
  if (nb::len(results) == 0) return nb::none();
  if (nb::len(results) == 1) return results[0];
  return nb::tuple(results);
}

}  // namespace

void define_function(nb::module_& module, const char* name, const char* documented, Function function,
                     const std::string& result, std::function<std::unique_ptr<Invocation>()> make) {
  const auto kept = std::make_shared<const Function>(std::move(function));
  module.def(
      name,
      [kept, make = std::move(make)](const nb::args& args, const nb::kwargs& kwargs) {
        const auto call = std::make_shared<Call>(kept->name);
        call->keep(args, kwargs);
        Given given(kept->signature, kept->name, args, kwargs, kept->last);
        Context context{*call, given};
        return invoke(*kept, call, context, nullptr, make());
      },
      nb::sig(signature_text(module, name, false, *kept, result)),
      kept_text(documentation_of(documented, kept->signature)));
}

nb::object call_method(const Method& method, BoundState& state, void* plan, nb::handle self, const nb::args& args,
                       const nb::kwargs& kwargs) {
  const Function& function = method.function;
  const auto call = std::make_shared<Call>(function.name);
  call->keep(args, kwargs, self);
  Given given(function.signature, function.name, args, kwargs, function.last);
  if (method.in_panel && state.pitch_m > 0 && state.wavelength_m > 0) {
    given.require_grid(function.name, function.last, state.pitch_m, state.wavelength_m);
  }
  Context context{*call, given, plan, state.queue};
  context.looks = method.is_const;
  context.all_rows = state.all_rows;
  std::unique_ptr<Invocation> invocation = method.make(plan);
  if (method.keeps) invocation = std::make_unique<KeepingInvocation>(std::move(invocation), method.name, *call, state);
  return invoke(function, call, context, &state.turn, std::move(invocation));
}

PanelState construct(const Function& function, const nb::args& args, const nb::kwargs& kwargs,
                     std::unique_ptr<Invocation> invocation) {
  const auto call = std::make_shared<Call>(function.name);
  call->keep(args, kwargs);
  Given given(function.signature, function.name, args, kwargs, function.last);
  Context context{*call, given};
  invoke(function, call, context, nullptr, std::move(invocation));
  return {context.queue.value_or(Queue()), given.number("pitch_m"), given.number("wavelength_m")};
}

}  // namespace holotone::python
