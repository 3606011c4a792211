import {make, new_id} from "./dom.js";
import {allowed_value, number_text, with_unit} from "./control_values.js";

// A 2-D control: a pad with a handle (y up) and a number field for each axis.
// changed(value, rests): rests is false while the handle is dragged.

const key_part = 1 / 50;  // of the range, for an arrow key; a fifth of that with Shift
const key_step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};

export function place_pad(control, value, changed) {
  let current = value;
  const factor = control.factor ?? 1;
  const label_id = new_id("label");
  const handle = make("div", {
    class: "pad-handle", role: "slider", tabindex: 0, "aria-labelledby": label_id,
    "aria-roledescription": "2-D slider", "aria-valuemin": number_text(control, control.min[0]),
    "aria-valuemax": number_text(control, control.max[0]),
  });
  const pad = make("div", {class: "pad"}, handle);
  const fields = ["x", "y"].map((axis, i) => make("input", {
    type: "number", step: "any", "aria-label": `${control.label} ${axis}${control.unit ? `, ${control.unit}` : ""}`,
    onchange: (event) => {
      if (event.target.value === "") return set(current);
      const next = [...current];
      next[i] = Number(event.target.value) / factor;
      apply(next, true);
    },
  }));

  const set = (next) => {
    current = next;
    const part = next.map((number, i) => (number - control.min[i]) / (control.max[i] - control.min[i] || 1));
    handle.style.left = `${100 * part[0]}%`;
    handle.style.top = `${100 * (1 - part[1])}%`;
    handle.setAttribute("aria-valuenow", number_text(control, next[0]));
    handle.setAttribute("aria-valuetext", with_unit(control, next));
    fields.forEach((field, i) => (field.value = number_text(control, next[i])));
  };
  const apply = (next, rests) => {
    const allowed = allowed_value(control, next);
    if (!allowed) return;
    set(allowed);
    changed(allowed, rests);
  };
  const under_pointer = (event) => {
    const box = pad.getBoundingClientRect();
    const part = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
    return part.map((share, i) => control.min[i] + share * (control.max[i] - control.min[i]));
  };

  pad.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pad.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
    apply(under_pointer(event), false);
  });
  pad.addEventListener("pointermove", (event) => {
    if (pad.hasPointerCapture(event.pointerId)) apply(under_pointer(event), false);
  });
  pad.addEventListener("pointerup", (event) => apply(under_pointer(event), true));
  handle.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = key_step[event.key];
    if (!step && event.key !== "Home") return;
    event.preventDefault();
    apply(step ? neighbour(control, current, step, event.shiftKey) : control.value, false);
  });

  set(value);
  const beside = (text, style) => make("span", {class: style, "aria-hidden": "true"}, text);
  const rows = fields.map((field, i) => make("label", {class: "pad-field"}, beside("xy"[i], "axis-name"), field,
    beside(control.unit ?? "", "unit")));
  const element = make("div", {class: "control place", role: "group", "aria-labelledby": label_id},
    make("span", {class: "control-label", id: label_id}, control.label),
    make("div", {class: "place-row"}, pad, make("div", {class: "pad-fields"}, ...rows)));
  return {element, set};
}

// The place one key press further: a part of the range, or the nearest stop in that direction.
function neighbour(control, value, step, fine) {
  if (!control.stops) {
    const part = fine ? key_part / 5 : key_part;
    return value.map((number, i) => number + step[i] * part * (control.max[i] - control.min[i]));
  }
  const axis = step[0] ? 0 : 1;
  const ahead = control.stops.filter((stop) => (stop[axis] - value[axis]) * step[axis] > 0);
  const cost = (stop) => Math.abs(stop[axis] - value[axis]) + 2 * Math.abs(stop[1 - axis] - value[1 - axis]);
  return ahead.length ? ahead.reduce((best, stop) => (cost(stop) < cost(best) ? stop : best)) : value;
}
