#include "by_hand.hpp"
#include "tables_generated.hpp"
#include <variant>

namespace holotone::python {
namespace {

/// One of the plans of C++: two or three dimensions, float32 or float64.
struct AnyNufft {
  using Plan = std::variant<NufftPlan<float, 2>, NufftPlan<float, 3>, NufftPlan<double, 2>, NufftPlan<double, 3>>;
  Plan plan;
  Queue queue;
  bool has_points = false;
  Turn turn{};

  void require_points(const std::string& function) const {
    if (!has_points) throw_argument(function, "points", "those of set_points before", "none");
  }

  static Plan make(const std::vector<std::int64_t>& modes, bool is_double, const Queue& queue,
                   const NufftOptions& options) {
    const auto of = [&]<class Real, std::size_t Rank>(std::type_identity<Real>,
                                                      std::integral_constant<std::size_t, Rank>) {
      Shape<Rank> shape;
      std::copy(modes.begin(), modes.end(), shape.begin());
      return Plan(NufftPlan<Real, Rank>(shape, queue, options));
    };
    using Two = std::integral_constant<std::size_t, 2>;
    using Three = std::integral_constant<std::size_t, 3>;
    if (modes.size() != 2 && modes.size() != 3) {
      throw_argument("NufftPlan", "modes", "two or three extents", fmt::format("{}", modes.size()));
    }
    if (is_double) {
      return modes.size() == 2 ? of(std::type_identity<double>{}, Two{}) : of(std::type_identity<double>{}, Three{});
    }
    return modes.size() == 2 ? of(std::type_identity<float>{}, Two{}) : of(std::type_identity<float>{}, Three{});
  }
};

/// Calls body(plan, Real, Rank) with the plan in use.
template <class Body>
auto with_plan(AnyNufft& self, const Body& body) {
  return std::visit(
      [&]<class Real, std::size_t Rank>(NufftPlan<Real, Rank>& plan) {
        return body(plan, Real{}, std::integral_constant<std::size_t, Rank>{});
      },
      self.plan);
}

/// Runs without the interpreter's lock, in the order of the caller's stream. `body` owns what it uses but the plan.
template <class Body>
void run(AnyNufft& self, const std::shared_ptr<Call>& call, const Body& body) {
  call->keep(nb::find(self));
  call->begin();
  call->job()->use(self.turn, Turn::By::own_method);
  call->before(self.queue);
  call->job()->run([call, body, queue = self.queue] {
    body();
    call->after(queue);
  });
}

template <class T, std::size_t Rank>
nb::object given_or_made(Call& call, nb::handle out, const Shape<Rank>& shape, Device device) {
  nb::object array =
      out.is_none() ? call.make({shape.begin(), shape.end()}, Element::of<T>(), device) : nb::borrow(out);
  call.keep(array);
  return array;
}

bool is_complex(nb::handle array) {
  if (!nb::hasattr(array, "dtype")) return true;
  return nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))).find("complex") != std::string::npos;
}

nb::object type1(AnyNufft& self, nb::handle strengths, nb::handle out, nb::handle stream) {
  const auto call = std::make_shared<Call>("NufftPlan.type1");
  self.require_points(call->function());
  call->set_stream(stream);
  return with_plan(self, [&]<class Real, std::size_t Rank>(NufftPlan<Real, Rank>& plan, Real,
                                                           std::integral_constant<std::size_t, Rank>) {
    using Value = std::complex<Real>;
    const auto both = [&]<class Strength>(std::type_identity<Strength>, const Shape<Rank>& shape) {
      const auto values = call->view<const Strength, 1>(strengths, "strengths");
      nb::object modes = given_or_made<Value, Rank>(*call, out, shape, self.queue.device());
      const auto view = call->view<Value, Rank>(modes, "out");
      run(self, call, [&plan, values, view] { plan.type1(values, view); });
      return call->finished(modes);
    };
    if (is_complex(strengths)) return both(std::type_identity<Value>{}, plan.shape());
    return both(std::type_identity<Real>{}, half_modes_shape<Rank>(plan.shape()));
  });
}

