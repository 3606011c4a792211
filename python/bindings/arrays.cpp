#include "values.hpp"
#include <algorithm>
#include <clocale>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <unordered_map>

namespace holotone::python {
namespace {

/// Head of DLPack's DLManagedTensorVersioned.
struct VersionedTensor {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;  ///< 1: read-only
  nb::dlpack::dltensor tensor;
};

constexpr int dlpack_cpu = nb::device::cpu::value;
constexpr int dlpack_cuda = nb::device::cuda::value;
constexpr int dlpack_cuda_host = nb::device::cuda_host::value;
constexpr auto complex_code = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);

const std::vector<Element>& elements() {
  static const std::vector<Element> all = {
      Element::of<float>(),        Element::of<double>(),        Element::of<std::complex<float>>(),
      Element::of<std::uint8_t>(), Element::of<std::uint16_t>(), Element::of<std::complex<double>>(),
      Element::of<std::int32_t>(), Element::of<std::uint32_t>(), Element::of<std::int64_t>(),
  };
  return all;
}

std::string type_name(const nb::dlpack::dtype& type) {
  for (const Element& one : elements()) {
    if (one == Element{type, ""}) return one.name;
  }
  const char* const codes[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  return fmt::format("{}{}", type.code < std::size(codes) ? codes[type.code] : "code", int{type.bits});
}

/// Package of a type, looked up once for each.
std::optional<Kind> find_kind(nb::handle array) {
  static std::unordered_map<PyTypeObject*, std::optional<Kind>> known;
  PyTypeObject* const type = Py_TYPE(array.ptr());
  const auto place = known.find(type);
  if (place != known.end()) return place->second;
  std::optional<Kind> kind;
  // A type that its module has not made ready has no list.
  const nb::tuple bases = type->tp_mro ? nb::borrow<nb::tuple>(type->tp_mro) : nb::tuple();
  for (const nb::handle base : bases) {  // a subclass is of its base's package
    const auto name = nb::cast<std::string>(nb::str(nb::object(base.attr("__module__"))));
    const std::string package = name.substr(0, name.find('.'));
    if (package == "numpy") kind = Kind::numpy;
    if (package == "torch") kind = Kind::torch;
    if (package == "cupy") kind = Kind::cupy;
    if (package == "jax" || package == "jaxlib") kind = Kind::jax;
    if (kind) break;
  }
  if (nb::isinstance<OwnArray>(array)) kind = Kind::holotone;
  Py_INCREF(type);  // so that its address names no other type
  known.emplace(type, kind);
  return kind;
}

/// How to convert an array of a kind to a type.
std::string conversion(std::optional<Kind> kind, const char* name) {
  if (kind == Kind::torch) return fmt::format("convert it with x.to(torch.{})", name);
  if (kind == Kind::numpy || kind == Kind::cupy || kind == Kind::jax) {
    return fmt::format("convert it with x.astype(\"{}\")", name);
  }
  return "convert it first";
}

std::string class_name(nb::handle value) {
  const std::string full = Py_TYPE(value.ptr())->tp_name;
  return full.substr(full.rfind('.') + 1);
}

/// Why an array was not read: its type, or the type of its elements.
std::string not_read(nb::handle array, std::optional<Kind> kind) {
  if (kind != Kind::numpy || !nb::hasattr(array, "dtype")) return class_name(array);
  return fmt::format("{} of {}", class_name(array), shown(array.attr("dtype")));
}

/// An array as DLPack or the buffer protocol describe it.
struct Imported {
  nb::ndarray<nb::ro> array;
  bool is_read_only = false;
};

/// False for extents that no memory has, and addresses that no array has.
bool is_sound(const void* data, std::int64_t axes, const std::int64_t* shape, std::int64_t bits) {
  if (axes < 0 || axes > 64 || (axes > 0 && !shape)) return false;
  std::int64_t size = std::max<std::int64_t>(bits / 8, 1);
  bool is_empty = false;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    if (shape[axis] < 0) return false;
    is_empty = is_empty || shape[axis] == 0;
    if (!is_empty && __builtin_mul_overflow(size, shape[axis], &size)) return false;
  }
  return is_empty || data;
}

/// Type of a buffer's elements by its format, as the module struct writes it, in the machine's byte order.
std::optional<nb::dlpack::dtype> type_of(std::string_view format, std::size_t bytes) {
  if (format.size() > 1 && (format[0] == '@' || format[0] == '=' || format[0] == '<')) format.remove_prefix(1);
  const bool is_complex = format.size() == 2 && format[0] == 'Z';
  if (is_complex) format.remove_prefix(1);
  if (format.size() != 1 || bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0) return std::nullopt;
  nb::dlpack::dtype type{};
  type.bits = static_cast<std::uint8_t>(8 * bytes);
  type.lanes = 1;
  const bool is_float = std::string_view("efd").find(format[0]) != std::string_view::npos;
  const auto of = [&](nb::dlpack::dtype_code code) {
    type.code = static_cast<std::uint8_t>(code);
    return type;
  };
  if (is_complex) return is_float ? std::optional(of(nb::dlpack::dtype_code::Complex)) : std::nullopt;
  if (is_float) return of(nb::dlpack::dtype_code::Float);
  const bool is_byte = std::string_view("cbB").find(format[0]) != std::string_view::npos;
  if (is_byte && bytes != 1) return std::nullopt;
  if (std::string_view("bhilqn").find(format[0]) != std::string_view::npos) return of(nb::dlpack::dtype_code::Int);
  if (std::string_view("BHILQN").find(format[0]) != std::string_view::npos) return of(nb::dlpack::dtype_code::UInt);
  if (format == "?") return of(nb::dlpack::dtype_code::Bool);
  return std::nullopt;
}

/// By the buffer protocol. A view of memory takes the buffer, and states strides if its owner does not.
std::optional<Imported> from_buffer(nb::handle array) {
  nb::object memory = nb::steal(PyMemoryView_FromObject(array.ptr()));
  if (!memory.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  const Py_buffer& buffer = *PyMemoryView_GET_BUFFER(memory.ptr());
  const auto type = type_of(buffer.format ? buffer.format : "B", static_cast<std::size_t>(buffer.itemsize));
  if (!type || buffer.suboffsets || buffer.ndim < 0 || buffer.ndim > 64) return std::nullopt;
  const auto axes = static_cast<std::size_t>(buffer.ndim);
  if (axes > 0 && (!buffer.shape || !buffer.strides)) return std::nullopt;
  const std::vector<std::int64_t> shape(buffer.shape, buffer.shape + axes);
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (buffer.strides[axis] % buffer.itemsize != 0) return std::nullopt;
    strides.push_back(buffer.strides[axis] / buffer.itemsize);
  }
  if (!is_sound(buffer.buf, buffer.ndim, shape.data(), type->bits)) return std::nullopt;
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  return Imported{nb::ndarray<nb::ro>(buffer.buf, axes, extents.data(), memory, strides.data(), *type, dlpack_cpu, 0),
                  buffer.readonly != 0};
}

/// By a capsule of DLPack, which nanobind takes at its word.
std::optional<Imported> from_capsule(nb::handle capsule) {
  const bool is_versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0;
  if (!is_versioned && PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) return std::nullopt;
  const auto is_sound_tensor = [](const nb::dlpack::dltensor& tensor) {
    return tensor.dtype.lanes == 1 && is_sound(tensor.data, tensor.ndim, tensor.shape, tensor.dtype.bits);
  };
  Imported imported;
  if (is_versioned) {
    const auto& all = *static_cast<const VersionedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (all.major != 1 || !is_sound_tensor(all.tensor)) return std::nullopt;
    imported.is_read_only = (all.flags & 1U) != 0;
  } else if (!is_sound_tensor(
                 *static_cast<const nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")))) {
    return std::nullopt;
  }
  if (!nb::try_cast(capsule, imported.array, false) || !imported.array.is_valid()) return std::nullopt;
  return imported;
}

/// What __dlpack__ returns, or an object without value.
nb::object dlpack_of(nb::handle array) {
  const nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())));
  if (!nb::hasattr(type, "__dlpack__")) return {};
  try {
    return array.attr("__dlpack__")();
  } catch (const nb::python_error&) {  // of read-only memory: a capsule that says so
    try {
      return array.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (const nb::python_error&) {
      return {};
    }
  }
}

