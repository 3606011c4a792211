"""A feedback loop through a panel's window and a camera: panel_camera.py [MONITOR].

The panel makes spots behind a lens; the loop finds weights that make them equally bright on a bench with a lens that
the model does not know. The bench is simulated from what the window sends; in the laboratory, read a camera in place
of `spots`. Without a monitor the panel is drawn in memory.
"""

import sys

import numpy as np

import holotone as ht

N = 128
PLACES = np.array([[9, 14], [20, 100], [33, 40], [110, 17], [97, 90]])


def spots(sent: np.ndarray) -> np.ndarray:
    """Brightness of the spots in the focal plane of a lens that is darker toward its edge, 70 % at 64 pixels."""
    light = np.exp(2j * np.pi / 256 * sent[..., 0]).astype("complex64")
    seen = np.abs(np.fft.fft2(light)[tuple(PLACES.T)]) ** 2
    from_axis = ((PLACES + N // 2) % N - N // 2) / 64
    return (1 - 0.7 * (from_axis**2).sum(axis=1)) * seen


def main() -> int:
    y, x = np.mgrid[:N, :N]
    waves = np.exp(2j * np.pi / N * (PLACES[:, 0, None, None] * y + PLACES[:, 1, None, None] * x))
    phases = np.exp(2.4j * np.arange(len(PLACES)) ** 2)
    weights = np.ones(len(PLACES))
    where = {"monitor": sys.argv[1]} if len(sys.argv) > 1 else {"offscreen": (N, N)}
    differences = []
    with ht.PanelWindow(**where, centre=True) as window:  # the rest of a larger panel shows code 0
        for _ in range(30):
            phase_rad = np.angle(np.tensordot(weights * phases, waves, axes=1))
            codes = np.round(phase_rad * (128 / np.pi)).astype("int64") & 255
            window.show(codes.astype("uint8"))
            top, left = (window.monitor().ny - N) // 2, (window.monitor().nx - N) // 2
            seen = spots(window.sent()[top : top + N, left : left + N])
            weights *= np.sqrt(seen).mean() / np.sqrt(seen)
            differences.append((seen.max() - seen.min()) / (seen.max() + seen.min()))
    print(f"spots differ by {differences[0]:.0%} at first, by {differences[-1]:.1%} after 30 pictures")
    return 0 if differences[-1] < 0.05 and differences[-1] < differences[0] / 3 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ht.UnsupportedError as error:
        sys.exit(f"panel_camera: {error}")
