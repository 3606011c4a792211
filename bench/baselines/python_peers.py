#!/usr/bin/env python3
"""Times Holotone's Python package against other packages, on the same arrays in one run.

    PYTHONPATH=build/cuda/python/package bench/baselines/python_peers.py --program build/cuda/bench/holotone_bench
    ... --device cuda:0 --out peers.json

call       what one execute of 8 x 8 pixels costs the caller, with out=: from Python by kind of array, and from C++
           (row propagate/angular_spectrum/8 of --program). The GPU is not waited for. 50 calls a batch
propagate  one distance of a complex64 field, padded to twice the size, Matsushima's band limit. torch, cupy: two FFTs
           and a transfer function that was computed before. torchoptics: Field.propagate_to_z, which computes its
           transfer function in each call, in float64, without a band limit
spots      100 and, on a GPU, 2000 spots anywhere behind a lens, from random phases to Holotone's default accuracy;
           set_spots is timed too. slmsuite: CompressedSpotHologram, made before, 30 steps WGS-Kim; it works on the GPU
           if CuPy is installed, else on the CPU
nufft      points in random places, complex64. finufft; on a GPU cufinufft, on CuPy's arrays if it is installed, else
           on torch's. Plans are kept, with default options, points set anew

Packages take turns. ms is the median of the rounds, each of at least 30 ms between two synchronisations, after a run to
warm up. error is relative l2: propagate against the same formula in float64, nufft against the exact sum at 64 places.
Needs numpy and holotone, for propagate and GPUs torch. A package that is missing is reported as skipped.
"""
import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

import numpy

WAVELENGTH_M = 532e-9
PITCH_M = 8e-6
FOCAL_LENGTH_M = 0.2


class Bench:
    """Rows of a run, and the clock of its device."""

    def __init__(self, arguments):
        self.device = arguments.device
        self.rounds = arguments.rounds
        self.small = arguments.small
        self.program = arguments.program
        self.processor_time = arguments.processor_time
        self.clock = time.process_time if arguments.processor_time else time.perf_counter
        self.rows = []
        self.versions = {}
        self.gpu = self.device != "cpu"
        self.torch = self.package("torch")
        if self.gpu and not self.torch:
            sys.exit("python_peers.py: a GPU needs torch, whose arrays and clock are used")
        if self.gpu:
            self.torch.cuda.set_device(self.device)

    def package(self, name):
        """A module, or None."""
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except ImportError:
                return None
        module = sys.modules[name]
        self.versions[name] = getattr(module, "__version__", "?")
        return module

    def skip(self, case, package, reason="not installed"):
        self.rows.append({"case": case, "package": package, "skipped": reason})

    def add(self, case, package, milliseconds, **more):
        self.rows.append({"case": case, "package": package, "ms": milliseconds, **more})

    def wait(self):
        if self.gpu:
            self.torch.cuda.synchronize()

    def to_device(self, array):
        """Holotone's own argument: a NumPy array, or a tensor of the GPU."""
        return self.torch.from_numpy(array).to(self.device) if self.gpu else array

    def batch_ms(self, work, repeats):
        self.wait()
        start = self.clock()
        for _ in range(repeats):
            work()
        self.wait()
        return 1e3 * (self.clock() - start) / repeats

    def first_results(self, case, works):
        """{package: result} of a first run. Another package that fails is reported and leaves `works`."""
        results = {}
        for name in list(works):
            try:
                results[name] = works[name]()
            except Exception as error:  # whatever another package throws
                if name == "holotone":
                    raise
                self.skip(case, name, failure(error))
                del works[name]
        return results

    def medians(self, works):
        """{package: milliseconds} of works that take turns. They have run once before."""
        repeats = {name: max(1, round(30 / max(self.batch_ms(work, 1), 1e-3))) for name, work in works.items()}
        times = {name: [] for name in works}
        for _ in range(self.rounds):
            for name, work in works.items():
                times[name].append(self.batch_ms(work, repeats[name]))
        return {name: statistics.median(values) for name, values in times.items()}


def failure(error):
    return f"failed: {type(error).__name__}: {error}"[:200]


def host(array):
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy()
    return array.get() if hasattr(array, "get") else numpy.asarray(array)


def relative_error(got, expected):
    return float(numpy.linalg.norm(host(got) - expected) / numpy.linalg.norm(expected))