bool is_contiguous(const nb::ndarray<nb::ro>& array) {
  if (array.size() == 0) return true;
  std::int64_t step = 1;
  for (std::size_t axis = array.ndim(); axis-- > 0;) {
    if (array.shape(axis) != 1 && array.stride(axis) != step) return false;
    step *= static_cast<std::int64_t>(array.shape(axis));
  }
  return true;
}

nb::tuple tuple_of(const std::vector<std::int64_t>& shape) { return nb::tuple(nb::cast(shape)); }

/// Refuses tensors whose memory is not their values, or whose gradient would be lost.
void require_plain_tensor(const std::string& function, const std::string& argument, nb::handle tensor) {
  if (nb::cast<bool>(tensor.attr("requires_grad"))) {
    throw_argument(function, argument,
                   "a tensor that does not require a gradient (holotone.torch has functions with gradients)",
                   "one that does: detach it with x.detach()");
  }
  constexpr const char* expected = "a tensor with values of its own";
  if (nb::cast<bool>(tensor.attr("is_conj")())) {
    throw_argument(function, argument, expected, "a conjugated view: x.resolve_conj()");
  }
  if (nb::cast<bool>(tensor.attr("is_neg")())) {
    throw_argument(function, argument, expected, "a negated view: x.resolve_neg()");
  }
}

