// Pointer, wheel, pinch and keys on a canvas.
// handlers: {drag(dx, dy, special), arrow(dx, dy, special), zoom(factor, x, y), key(name), end(), focus(steps),
// hover(x, y)}, lengths in the canvas's pixels. special: Shift is held or special_mode() is on. Any may be left out.

const wheel_rate = 0.0016;
const pinch_rate = 0.01;
const wheel_notch = 40;  // of Alt and the wheel, in pixels: one step of focus
const key_stride = 48;
const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

export function listen_to_gestures(canvas, handlers, special_mode = () => false) {
  const pointers = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / Math.max(1, box.width);
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    const now = place(event);
    handlers.hover?.(...now);
    if (!before) return;
    pointers.set(event.pointerId, now);
    if (pointers.size === 1) {
      handlers.drag?.(now[0] - before[0], now[1] - before[1], event.shiftKey || special_mode());
      return;
    }
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    const factor = distance(now, others[0]) / Math.max(1, distance(before, others[0]));
    handlers.zoom?.(factor, (now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2);
    handlers.drag?.((now[0] - before[0]) / 2, (now[1] - before[1]) / 2, false);
  });

  const lift = (event) => {
    if (pointers.delete(event.pointerId) && pointers.size === 0) handlers.end?.();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => handlers.hover?.(NaN, NaN));

  let turned = 0;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
    if (event.altKey && handlers.focus) {
      turned += pixels;
      const steps = Math.trunc(turned / wheel_notch);
      turned -= steps * wheel_notch;
      if (steps) handlers.focus(-steps);
    } else {
      const rate = event.ctrlKey ? pinch_rate : wheel_rate;  // a pinch on a touchpad comes with ctrlKey
      handlers.zoom?.(Math.exp(-pixels * rate), ...place(event));
    }
  }, {passive: false});

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const arrow = arrows[event.key];
    if (event.altKey) {
      if (!handlers.focus || !arrow || arrow[1] === 0) return;
      handlers.focus(-arrow[1]);
    } else if (arrow) {
      handlers.arrow?.(...arrow.map((part) => part * key_stride), event.shiftKey);
    } else if (event.key === "+" || event.key === "=") {
      handlers.zoom?.(1.25);
    } else if (event.key === "-") {
      handlers.zoom?.(0.8);
    } else if (event.key === "0" || event.key === "1") {
      handlers.key?.(event.key);
    } else {
      return;
    }
    event.preventDefault();
  });
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