# One small call.


def cpp_call_us(bench):
    """Microseconds of the benchmark's row, or None."""
    command = [bench.program, "--device", bench.device, "--benchmark_filter=propagate/angular_spectrum/8/iter",
               "--benchmark_format=json"] + ["--processor-time"] * bench.processor_time
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["benchmarks"]
    if not rows or rows[0].get("error_occurred"):
        reason = rows[0]["error_message"] if rows else "no row propagate/angular_spectrum/8"
        raise RuntimeError(f"{bench.program}: {reason}")
    return rows[0]["real_time"]


def call(bench, ht):
    case = "call"
    plan = ht.PropagationPlan(shape=(8, 8), pitch_m=PITCH_M, wavelength_m=WAVELENGTH_M, method="angular_spectrum",
                              zero_pad=False, device=bench.device)
    ones = numpy.ones((8, 8), numpy.complex64)
    arrays = {"holotone.Array": (ht.copy_of(ones, device=bench.device), ht.copy_of(ones, device=bench.device))}
    if not bench.gpu:
        arrays["numpy"] = ones, ones.copy()
    if bench.torch:
        tensor = bench.torch.from_numpy(ones).to(bench.device)
        arrays["torch"] = tensor, tensor.clone()
    if bench.gpu:
        cupy = bench.package("cupy")
        if cupy:
            arrays["cupy"] = cupy.asarray(ones), cupy.asarray(ones)
        else:
            bench.skip(case, "Python, cupy")
    times = {name: [] for name in arrays}
    from_cpp = []
    for number in range(1 + 3 * bench.rounds):
        if bench.program and number % 3 == 0:
            from_cpp.append(cpp_call_us(bench))
        for name, (field, out) in arrays.items():
            batches = []
            for _ in range(5 if number == 0 else 51):
                bench.wait()
                start = bench.clock()
                for _ in range(50):
                    plan.execute(field, 1e-3, out=out)
                batches.append((bench.clock() - start) / 50 * 1e6)
            bench.wait()
            if number:
                times[name].append(statistics.median(batches))
    base = statistics.median(from_cpp) if from_cpp else None
    if base is None:
        bench.skip(case, "C++", "no --program")
    else:
        bench.add(case, "C++", base / 1e3, us=base)
    for name, values in times.items():
        median = statistics.median(values)
        bench.add(case, "Python, " + name, median / 1e3, us=median, overhead_us=None if base is None else median - base)


# Propagation.


def transfer_function(torch, n, distance_m, device):
    """H of PropagationPlan over an axis of 2 n, in complex128."""
    frequency = torch.fft.fftfreq(2 * n, PITCH_M, dtype=torch.float64, device=device)
    squared = frequency.square()
    transverse = squared[:, None] + squared[None, :]
    stretch = (2 * distance_m / (2 * n * PITCH_M)) ** 2
    limit = 1 / WAVELENGTH_M**2
    kept = (transverse + stretch * squared[:, None] <= limit) & (transverse + stretch * squared[None, :] <= limit)
    turns = distance_m * torch.sqrt(torch.clamp(limit - transverse, min=0))
    return torch.polar(kept.to(torch.float64), 2 * numpy.pi * torch.remainder(turns, 1))