/// What DLPack is read from. PyTorch's `__dlpack__` is a function of Python and takes 8 times as long as the one below
/// it, which neither checks the tensor nor waits for a stream.
nb::object exported(const nb::object& array, std::optional<Kind> kind) {
  if (kind != Kind::torch) return array;
  static PyObject* const to_dlpack =
      nb::object(nb::module_::import_("torch.utils.dlpack").attr("to_dlpack")).release().ptr();
  nb::object capsule = nb::steal(PyObject_CallOneArg(to_dlpack, array.ptr()));
  if (capsule.is_valid()) return capsule;
  PyErr_Clear();  // a tensor without strides: __dlpack__ says so
  return array;
}

/// An array of any package; none for what is no array, or one that cannot be read.
std::optional<Imported> import_array(const nb::object& array, std::optional<Kind> kind) {
  nb::object capsule = exported(array, kind);
  if (PyCapsule_CheckExact(capsule.ptr()) == 0) capsule = dlpack_of(array);
  if (capsule.is_valid() && PyCapsule_CheckExact(capsule.ptr()) != 0) return from_capsule(capsule);
  if (PyObject_CheckBuffer(array.ptr()) == 0) return std::nullopt;
  return from_buffer(array);
}

/// False for memory that is known to be read-only: by the buffer protocol, or NumPy's interface.
bool is_writable(nb::handle array) {
  if (PyObject_CheckBuffer(array.ptr())) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE | PyBUF_STRIDES) != 0) {
      PyErr_Clear();
      return false;
    }
    PyBuffer_Release(&buffer);
    return true;
  }
  if (!nb::hasattr(array, "__array_interface__")) return true;
  return !nb::cast<bool>(nb::bool_(nb::object(array.attr("__array_interface__")["data"][1])));
}

/// Address of a stream: of PyTorch, of CuPy, of any package with __cuda_stream__, or a number.
void* stream_address(nb::handle stream) {
  const auto from = [](nb::handle number) { return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number)); };
  if (nb::isinstance<nb::int_>(stream)) return from(stream);
  if (nb::hasattr(stream, "__cuda_stream__")) return from(stream.attr("__cuda_stream__")()[1]);
  if (nb::hasattr(stream, "cuda_stream")) return from(stream.attr("cuda_stream"));
  return from(stream.attr("ptr"));
}

