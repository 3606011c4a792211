// The values of controls: numbers, choices, switches, places and windows, as described by the server.

export function default_values(description) {
  const values = {};
  for (const [name, control] of Object.entries(description.controls ?? {})) values[name] = default_value(control);
  return values;
}

// In a stored page the default may lie between the stops.
export function default_value(control) {
  return allowed_value(control, control.value) ?? control.stops?.[0] ?? control.value;
}

// Names of the view's controls that have a meaning with these values (`when`).
export function visible_controls(description, view, values) {
  return (view.controls ?? []).filter((name) => {
    const control = description.controls?.[name];
    if (!control) return false;
    return Object.entries(control.when ?? {}).every(([other, wanted]) => wanted.includes(values[other]));
  });
}

export function same_value(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((part, i) => same_value(part, b[i]));
  }
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function nearest_stop(stops, value) {
  const far = (stop) => [stop].flat().reduce((sum, part, i) => sum + (part - [value].flat()[i]) ** 2, 0);
  return stops.reduce((best, stop) => (far(stop) < far(best) ? stop : best));
}

// The value that the control can have and that is nearest to `value`; undefined if it is of the wrong kind. A step is
// the slider's: a typed number need not lie on one.
export function allowed_value(control, value) {
  switch (control.kind) {
    case "number":
      if (!Number.isFinite(value)) return undefined;
      if (control.stops) return nearest_stop(control.stops, value);
      return clamp(value, control.min, control.max);
    case "place":
      if (!is_numbers(value, 2)) return undefined;
      if (control.stops) return nearest_stop(control.stops, value);
      return value.map((part, axis) => clamp(part, control.min[axis], control.max[axis]));
    case "choice":
      return choices_of(control).some(([choice]) => choice === value) ? value : undefined;
    case "switch":
      return typeof value === "boolean" && (control.stops ?? [true, false]).includes(value) ? value : undefined;
    case "window":
      return is_numbers(value, 4) && value[2] > 0 && value[3] > 0 ? inside(value, control.value) : undefined;
  }
  return undefined;
}

// The part of a window that lies in the whole document.
function inside([x, y, width, height], [, , whole_width, whole_height]) {
  const size = [Math.min(width, whole_width), Math.min(height, whole_height)];
  return [clamp(x, 0, whole_width - size[0]), clamp(y, 0, whole_height - size[1]), ...size];
}

function is_numbers(value, count) {
  return Array.isArray(value) && value.length === count && value.every(Number.isFinite);
}

export function choices_of(control) {
  return control.stops ? control.choices.filter(([choice]) => control.stops.includes(choice)) : control.choices;
}

// Position of a number on a slider of `ticks(control)` steps, and back.
export function ticks(control) {
  if (control.stops) return control.stops.length - 1;
  if (control.logarithmic || !(control.max > control.min)) return 1000;
  return clamp(Math.round((control.max - control.min) / (control.step || (control.max - control.min) / 1000)), 1, 1e6);
}

export function tick_of(control, value) {
  if (!control.stops && !(control.max > control.min)) return 0;
  if (control.stops) return control.stops.indexOf(nearest_stop(control.stops, value));
  const part = control.logarithmic
    ? Math.log(value / control.min) / Math.log(control.max / control.min)
    : (value - control.min) / (control.max - control.min);
  return Math.round(part * ticks(control));
}

export function value_at(control, tick) {
  if (control.stops) return control.stops[clamp(tick, 0, control.stops.length - 1)];
  const part = tick / ticks(control);
  if (!control.logarithmic) return Number((control.min + part * (control.max - control.min)).toPrecision(12));
  return Number((control.min * (control.max / control.min) ** part).toPrecision(4));
}

// The value `steps` hundredths of the range (or stops) further.
export function nudged(control, value, steps) {
  const stride = control.stops ? 1 : Math.max(1, Math.round(ticks(control) / 100));
  return value_at(control, clamp(tick_of(control, value) + steps * stride, 0, ticks(control)));
}

// As shown to the reader: in the control's unit, with as many decimals as a step has.
export function number_text(control, value) {
  const factor = control.factor ?? 1;
  if (control.logarithmic || !control.step) return String(Number((value * factor).toPrecision(4)));
  const decimals = clamp(Math.ceil(-Math.log10(control.step * factor) - 1e-9), 0, 9);
  return (value * factor).toFixed(decimals).replace(/^-(0\.?0*)$/, "$1");
}

export function with_unit(control, value) {
  const numbers = [value].flat().map((part) => number_text(control, part));
  return numbers.join(", ") + (control.unit ? ` ${control.unit}` : "");
}

// For the URL.
export function value_text(value) {
  if (Array.isArray(value)) return value.map((part) => Number(part.toPrecision(9))).join(",");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(Number(value.toPrecision(12))) : value;
}

export function value_from_text(control, text) {
  switch (control.kind) {
    case "number": return allowed_value(control, Number(text));
    case "place":
    case "window": return allowed_value(control, text.split(",").map(Number));
    case "switch": return allowed_value(control, text === "yes");
    default: return allowed_value(control, text);
  }
}