def propagate(bench, ht):
    torch = bench.torch
    for n in (64,) if bench.small else (1024, 4096):
        case = f"propagate {n}"
        distance_m = min(0.1, 0.1 * n / 1024)  # at which the band limit cuts nothing: torchoptics has none
        if not torch:
            bench.skip(case, "all", "torch is not installed")
            continue
        random = numpy.random.default_rng(1)
        field = random.standard_normal((n, n), numpy.float32) + 1j * random.standard_normal((n, n), numpy.float32)
        tensor = torch.from_numpy(field).to(bench.device)
        transfer = transfer_function(torch, n, distance_m, bench.device)
        spectrum = torch.fft.fft2(tensor.to(torch.complex128), s=(2 * n, 2 * n)).mul_(transfer)
        expected = torch.fft.ifft2(spectrum)[:n, :n].cpu().numpy()
        del spectrum
        # ifft2 without its factor, which torch 2.15 on two threads applies twice to 2048 x 2048 (pytorch issue 169670).
        transfer = (transfer / (2 * n) ** 2).to(torch.complex64)
        plan = ht.PropagationPlan(shape=(n, n), pitch_m=PITCH_M, wavelength_m=WAVELENGTH_M, method="angular_spectrum",
                                  device=bench.device)
        out = torch.empty_like(tensor)

        def by_fft(fft, values, factors):
            spectrum = fft.fft2(values, s=(2 * n, 2 * n))
            spectrum *= factors
            return fft.ifft2(spectrum, norm="forward")[:n, :n]

        works = {"holotone": lambda: plan.execute(tensor, distance_m, out=out),
                 "torch": lambda: by_fft(torch.fft, tensor, transfer)}
        if bench.gpu:
            cupy = bench.package("cupy")
            if cupy:
                values, factors = cupy.from_dlpack(tensor), cupy.from_dlpack(transfer)
                works["cupy"] = lambda: by_fft(cupy.fft, values, factors)
            else:
                bench.skip(case, "cupy")
        torchoptics = bench.package("torchoptics")
        if torchoptics:
            optical = torchoptics.Field(tensor, WAVELENGTH_M, spacing=PITCH_M).to(bench.device)
            works["torchoptics"] = lambda: optical.propagate_to_z(distance_m, propagation_method="ASM",
                                                                  asm_pad=(n // 2, n // 2)).data
        else:
            bench.skip(case, "torchoptics")
        with torch.no_grad():
            errors = {name: relative_error(result, expected)
                      for name, result in bench.first_results(case, works).items()}
            for name, milliseconds in bench.medians(works).items():
                bench.add(case, name, milliseconds, error=errors[name])


# Spots.


def spot_waves(n, spots):
    """(rows, columns) of exp(-2 pi i (f X + c X^2)) of spots {3, count}: fx, fy in cycles a pixel, y downwards, and c."""
    x = numpy.arange(n) - (n - 1) / 2
    turns = [f[:, None] * x + spots[2][:, None] * x**2 for f in (spots[1], spots[0])]
    return tuple(numpy.exp(-2j * numpy.pi * t) for t in turns)


def spot_quality(phase, spots):
    """Share of the light in the spots, their standard deviation and largest difference over their mean, in float64."""
    down, across = spot_waves(len(phase), spots)
    light = abs(numpy.einsum("my,ym->m", down, numpy.exp(1j * phase.astype(float)) @ across.T) / phase.size) ** 2
    return {"light_on_spots": float(light.sum()), "unevenness": float(light.std() / light.mean()),
            "worst": float(abs(light / light.mean() - 1).max())}


def random_spots(n, count, is_deep):
    """Places three widths apart within 0.45 of the order, and up to 13 turns of defocus at the panel's edge."""
    random = numpy.random.default_rng(2)
    side = int(0.9 * n / 3)
    cells = random.permutation(side * side)[:count]
    places = numpy.stack([cells % side, cells // side]) * 3 + random.integers(0, 2, (2, 1)) * 0.37
    depth = random.uniform(-1, 1, count) * 13 / (n / 2) ** 2 if is_deep else numpy.zeros(count)
    return numpy.vstack([(places - 0.45 * n) / n, depth])


def peer_spots(bench, n, spots):
    """The work of slmsuite's CompressedSpotHologram, which sums over pixels as Holotone does, as its guide has it."""
    hardware = {name: importlib.import_module(f"slmsuite.hardware.{path}") for name, path in (
        ("slm", "slms.simulated"), ("camera", "cameras.simulated"), ("both", "cameraslms"))}
    pitch = PITCH_M / WAVELENGTH_M
    slm = hardware["slm"].SimulatedSLM((n, n), pitch_um=(1e6 * PITCH_M,) * 2, wav_um=1e6 * WAVELENGTH_M)
    both = hardware["both"].FourierSLM(hardware["camera"].SimulatedCamera(slm, resolution=(64, 64)), slm)
    # Zernike terms x, y and 2 rho^2 - 1, in radians, of a disk around the panel.
    scale = slm.zernike_scaling[0] * pitch
    zernike = 2 * numpy.pi * numpy.stack([spots[0] / scale, spots[1] / scale, spots[2] / (2 * scale**2)])
    flat = not spots[2].any()
    hologram = importlib.import_module("slmsuite.holography.algorithms").CompressedSpotHologram(
        zernike[:2] if flat else zernike, basis="zernike", cameraslm=both, cuda=bench.gpu)

    def work():
        hologram.reset()
        hologram.optimize("WGS-Kim", maxiter=30, verbose=False, feedback="computational_spot")
        return host(hologram.get_phase())

    return work


def spots(bench, ht):
    n = 64 if bench.small else 1024
    # Without a GPU slmsuite stores the wave of every spot: 8 MB each.
    cases = [(9, False)] if bench.small else [(100, False), (100, True)]
    if bench.gpu and not bench.small:
        cases += [(2000, False), (2000, True)]
    peer = bench.package("slmsuite")
    for count, is_deep in cases:
        case = f"spots {n}, {count}{', in depth' if is_deep else ''}"
        where = random_spots(n, count, is_deep)
        position = numpy.empty((count, 3), numpy.float32)
        position[:, 0] = where[0] * WAVELENGTH_M * FOCAL_LENGTH_M / PITCH_M
        position[:, 1] = -where[1] * WAVELENGTH_M * FOCAL_LENGTH_M / PITCH_M
        position[:, 2] = where[2] * 2 * WAVELENGTH_M * (FOCAL_LENGTH_M / PITCH_M) ** 2
        plan = ht.SpotPlan(shape=(n, n), pitch_m=PITCH_M, wavelength_m=WAVELENGTH_M, focal_length_m=FOCAL_LENGTH_M,
                           device=bench.device)

        def own(plan=plan, position=position):
            plan.set_spots(position)
            plan.solve()
            return plan.phase()

        works = {"holotone": own}
        if not peer:
            bench.skip(case, "slmsuite")
        elif (bench.package("cupy") is not None) != bench.gpu:
            bench.skip(case, "slmsuite", "works on the GPU" if not bench.gpu else "works on the CPU: no CuPy")
        else:
            works["slmsuite"] = peer_spots(bench, n, where)
        results = bench.first_results(case, works)
        quality = {name: spot_quality(host(phase), where) for name, phase in results.items()}
        for name, milliseconds in bench.medians(works).items():
            bench.add(case, name, milliseconds, **quality[name])


# Non-uniform FFTs.


def exact(points, strengths, modes, n, picks, places):
    """Type 1 at the modes `picks`, and type 2 at the points `places`, in float64."""
    y, x = 2 * numpy.pi * points[:, 1].astype(float), 2 * numpy.pi * points[:, 0].astype(float)
    first = numpy.array([numpy.sum(strengths * numpy.exp(-1j * (ky * y + kx * x))) for ky, kx in picks])
    k = numpy.arange(n) - n // 2
    second = numpy.array([numpy.exp(1j * k * y[j]) @ modes.astype(numpy.complex128) @ numpy.exp(1j * k * x[j])
                          for j in places])
    return first, second


def peer_nufft(library, n, tolerance, points, strengths, modes):
    """{stage: work} of finufft or cufinufft, whose plans have run once."""
    plans = {kind: library.Plan(kind, (n, n), 1, tolerance, -1 if kind == 1 else 1, dtype="complex64")
             for kind in (1, 2)}
    for plan in plans.values():
        plan.setpts(*points)
    first, second = plans[1].execute(strengths), plans[2].execute(modes)
    return {"set_points": lambda: plans[1].setpts(*points),
            "type 1": lambda: plans[1].execute(strengths, first),
            "type 2": lambda: plans[2].execute(modes, second)}


def nufft(bench, ht):
    n, count = (64, 1000) if bench.small else (1024, 1_000_000)
    random = numpy.random.default_rng(3)
    points = (random.random((count, 2)) - 0.5).astype(numpy.float32)

    def normal(shape):
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(numpy.complex64)

    strengths, modes = normal(count), normal((n, n))
    picks, places = random.integers(-n // 2, n // 2, (64, 2)), random.integers(0, count, 64)
    expected = exact(points, strengths, modes, n, picks, places)
    own_points, own_strengths, own_modes = (bench.to_device(array) for array in (points, strengths, modes))
    name = "cufinufft" if bench.gpu else "finufft"
    library = bench.package(name)
    if library:
        to_peer = numpy.asarray
        if bench.gpu:
            cupy = bench.package("cupy")
            to_peer = cupy.asarray if cupy else bench.to_device
        radians = numpy.float32(2 * numpy.pi) * points
        peer_arrays = ([to_peer(numpy.ascontiguousarray(radians[:, axis])) for axis in (1, 0)], to_peer(strengths),
                       to_peer(modes))
    for tolerance in (1e-4, 1e-5):
        plan = ht.NufftPlan((n, n), tolerance=tolerance, device=bench.device)
        plan.set_points(own_points)
        first, second = plan.type1(own_strengths), plan.type2(own_modes)
        stages = {
            "set_points": {"holotone": lambda: plan.set_points(own_points)},
            "type 1": {"holotone": lambda: plan.type1(own_strengths, out=first)},
            "type 2": {"holotone": lambda: plan.type2(own_modes, out=second)},
        }
        peer, reason = {}, "not installed"
        if library:
            try:
                peer = peer_nufft(library, n, tolerance, *peer_arrays)
            except Exception as error:  # such as a library that this GPU or its driver does not suit
                reason = failure(error)
        for stage, work in peer.items():
            stages[stage][name] = work
        for stage, works in stages.items():
            case = f"nufft {stage} {tolerance:g}"
            errors = {}
            for package, result in bench.first_results(case, works).items():
                if stage == "type 1":
                    got = host(result)[picks[:, 0] + n // 2, picks[:, 1] + n // 2]
                    errors[package] = relative_error(got, expected[0])
                elif stage == "type 2":
                    errors[package] = relative_error(host(result)[places], expected[1])
            for package, milliseconds in bench.medians(works).items():
                bench.add(case, package, milliseconds, error=errors.get(package))
            if not peer:
                bench.skip(case, name, reason)


def table(rows):
    """Lines of text; ratio: the package's time over Holotone's in the same case."""
    mine = {row["case"]: row["ms"] for row in rows if row["package"] == "holotone"}
    lines = [f"{'case':<26}{'package':<24}{'ms':>12}{'ratio':>8}  more"]
    for row in rows:
        if "skipped" in row:
            lines.append(f"{row['case']:<26}{row['package']:<24}{'-':>12}{'':>8}  skipped: {row['skipped']}")
            continue
        ratio = f"{row['ms'] / mine[row['case']]:.2f}" if row["case"] in mine else ""
        more = [f"{key} {row[key]:.3g}" for key in ("us", "overhead_us", "error", "light_on_spots", "unevenness", "worst")
                if row.get(key) is not None]
        lines.append(f"{row['case']:<26}{row['package']:<24}{row['ms']:>12.4g}{ratio:>8}  {', '.join(more)}")
    return lines


def main():
    cases = {"call": call, "propagate": propagate, "spots": spots, "nufft": nufft}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0 (default cpu)")
    parser.add_argument("--program", help="holotone_bench of the same build, for the call from C++")
    parser.add_argument("--case", choices=cases, action="append", help="only this; may be repeated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor-time", action="store_true",
                        help="processor time of one thread, for a machine that does other work meanwhile")
    parser.add_argument("--small", action="store_true", help="small sizes, to try the script")
    parser.add_argument("--out", help="JSON file for the rows")
    arguments = parser.parse_args()
    if arguments.processor_time:
        if arguments.device != "cpu":
            parser.error("--processor-time: for --device cpu")
        os.environ["OMP_NUM_THREADS"] = "1"  # before any package with threads is imported
    bench = Bench(arguments)
    import holotone as ht

    device = bench.torch.cuda.get_device_name(bench.device) if bench.gpu else "CPU"
    threads = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count())
    for name in arguments.case or cases:
        cases[name](bench, ht)
    bench.versions["holotone"] = ht.__version__
    versions = ", ".join(f"{name} {version}" for name, version in sorted(bench.versions.items()))
    clock = "processor time, one thread" if bench.processor_time else "wall time"
    setting = "" if bench.gpu else f", OMP_NUM_THREADS {threads}"
    print(f"{device}{setting}, {clock}; numpy {numpy.__version__}, {versions}")
    print("\n".join(table(bench.rows)))
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"device": device, "threads": threads, "clock": clock, "versions": bench.versions,
                       "small": arguments.small, "rounds": arguments.rounds, "rows": bench.rows}, file, indent=1)


if __name__ == "__main__":
    main()