/// The stream on which a package works now.
void* current_stream(Kind kind, Device device) {
  if (kind == Kind::torch) {
    // The same as torch.cuda.current_stream, without an object around it.
    nb::object binding = nb::module_::import_("torch").attr("_C");
    if (nb::hasattr(binding, "_cuda_getCurrentRawStream")) {
      return stream_address(binding.attr("_cuda_getCurrentRawStream")(device.index));
    }
    return stream_address(nb::module_::import_("torch").attr("cuda").attr("current_stream")(device.index));
  }
  if (kind == Kind::cupy) return stream_address(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")());
  return nullptr;
}

}  // namespace

std::string shown(nb::handle value) {
  std::string text;
  nb::object repr = nb::steal(PyObject_Repr(value.ptr()));
  const char* const utf8 = repr.is_valid() ? PyUnicode_AsUTF8(repr.ptr()) : nullptr;
  if (utf8) {
    text = utf8;
  } else {
    PyErr_Clear();
    text = fmt::format("an object of {}", class_name(value));
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= 60) return text;
  std::size_t end = 57;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // no part of a character
  return text.substr(0, end) + "...";
}

std::optional<Element> Element::named(std::string_view name) {
  for (const Element& one : elements()) {
    if (name == one.name) return one;
  }
  return std::nullopt;
}

OwnArray::OwnArray(std::vector<std::int64_t> shape_, Element element_, Device device)
    : shape(std::move(shape_)), element(element_), queue(device) {
  std::int64_t bytes = static_cast<std::int64_t>(element.bytes());
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw_argument("Array", "shape", "extents >= 0 whose product fits in memory", fmt::format("{}", shape));
    }
  }
  memory = std::make_shared<Array<std::byte, 1>>(Shape<1>{bytes}, queue);
}

Call::Call(std::string function) : function_(std::move(function)), locale_(std::setlocale(LC_ALL, nullptr)) {}

Call::~Call() {
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
}

void Call::refuse(const std::string& argument, const std::string& expected, const std::string& got) const {
  throw_argument(function_, argument, expected, got);
}

Kind Call::kind(Device device) const {
  if (kind_ && !(*kind_ == Kind::numpy && device.backend != Backend::cpu)) return *kind_;
  return device.backend == Backend::cpu ? Kind::numpy : Kind::holotone;
}

