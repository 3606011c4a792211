import {make, new_id, segmented} from "./dom.js";
import {allowed_value, choices_of, number_text, visible_controls, with_unit} from "./control_values.js";
import {tick_of, ticks, value_at} from "./control_values.js";
import {place_pad} from "./place_pad.js";

// Accessible controls from their descriptions. Each builder returns {element, set(value)} and calls
// changed(value, rests): rests is false while a slider or handle is dragged.

const max_segments = 4;
const max_segment_letters = 30;

function number_control(control, value, changed) {
  const factor = control.factor ?? 1;
  const id = new_id("number");
  const unit = control.unit ?? "";
  const slider = make("input", {type: "range", id, min: 0, max: ticks(control), step: 1});
  const field = make("input", {
    type: "number", min: number_text(control, control.min), max: number_text(control, control.max), step: "any",
    "aria-label": `${control.label}, number${unit ? ` in ${unit}` : ""}`,
  });
  let current = value;
  const set = (next, keep_slider = false) => {
    current = next;
    if (!keep_slider) slider.value = String(tick_of(control, next));
    slider.setAttribute("aria-valuetext", with_unit(control, next));
    field.value = number_text(control, next);
  };
  const slide = (rests) => {
    set(value_at(control, Number(slider.value)), true);
    changed(current, rests);
  };
  slider.addEventListener("input", () => slide(false));
  slider.addEventListener("change", () => slide(true));
  field.addEventListener("change", () => {
    const typed = field.value === "" ? current : Number(field.value) / factor;
    const next = allowed_value(control, typed);
    set(next);
    changed(next, true);
    if (!control.stops && Math.abs(next - typed) > 1e-6 * (control.max - control.min)) {
      field.setCustomValidity(`${with_unit(control, control.min)} to ${with_unit(control, control.max)}`);
      field.reportValidity();
      field.setCustomValidity("");
    }
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const next = Math.min(Math.max(tick_of(control, current) + (event.key === "ArrowUp" ? 1 : -1), 0), ticks(control));
    set(value_at(control, next));
    changed(current, false);
  });
  set(value);
  const element = make("div", {class: "control number"},
    make("label", {class: "control-label", for: id}, control.label),
    make("span", {class: "number-field"}, field, make("span", {class: "unit", "aria-hidden": "true"}, unit)), slider);
  return {element, set};
}

function choice_control(control, value, changed) {
  const choices = choices_of(control);
  const chosen = (next) => changed(next, true);
  const letters = choices.reduce((sum, [, label]) => sum + label.length, 0);
  if (choices.length <= max_segments && letters <= max_segment_letters) {
    const row = segmented(control.label, choices, value, chosen);
    const label = make("span", {class: "control-label", "aria-hidden": "true"}, control.label);
    return {element: make("div", {class: "control choice"}, label, row.element), set: row.set};
  }
  const id = new_id("choice");
  const select = make("select", {id, onchange: () => chosen(select.value)});
  for (const [choice, label] of choices) select.append(make("option", {value: choice}, label));
  select.value = value;
  const label = make("label", {class: "control-label", for: id}, control.label);
  const element = make("div", {class: "control choice"}, label, select);
  return {element, set: (next) => (select.value = next)};
}

function switch_control(control, value, changed) {
  const input = make("input", {
    type: "checkbox", role: "switch",
    onchange: () => changed(input.checked, true),
  });
  input.checked = value;
  return {
    element: make("div", {class: "control"}, make("label", {class: "switch"}, input, make("span", {}, control.label))),
    set: (next) => (input.checked = next),
  };
}

// Of a stored page: there is nothing to choose.
function fix(element) {
  for (const input of element.querySelectorAll("input, select")) input.disabled = true;
  for (const handle of element.querySelectorAll("[role=slider]")) {
    handle.removeAttribute("tabindex");
    handle.setAttribute("aria-disabled", "true");
  }
}

const builders = {number: number_control, choice: choice_control, switch: switch_control, place: place_pad};

// The controls of one view.
export class Controls {
  // changed(name, value, rests)
  constructor(description, view, values, changed, defaults) {
    this.description = description;
    this.view = view;
    this.parts = new Map();
    const body = make("div", {class: "controls"});
    for (const name of view.controls ?? []) {
      const control = description.controls?.[name];
      if (!control || !builders[control.kind]) continue;
      const part = builders[control.kind](control, values[name], (value, rests) => changed(name, value, rests));
      part.element.dataset.control = name;
      if (control.stops?.length === 1) fix(part.element);
      this.parts.set(name, part);
      body.append(part.element);
    }
    if (this.parts.size) {
      body.append(make("button", {type: "button", class: "quiet", onclick: defaults}, "Reset to defaults"));
    }
    this.element = body;
    this.set(values);
  }

  set(values) {
    const visible = new Set(visible_controls(this.description, this.view, values));
    for (const [name, part] of this.parts) {
      part.element.hidden = !visible.has(name);
      if (!part.element.contains(document.activeElement)) part.set(values[name]);
    }
  }

  // Also the control that has the focus.
  set_one(name, value) {
    this.parts.get(name)?.set(value);
  }

  set_all(values) {
    for (const [name, part] of this.parts) part.set(values[name]);
    this.set(values);
  }
}
