import {make} from "./dom.js";
import {nudged, same_value} from "./control_values.js";

// Moves a hologram's pupil (its control of kind "place") and focus (its control "distance") on the picture itself.

export class Hand {
  constructor(pane) {
    this.pane = pane;
    this.mode = false;  // dragging moves the pupil without Shift
    this.exact = null;  // of the pupil, which may stand on a stop
  }

  get place() {
    return this.pane.visible_control("place");
  }

  get focus() {
    return this.pane.visible_control("number", "distance");
  }

  get moves_place() {
    return this.mode && this.place !== undefined;
  }

  mode_button() {
    if (!this.place) return null;
    const button = make("button", {type: "button", "aria-pressed": String(this.mode), onclick: () => {
      this.mode = !this.mode;
      button.setAttribute("aria-pressed", String(this.mode));
    }, title: "Dragging on the picture moves it (or hold Shift)"}, `Drag: ${this.place.label.toLowerCase()}`);
    return button;
  }

  // By parts of the picture's longer side, which stands for the control's range.
  shift_place(dx, dy) {
    const {name, min, max} = this.place;
    const now = this.pane.value(name);
    if (!this.exact || !same_value(this.reached, now)) this.exact = now;
    this.exact = [dx, dy].map((part, i) => {
      return Math.min(Math.max(this.exact[i] + part * (max[i] - min[i]), min[i]), max[i]);
    });
    this.pane.change_from_view(name, this.exact);
    this.reached = this.pane.value(name);
  }

  shift_focus(steps) {
    const control = this.focus;
    if (control) this.pane.change_from_view(control.name, nudged(control, this.pane.value(control.name), steps));
  }
}