Memory Call::take(nb::handle array, const std::string& argument, const Element& element, std::size_t rank,
                  bool writable) {
  const auto refuse_type = [&](const std::string& got) {
    refuse(argument, fmt::format("an array of {} with {} {}", element.name, rank, rank == 1 ? "axis" : "axes"), got);
  };
  nb::object holder = nb::borrow(array);
  auto kind = find_kind(holder);
  if (!kind && nb::hasattr(array, "_holotone_values_")) {
    holder = array.attr("_holotone_values_");
    kind = find_kind(holder);
  }
  if (kind == Kind::holotone && !nb::inst_ready(holder)) refuse_type("an Array that was not made");
  if (kind == Kind::holotone) {
    const auto& array = nb::cast<const OwnArray&>(holder);
    if (!(array.element == element)) refuse_type(array.element.name);
    if (array.shape.size() != rank) refuse_type(fmt::format("{} axes", array.shape.size()));
    if (!kind_ || array.queue.device().backend != Backend::cpu) kind_ = Kind::holotone;
    held_.push_back(holder);
    require_apart({array.memory->data(), array.memory->bytes(), writable}, argument);
    return {array.memory->data(), array.shape, array.queue.device()};
  }
  if (kind == Kind::torch) require_plain_tensor(function_, argument, holder);
  std::optional<Imported> found = import_array(holder, kind);
  if (!found) refuse_type(not_read(holder, kind));
  nb::ndarray<nb::ro>& imported = found->array;
  if (!(Element{imported.dtype(), ""} == element)) {
    refuse_type(fmt::format("{}: {}", type_name(imported.dtype()), conversion(kind, element.name)));
  }
  if (imported.ndim() != rank) refuse_type(fmt::format("{} axes", imported.ndim()));
  if (!is_contiguous(imported)) {
    const bool torch = kind == Kind::torch;
    refuse(argument, "a contiguous array in row-major order",
           torch ? "another layout: x.contiguous() copies it" : "another layout: numpy.ascontiguousarray(x) copies it");
  }
  if (reinterpret_cast<std::uintptr_t>(imported.data()) %
          (element.type.code == complex_code ? element.bytes() / 2 : element.bytes()) !=
      0) {
    refuse(argument, "memory aligned to its elements", "another: x.copy() aligns it");
  }
  Memory memory;
  memory.data = const_cast<void*>(static_cast<const void*>(imported.data()));
  for (std::size_t axis = 0; axis < rank; ++axis)
    memory.shape.push_back(static_cast<std::int64_t>(imported.shape(axis)));
  switch (imported.device_type()) {
    case dlpack_cpu:
    case dlpack_cuda_host: break;
    case dlpack_cuda: memory.device = {Backend::cuda, imported.device_id()}; break;
    default:
      refuse(argument, "an array in host memory or on a CUDA device",
             fmt::format("one on a device of DLPack's type {}", imported.device_type()));
  }
  if (writable) {
    const bool is_other = kind != Kind::numpy && kind != Kind::jax && kind != Kind::torch && kind != Kind::cupy;
    if (found->is_read_only || (is_other && !is_writable(holder))) {
      refuse(argument, "an array that can be written", "a read-only one");
    }
    if (kind == Kind::jax) refuse(argument, "an array that can be written", "one of JAX, which never changes");
    if (kind == Kind::numpy && !nb::cast<bool>(holder.attr("flags").attr("writeable"))) {
      refuse(argument, "an array that can be written", "a read-only one");
    }
  }
  const bool on_host = memory.device.backend == Backend::cpu;
  has_host_arrays_ = has_host_arrays_ || on_host;
  if (!kind_ || !on_host) kind_ = kind;
  require_apart({memory.data, imported.nbytes(), writable}, argument);
  if (!on_host && kind == Kind::jax) holder.attr("block_until_ready")();
  imported_.push_back(std::move(imported));
  held_.push_back(std::move(holder));
  // An empty array may have no address, but it is there.
  static char nothing = 0;
  if (memory.data == nullptr) memory.data = &nothing;
  return memory;
}

void Call::require_apart(const Range& range, const std::string& argument) {
  const auto* const begin = static_cast<const std::byte*>(range.begin);
  for (const Range& other : ranges_) {
    const auto* const from = static_cast<const std::byte*>(other.begin);
    const bool overlap = std::less<>{}(begin, from + other.bytes) && std::less<>{}(from, begin + range.bytes);
    if (!overlap || !(range.written || other.written)) continue;
    if (begin == from && range.bytes == other.bytes) continue;  // the same array: methods say whether it may be
    refuse(argument, "memory of its own, or the whole of another argument", "a part of another argument's");
  }
  ranges_.push_back(range);
}

nb::object Call::make(const std::vector<std::int64_t>& shape, Element element, Device device) {
  made_of_ = kind(device);
  switch (made_of_) {
    case Kind::jax:
      if (device.backend != Backend::cpu) break;
      [[fallthrough]];
    case Kind::numpy: return nb::module_::import_("numpy").attr("empty")(tuple_of(shape), element.name);
    case Kind::torch: {
      nb::object torch = nb::module_::import_("torch");
      return torch.attr("empty")(tuple_of(shape), nb::arg("dtype") = torch.attr(element.name),
                                 nb::arg("device") = to_string(device));
    }
    case Kind::cupy: {
      nb::object cupy = nb::module_::import_("cupy");
      nb::object scope = cupy.attr("cuda").attr("Device")(device.index);
      scope.attr("__enter__")();
      nb::object made = cupy.attr("empty")(tuple_of(shape), element.name);
      scope.attr("__exit__")(nb::none(), nb::none(), nb::none());
      return made;
    }
    case Kind::holotone: break;
  }
  return nb::cast(OwnArray(shape, element, device));
}