nb::object type2(AnyNufft& self, nb::handle modes, nb::handle is_real, nb::handle with_gradient, nb::handle out,
                 nb::handle stream) {
  const auto call = std::make_shared<Call>("NufftPlan.type2");
  const auto real = from_python<bool>(is_real, *call, "real");
  const auto gradient = from_python<bool>(with_gradient, *call, "gradient");
  self.require_points(call->function());
  call->set_stream(stream);
  return with_plan(self, [&]<class Real, std::size_t Rank>(NufftPlan<Real, Rank>& plan, Real,
                                                           std::integral_constant<std::size_t, Rank>) {
    using Value = std::complex<Real>;
    const auto spectrum = call->view<const Value, Rank>(modes, "modes");
    const auto both = [&]<class Result>(std::type_identity<Result>) -> nb::object {
      const std::int64_t count = plan.points();
      nb::object values = given_or_made<Result, 1>(*call, out, {count}, self.queue.device());
      const auto view = call->view<Result, 1>(values, "out");
      if (!gradient) {
        run(self, call, [&plan, spectrum, view] { plan.type2(spectrum, view); });
        return call->finished(values);
      }
      nb::object slopes =
          call->make({count, static_cast<std::int64_t>(Rank)}, Element::of<Result>(), self.queue.device());
      call->keep(slopes);
      const auto slope_view = call->view<Result, 2>(slopes, "gradient");
      run(self, call, [&plan, spectrum, view, slope_view] { plan.type2(spectrum, view, slope_view); });
      return nb::make_tuple(call->finished(values), call->finished(slopes));
    };
    return real ? both(std::type_identity<Real>{}) : both(std::type_identity<Value>{});
  });
}

/// Lines of overloads, the last of which help shows.
const char* overloads(const std::vector<std::string>& lines) {
  return kept_text(fmt::format("@overload\n{}", fmt::join(lines, ": ...\n@overload\n")));
}

const char* type1_text() {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& strengths, const std::string& modes) {
    lines.push_back(fmt::format("def type1(self, strengths: {}, *, out: {} | None = None, stream: Any = None) -> {}",
                                strengths, modes, modes));
  };
  add("NDArray[float32] | NDArray[complex64]", "NDArray[complex64]");
  add("NDArray[float64] | NDArray[complex128]", "NDArray[complex128]");
  add("OtherArray", "OtherArray");
  add("ArrayLike", "ArrayLike");
  return overloads(lines);
}

const char* type2_text() {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& modes, const std::string& values, const std::string& real, bool gradient) {
    // A flag of which the result depends has no default where it is True.
    lines.push_back(
        fmt::format("def type2(self, modes: {}, *, real: {}, gradient: {}, out: {} | None = None, "
                    "stream: Any = None) -> {}",
                    modes, real, gradient ? "Literal[True]" : "Literal[False] = False", values,
                    gradient ? fmt::format("tuple[{}, {}]", values, values) : values));
  };
  for (const bool gradient : {false, true}) {
    for (const auto& [modes, reals] : {std::pair{"complex64", "float32"}, std::pair{"complex128", "float64"}}) {
      add(fmt::format("NDArray[{}]", modes), fmt::format("NDArray[{}]", modes), "Literal[False] = False", gradient);
      add(fmt::format("NDArray[{}]", modes), fmt::format("NDArray[{}]", reals), "Literal[True]", gradient);
    }
    add("OtherArray", "OtherArray", "bool = False", gradient);
    add("ArrayLike", "ArrayLike", "bool = False", gradient);
  }
  lines.emplace_back(
      "def type2(self, modes: ArrayLike, *, real: bool = False, gradient: bool = False, out: ArrayLike | None = None, "
      "stream: Any = None) -> ArrayLike | tuple[ArrayLike, ArrayLike]");
  return overloads(lines);
}

}  // namespace

