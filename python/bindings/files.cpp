#include "by_hand.hpp"
#include "functions.hpp"
#include "tables_generated.hpp"

namespace holotone::python {
namespace {

using Pixels = decltype(Image::pixels);

Pixels pixels_from(nb::handle array, Call& call) {
  const auto name = nb::cast<std::string>(nb::str(nb::object(array.attr("dtype"))));
  const auto take = [&]<class T>(T) -> Pixels { return copy_of(call.view<const T, 3>(array, "pixels"), Device{}); };
  if (name == "uint8") return take(std::uint8_t{});
  if (name == "uint16") return take(std::uint16_t{});
  if (name == "float32") return take(float{});
  throw_argument(call.function(), "pixels", "uint8, uint16 or, for TIFF, float32",
                 name + ": convert it with x.astype(\"uint8\")");
}

/// Defines `_name`, a function of an image's pixels alone.
template <class Result>
void define_pixels(nb::module_& module, const char* name, const char* signature, Result (*function)(const Image&)) {
  module.def(
      name,
      [name, function](nb::handle pixels) {
        Call call(name + 1);
        const Work work(call.function());
        return array_of(function(Image{pixels_from(pixels, call), {}}));
      },
      nb::sig(signature));
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def(
      "_read_image",
      [](const std::string& path) {
        const Work work("read_image");
        Image image = [&] {
          const nb::gil_scoped_release release;
          return read_image(path);
        }();
        nb::object pixels =
            std::visit([](auto&& array) { return array_of(std::move(array)); }, std::move(image.pixels));
        return nb::make_tuple(pixels, to_python(image.metadata));
      },
      nb::arg("path"));
  define_pixels(module, "_to_float", "def _to_float(pixels: ArrayLike) -> NDArray[float32]", to_float);
  define_pixels(module, "_to_linear", "def _to_linear(pixels: ArrayLike) -> NDArray[float32]", to_linear);
  define_pixels(module, "_to_grey", "def _to_grey(pixels: ArrayLike) -> NDArray[float32]", to_grey);
  module.def(
      "_write_image",
      [](const std::string& path, nb::handle pixels, nb::handle metadata, const nb::kwargs& options) {
        Call call("write_image");
        const Work work(call.function());
        Signature signature;
        describe_members<ImageWriteOptions>(signature);
        Given given(signature, "write_image", nb::borrow<nb::args>(nb::tuple()), options, true);
        Context context{call, given};
        const auto chosen = members_from<ImageWriteOptions>(context);
        const Image image{pixels_from(pixels, call), from_python<Metadata>(metadata, call, "metadata")};
        const nb::gil_scoped_release release;
        write_image(path, image, chosen);
      },
      nb::arg("path"), nb::arg("pixels"), nb::arg("metadata"), nb::arg("options"));
  // What read_hologram needs to know of codes: describe_encoding with a dictionary as its result.
  module.def(
      "_describe_encoding",
      [](const EncodeReport& report, const nb::kwargs& options) {
        Call call("write_hologram");
        Signature signature;
        describe_members<EncodeOptions>(signature);
        Given given(signature, "write_hologram", nb::borrow<nb::args>(nb::tuple()), options, true);
        Context context{call, given};
        Metadata metadata;
        describe_encoding(metadata, members_from<EncodeOptions>(context), report, false);
        return to_python(metadata);
      },
      nb::arg("report"), nb::arg("options"));
  module.def(
      "_read_field",
      [](const std::string& path) {
        const Work work("read_field");
        FieldFile file = [&] {
          const nb::gil_scoped_release release;
          return read_field(path);
        }();
        return nb::make_tuple(array_of(std::move(file.values)), to_python(file.metadata));
      },
      nb::arg("path"));
  module.def(
      "_write_field",
      [](const std::string& path, nb::handle values, nb::handle metadata) {
        Call call("write_field");
        const Work work(call.function());
        const FieldFile file{copy_of(call.view<const Complex, 2>(values, "field"), Device{}),
                             from_python<Metadata>(metadata, call, "metadata")};
        const nb::gil_scoped_release release;
        write_field(path, file);
      },
      nb::arg("path"), nb::arg("values"), nb::arg("metadata"));
}

}  // namespace holotone::python