nb::object Call::finished(nb::object array) const {
  if (made_of_ != Kind::jax) return array;
  return nb::module_::import_("jax").attr("dlpack").attr("from_dlpack")(array);
}

void Call::set_stream(nb::handle stream) {
  if (stream.is_none()) return;
  try {
    stream_ = stream_address(stream);
  } catch (const std::exception&) {
    refuse("stream", "None, an address, or a stream of PyTorch, CuPy or a package with __cuda_stream__", shown(stream));
  }
}

Queue Call::caller(Device device) const {
  if (device.backend != Backend::cuda) return {device};
  return Queue::borrow(device, stream_ ? *stream_ : current_stream(kind_.value_or(Kind::holotone), device));
}

void Call::before(const Queue& queue) {
  const Device device = queue.device();
  if (device.backend == Backend::cpu) return;
  caller_ = caller(device);
  queue.wait_for(*caller_);
}

void Call::after(const Queue& queue) const {
  if (!caller_) return;
  if (waits()) {
    queue.synchronize();
  } else {
    caller_->wait_for(queue);
  }
}

namespace {

nb::object host_copy(const OwnArray& array) {
  nb::object made = nb::module_::import_("numpy").attr("empty")(tuple_of(array.shape), array.element.name);
  if (array.memory->size() == 0) return made;
  Call call("Array.numpy");
  call.begin();
  call.job()->run([target = nb::cast<nb::ndarray<>>(made), memory = array.memory, queue = array.queue] {
    copy_bytes(target.data(), {}, memory->data(), queue.device(), memory->bytes(), queue);
    queue.synchronize();
  });
  return made;
}

OwnArray device_copy(const char* function, nb::handle array, nb::handle device_name) {
  Call call(function);
  call.begin();
  const auto device = from_python<Device>(device_name, call, "device");
  if (nb::isinstance<OwnArray>(array)) {
    if (!nb::inst_ready(array)) throw_argument(function, "array", "an array", "an Array that was not made");
    const auto& owner = nb::cast<const OwnArray&>(array);
    OwnArray made(owner.shape, owner.element, device);
    call.job()->run([to = made.memory, from = owner.memory, device, from_device = owner.queue.device(),
                     queue = device.backend == Backend::cpu ? owner.queue : made.queue] {
      copy_bytes(to->data(), device, from->data(), from_device, from->bytes(), queue);
      queue.synchronize();
    });
    return made;
  }
  if (find_kind(array) == Kind::torch) require_plain_tensor("copy_of", "array", array);
  const std::optional<Imported> found = import_array(nb::borrow(array), find_kind(array));
  if (!found) throw_argument(function, "array", "an array", not_read(array, find_kind(array)));
  const nb::ndarray<nb::ro>& source = found->array;
  const auto element = Element::named(type_name(source.dtype()));
  if (!element) throw_argument(function, "array", "numbers of a type of this package", type_name(source.dtype()));
  if (!is_contiguous(source)) throw_argument(function, "array", "a contiguous array in row-major order", "another");
  if (source.device_type() != dlpack_cpu && source.device_type() != dlpack_cuda_host) {
    throw_argument(function, "array", "an array in host memory or of holotone", "one on a GPU");
  }
  std::vector<std::int64_t> shape;
  for (std::size_t axis = 0; axis < source.ndim(); ++axis)
    shape.push_back(static_cast<std::int64_t>(source.shape(axis)));
  OwnArray made(shape, *element, device);
  call.job()->run([to = made.memory, source, device, queue = made.queue] {
    copy_bytes(to->data(), device, source.data(), {}, to->bytes(), queue);
    queue.synchronize();
  });
  return made;
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<OwnArray>(module, "Array",
                       "Array on a device of Holotone, for those without a package of their own. "
                       "Other packages take it by DLPack (CPU and CUDA).")
      .def(
          "__init__",
          [](OwnArray* self, nb::handle shape, nb::handle dtype, nb::handle device) {
            Call call("Array");
            const auto name = from_python<std::string>(dtype, call, "dtype");
            const auto element = Element::named(name);
            if (!element) throw_argument("Array", "dtype", "float32, complex64, uint8, uint16, ...", name);
            std::vector<std::int64_t> extents;
            if (!nb::try_cast(shape, extents)) throw_argument("Array", "shape", "a sequence of extents", shown(shape));
            new (self) OwnArray(extents, *element, from_python<Device>(device, call, "device"));
          },
          nb::arg("shape").none(), nb::arg("dtype").none() = "float32", nb::kw_only(), nb::arg("device").none() = "cpu",
          nb::sig("def __init__(self, shape: Sequence[int], dtype: str = 'float32', *, device: str = 'cpu') -> None"),
          "Allocates uninitialised memory.")
      .def_prop_ro(
          "shape", [](const OwnArray& array) { return tuple_of(array.shape); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("dtype", [](const OwnArray& array) { return std::string(array.element.name); })
      .def_prop_ro("device", [](const OwnArray& array) { return to_string(array.queue.device()); })
      .def("numpy", &host_copy, nb::sig("def numpy(self) -> NDArray[Any]"),
           "Returns a copy in host memory, after all work on it.")
      .def(
          "to", [](nb::handle self, nb::handle device) { return device_copy("Array.to", self, device); },
          nb::arg("device").none(), nb::sig("def to(self, device: str) -> Array"),
          "Returns a copy on another device, or on the same.")
      .def("__repr__",
           [](nb::handle self) {
             if (!nb::inst_ready(self)) return std::string("holotone.Array(not made)");
             const auto& array = nb::cast<const OwnArray&>(self);
             return fmt::format("holotone.Array(shape=({}), dtype={}, device={})", fmt::join(array.shape, ", "),
                                array.element.name, to_string(array.queue.device()));
           })
      .def(
          "__array__",
          [](const OwnArray& array, const nb::args& /*dtype*/, const nb::kwargs& /*copy*/) {
            if (array.queue.device().backend != Backend::cpu) {
              throw_argument("Array.__array__", "device", "cpu",
                             to_string(array.queue.device()) + ": numpy() copies it");
            }
            return host_copy(array);
          },
          nb::sig("def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]"))
      .def(
          "__dlpack_device__",
          [](const OwnArray& array) {
            const Device device = array.queue.device();
            const int type = device.backend == Backend::cuda ? dlpack_cuda : dlpack_cpu;
            return nb::make_tuple(type, device.backend == Backend::cuda ? device.index : 0);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__dlpack__", [](nb::handle self, const nb::kwargs& options) {
        const auto& array = nb::cast<const OwnArray&>(self);
        const Device device = array.queue.device();
        if (device.backend == Backend::opencl) {
          throw_unsupported("Array.__dlpack__", "device", "cpu or cuda", to_string(device) + ": copy it with numpy()");
        }
        array.queue.synchronize();
        std::vector<std::size_t> shape(array.shape.begin(), array.shape.end());
        const int type = device.backend == Backend::cuda ? dlpack_cuda : dlpack_cpu;
        nb::ndarray<nb::array_api> exported(array.memory->data(), shape.size(), shape.data(), self, nullptr,
                                            array.element.type, type, device.index);
        return nb::cast(exported).attr("__dlpack__")(**options);
      });
  module.def(
      "copy_of", [](nb::handle array, nb::handle device) { return device_copy("copy_of", array, device); },
      nb::arg("array").none(), nb::kw_only(), nb::arg("device").none() = "cpu",
      nb::sig("def copy_of(array: ArrayLike, *, device: str = 'cpu') -> Array"),
      "Returns a copy of an array in host memory, or of an Array, on a device.");
}

}  // namespace holotone::python