void bind_nufft_plan(nb::module_& module) {
  const auto signature = std::make_shared<Signature>();
  signature->add("modes", "Sequence[int]", {}, false);
  describe_members(*signature, aggregate_type<NufftOptions>());
  signature->add("dtype", "Literal['float32', 'float64']", nb::cast("float32"), true);
  signature->add("device", "str", nb::cast("cpu"), true);
  nb::class_<AnyNufft>(module, "NufftPlan", kept_text(std::string(documentation("NufftPlan"))))
      .def(
          "__init__",
          [signature](AnyNufft* self, const nb::args& args, const nb::kwargs& kwargs) {
            Call call("NufftPlan");
            Given given(*signature, "NufftPlan", args, kwargs, true);
            Context context{call, given};
            const auto modes = from_python<std::vector<std::int64_t>>(given.next(), call, "modes");
            const auto options = take_members<NufftOptions>(context);
            const auto dtype = from_python<std::string>(given.next(), call, "dtype");
            if (dtype != "float32" && dtype != "float64") {
              throw_argument("NufftPlan", "dtype", "float32 or float64", dtype);
            }
            const Queue queue = Queue::create(from_python<Device>(given.next(), call, "device"));
            const auto made = std::make_shared<std::optional<AnyNufft::Plan>>();
            call.begin();
            call.job()->run([made, modes, is_double = dtype == "float64", queue, options] {
              made->emplace(AnyNufft::make(modes, is_double, queue, options));
            });
            new (self) AnyNufft{std::move(**made), queue};
          },
          nb::sig(kept_text(signature->text("__init__", true, "None"))),
          kept_text("modes: (ny, nx) or (nz, ny, nx)." + signature->comments()))
      .def(
          "set_points",
          [](AnyNufft& self, nb::handle points, nb::handle stream) {
            const auto call = std::make_shared<Call>("NufftPlan.set_points");
            call->set_stream(stream);
            with_plan(self, [&]<class Real, std::size_t Rank>(NufftPlan<Real, Rank>& plan, Real,
                                                              std::integral_constant<std::size_t, Rank>) {
              const auto view = call->view<const Real, 2>(points, "points");
              run(self, call, [&plan, view] { plan.set_points(view); });
              self.has_points = true;
            });
          },
          nb::arg("points").none(), nb::kw_only(), nb::arg("stream").none() = nb::none(),
          nb::sig("def set_points(self, points: ArrayOf[float32] | ArrayOf[float64], *, stream: Any = None) -> None"),
          "Sets and sorts the points {count, 2} or {count, 3}, in periods, of the plan's dtype. Raises ArgumentError "
          "naming the first that is not finite.")
      .def("type1", &type1, nb::arg("strengths").none(), nb::kw_only(), nb::arg("out").none() = nb::none(),
           nb::arg("stream").none() = nb::none(), nb::sig(type1_text()),
           "Modes of the plan's shape from strengths {count}: F[k] = sum_j c_j exp(-2 pi i k.x_j). Real strengths give "
           "half the modes, k_x = 0 .. floor(n_x / 2), at half the cost; the others are their conjugates at -k.")
      .def("type2", &type2, nb::arg("modes").none(), nb::kw_only(), nb::arg("real").none() = false,
           nb::arg("gradient").none() = false, nb::arg("out").none() = nb::none(),
           nb::arg("stream").none() = nb::none(), nb::sig(type2_text()),
           "Values {count} at the points from modes of the plan's shape: c_j = sum_k F[k] exp(+2 pi i k.x_j). "
           "real=True: "
           "real values from half the modes (type1). gradient=True: returns (values, gradient), the latter {count, 2} "
           "or {count, 3} by the points' coordinates, per period.")
      .def_prop_ro(
          "shape",
          [](AnyNufft& self) {
            return with_plan(self, [](auto& plan, auto, auto) { return nb::object(to_python(plan.shape())); });
          },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("points",
                   [](AnyNufft& self) { return with_plan(self, [](auto& plan, auto, auto) { return plan.points(); }); })
      .def_prop_ro("workspace_bytes", [](AnyNufft& self) {
        return with_plan(self, [](auto& plan, auto, auto) { return plan.info().bytes; });
      });
}

}  // namespace holotone::python
