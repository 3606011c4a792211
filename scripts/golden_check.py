"""Checks golden.py: doctored results must be found, and files that are only packed in another way must not."""
import shlex
import sys

# Runs the program, then changes what it has printed or written: {line} stands for the change.
WRAPPER = '''#!{python}
import pathlib, subprocess, sys
import h5py, numpy as np, tifffile
from PIL import Image
from PIL.PngImagePlugin import PngInfo
done = subprocess.run([{program!r}, *sys.argv[1:]], capture_output=True)
output, errors, code = done.stdout, done.stderr, done.returncode

def flip(name, place):
    data = bytearray(pathlib.Path(name).read_bytes())
    data[place] ^= 1
    pathlib.Path(name).write_bytes(data)

def repack(name, level, pixel=0, **words):
    picture = Image.open(name)
    texts = PngInfo()
    for key, value in (picture.info | words).items():
        texts.add_text(key.replace("holotone_", "holotone:"), str(value)) if key.startswith("holotone") else None
    pixels = np.array(picture)
    pixels.flat[700] ^= pixel
    Image.fromarray(pixels).save(name, pnginfo=texts, compress_level=level)

def rewrite_tiff(name, pixel):
    with tifffile.TiffFile(name) as file:
        pixels, text = file.asarray(), file.pages[0].description
    pixels.flat[700] ^= pixel
    tifffile.imwrite(name, pixels, description=text, metadata=None, software=False)

def edit(name, before, after):
    path = pathlib.Path(name)
    data = path.read_bytes()
    assert before in data, data[:300]
    path.write_bytes(data.replace(before, after, 1))

def set_attribute(name, key, value):
    with h5py.File(name, "a") as file:
        file["field"].attrs[key] = value

{line}
sys.stdout.buffer.write(output)
sys.stderr.buffer.write(errors)
sys.exit(code)
'''

# Case, change, and what is expected: "differ", "words" or nothing.
DOCTORED = [
    ("points-png", "", ""),
    ("points-png", "repack('a.png', 1)", ""),
    ("halftone-svg", "edit('a.svg', b'holotone 0.', b'holotone 9.')", ""),
    ("points-png", "repack('a.png', 6, pixel=1)", "differ"),
    ("points-png", "repack('a.png', 6, holotone_wavelength_m='5.33e-07')", "differ"),
    ("points-png", "repack('a.png', 6, holotone_further='3')", "words"),
    ("points-png", "output = output.replace(b'pixels', b'px')", "words"),
    ("points-png", "output = output.replace(b'60 points', b'61 points')", "differ"),
    ("points-png", "pathlib.Path('b.png').write_bytes(b'')", "differ"),
    ("points-png", "pathlib.Path('a.png').unlink()", "differ"),
    ("points-png", "code = 3", "differ"),
    ("points-tif-16", "rewrite_tiff('a.tif', 0)", "words"),  # tags of a resolution
    ("points-tif-16", "rewrite_tiff('a.tif', 1)", "differ"),
    ("points-tif-16", "edit('a.tif', b'bits: 12', b'bits: 11')", "differ"),
    ("points-tif-16", "flip('a.tif', 5)", "differ"),
    ("points-bands", "flip('a.tif', -1)", "differ"),
    ("points-bmp", "flip('a.bmp', -1)", "differ"),
    ("points-recurrence", "flip('a.npy', -1)", "differ"),
    ("points-ohc", "flip('a.ohc', -1)", "differ"),
    ("points-direct", "flip('a.h5', pathlib.Path('a.h5').stat().st_size // 2)", "differ"),
    ("points-direct", "set_attribute('a.h5', 'distance_m', 0.3)", "differ"),
    ("points-direct", "output = output.replace(b'\"points\": 60', b'\"points\": 59')", "differ"),
    ("points-direct", "output = output.replace(b'\"points\"', b'\"dots\"')", "words"),
    ("halftone-csv", "path = pathlib.Path('a.csv'); path.write_bytes(path.read_bytes().rstrip() + b'1\\n')", "differ"),
    ("halftone-svg", "edit('a.svg', b'cx=\"', b'cx=\"1')", "differ"),
    ("halftone-pdf", "flip('a.pdf', pathlib.Path('a.pdf').read_bytes().index(b'MediaBox') + 14)", "differ"),
    ("sample-teapot", "flip('a.ply', -1)", "differ"),
    ("smoe-fit-views", "np.savez('a.npz', nothing=np.zeros(3))", "differ"),
    ("view-model", "edit('a.html', b'<title>', b'<title>New ')", "words"),
    ("refused-missing", "code = 1", "differ"),
    ("refused-missing", "errors = b'holotone: no such file\\n'", "words"),
]


def check(runner, program, compare_case):
    """Returns 0 if every change is found as expected."""
    import golden_cases
    cases = dict(golden_cases.CASES)
    assert len(cases) == len(golden_cases.CASES), "two cases of one name"
    wrong = 0
    for i, (name, line, expected) in enumerate(DOCTORED):
        wrapper = runner.work / f"doctored{i}"
        wrapper.write_text(WRAPPER.format(python=sys.executable, program=str(program), line=line))
        wrapper.chmod(0o755)
        result = compare_case(runner, program, wrapper, (name, cases[name]))
        got = "differ" if result["failures"] else "words" if result["words"] else ""
        lines = result["failures"] or result["words"]
        print(f"{'as expected' if got == expected else 'WRONG'}: {name}, {line or 'unchanged'}: {got or 'the same'} "
              f"{shlex.quote(lines[0]) if lines else ''}")
        wrong += got != expected
    print(f"{len(DOCTORED)} doctored results, {wrong} not found as expected")
    return 1 if wrong else 0
