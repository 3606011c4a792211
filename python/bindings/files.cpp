#include "by_hand.hpp"
#include "functions.hpp"
#include "tables_generated.hpp"

namespace holotone::python {
namespace {

using Pixels = decltype(Image::pixels);

Pixels pixels_from(nb::handle array, Call& call) {
  const std::string name =
      nb::hasattr(array, "dtype") ? nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))) : shown(array);
  const auto take = [&]<class T>(T) -> Pixels { return copy_of(call.view<const T, 3>(array, "pixels"), Device{}); };
  if (name == "uint8") return take(std::uint8_t{});
  if (name == "uint16") return take(std::uint16_t{});
  if (name == "float32") return take(float{});
  throw_argument(call.function(), "pixels", "uint8, uint16 or, for TIFF, float32",
                 name + ": convert it with x.astype(\"uint8\")");
}

/// What the work makes, where it may outlive the call.
template <class Work>
auto made_by(const std::string& function, Work work) {
  using Made = decltype(work());
  const auto made = std::make_shared<std::optional<Made>>();
  const auto job = std::make_shared<Job>(function);
  job->run([made, work = std::move(work)] { made->emplace(work()); });
  return std::move(**made);
}

/// Defines `_name`, a function of an image's pixels alone.
template <class Result>
void define_pixels(nb::module_& module, const char* name, const char* signature, Result (*function)(const Image&)) {
  module.def(
      name,
      [name, function](nb::handle pixels, int bits) {
        Call call(name + 1);
        const auto image = std::make_shared<const Image>(Image{pixels_from(pixels, call), {}, {}, bits});
        return array_of(made_by(call.function(), [image, function] { return function(*image); }));
      },
      nb::sig(signature));
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def(
      "_read_image",
      [](const std::string& path, bool as_light, bool as_depth, bool as_measured) {
        Image image = made_by("read_image", [=] {
          return read_image(path, {.as_light = as_light, .as_measured = as_measured, .as_depth = as_depth});
        });
        nb::object pixels =
            std::visit([](auto&& array) { return array_of(std::move(array)); }, std::move(image.pixels));
        return nb::make_tuple(pixels, to_python(image.metadata), image.notes, image.bits);
      },
      nb::arg("path"), nb::arg("as_light"), nb::arg("as_depth"), nb::arg("as_measured"));
  define_pixels(module, "_to_float", "def _to_float(pixels: ArrayLike, bits: int) -> NDArray[float32]", to_float);
  define_pixels(module, "_to_linear", "def _to_linear(pixels: ArrayLike, bits: int) -> NDArray[float32]", to_linear);
  define_pixels(module, "_to_grey", "def _to_grey(pixels: ArrayLike, bits: int) -> NDArray[float32]", to_grey);
  module.def(
      "_write_image",
      [](const std::string& path, nb::handle pixels, int bits, nb::handle metadata, const nb::kwargs& options) {
        Call call("write_image");
        call.begin();
        Signature signature;
        describe_members(signature, aggregate_type<ImageWriteOptions>());
        Given given(signature, "write_image", nb::borrow<nb::args>(nb::tuple()), options, true);
        Context context{call, given};
        const auto chosen = take_members<ImageWriteOptions>(context);
        const auto image = std::make_shared<const Image>(
            Image{pixels_from(pixels, call), from_python<Metadata>(metadata, call, "metadata"), {}, bits});
        call.job()->run([path, image, chosen] { write_image(path, *image, chosen); });
      },
      nb::arg("path"), nb::arg("pixels"), nb::arg("bits"), nb::arg("metadata"), nb::arg("options"));
  // What read_hologram needs to know of codes: describe_encoding with a dictionary as its result.
  module.def(
      "_describe_encoding",
      [](nb::handle given_report, const nb::kwargs& options) {
        Call call("write_hologram");
        const auto report = from_python<EncodeReport>(given_report, call, "report");
        Signature signature;
        describe_members(signature, aggregate_type<EncodeOptions>());
        Given given(signature, "write_hologram", nb::borrow<nb::args>(nb::tuple()), options, true);
        Context context{call, given};
        Metadata metadata;
        describe_encoding(metadata, take_members<EncodeOptions>(context), report, false);
        return to_python(metadata);
      },
      nb::arg("report"), nb::arg("options"));
  module.def(
      "_read_field",
      [](const std::string& path, const nb::kwargs& given_options) {
        Call call("read_field");
        call.begin();
        Signature signature;
        describe_members(signature, aggregate_type<FieldReadOptions>());
        Given given(signature, "read_field", nb::borrow<nb::args>(nb::tuple()), given_options, true);
        Context context{call, given};
        const auto options = take_members<FieldReadOptions>(context);
        FieldFile file = made_by("read_field", [path, options] { return read_field(path, options); });
        return nb::make_tuple(array_of(std::move(file.values)), to_python(file.metadata), file.notes);
      },
      nb::arg("path"), nb::arg("options"));
  module.def(
      "_write_field",
      [](const std::string& path, nb::handle values, nb::handle metadata) {
        Call call("write_field");
        call.begin();
        const auto file =
            std::make_shared<const FieldFile>(FieldFile{copy_of(call.view<const Complex, 2>(values, "field"), Device{}),
                                                        from_python<Metadata>(metadata, call, "metadata")});
        call.job()->run([path, file] { write_field(path, *file); });
      },
      nb::arg("path"), nb::arg("values"), nb::arg("metadata"));
}

}  // namespace holotone::python
