import {make, once_a_frame} from "./dom.js";
import {Camera} from "./camera.js";
import {listen_to_gestures} from "./gestures.js";

// What the views on a canvas with pan and zoom share. A subclass has draw() and may have read_out(x, y).
// host: the pane. moved() hears that the camera moved; hand moves the pupil and the focus; read_out(text).

export class CameraView {
  constructor(stage, host) {
    this.host = host;
    this.camera = new Camera();
    this.has_page = false;
    this.wanted_zoom = "";
    this.canvas = make("canvas", {tabindex: 0, role: "application", "aria-roledescription": "picture"});
    stage.append(this.canvas);
    this.draw_soon = once_a_frame(() => this.canvas.isConnected && this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(stage);
    this.resize();
    listen_to_gestures(this.canvas, {
      drag: (dx, dy, special) => this.drag(dx, dy, special),
      arrow: (dx, dy, special) => (special ? this.drag(dx, dy, true) : this.drag(-dx, -dy, false)),
      zoom: (factor, x, y) => this.move(() => this.camera.zoom(factor, x, y)),
      key: (key) => this.move(() => (key === "0" ? this.camera.fit() : this.camera.one_to_one())),
      focus: host.hand.focus ? (steps) => host.hand.shift_focus(steps) : undefined,
      hover: (x, y) => this.hover(x, y),
      end: () => host.rest(),
    }, () => host.hand.moves_place);
  }

  get keys() {
    return "picture-keys";
  }

  get actions() {
    return [
      {label: "−", name: "Zoom out", key: "-", run: () => this.move(() => this.camera.zoom(0.8))},
      {label: "+", name: "Zoom in", key: "+", run: () => this.move(() => this.camera.zoom(1.25))},
      {label: "Fit", name: "Fit the picture", key: "0", run: () => this.move(() => this.camera.fit())},
      {label: "1:1", name: "One picture pixel for each screen pixel", key: "1",
        run: () => this.move(() => this.camera.one_to_one())},
    ];
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const size = [box.width, box.height].map((length) => Math.max(1, Math.round(length * ratio)));
    if (size[0] === this.canvas.width && size[1] === this.canvas.height) return;
    [this.canvas.width, this.canvas.height] = size;
    this.camera.set_canvas(...size);
    this.draw_soon();
    this.resized?.();
    this.host.show_view_state();
  }

  drag(dx, dy, special) {
    if (special && this.host.hand.place) {
      const {width, height, scale} = this.camera;
      const side = Math.max(width, height) * scale;
      this.host.hand.shift_place(dx / side, -dy / side);
    } else {
      this.move(() => this.camera.pan(dx, dy));
    }
  }

  move(change) {
    change();
    this.draw_soon();
    this.host.moved();
  }

  hover(x, y) {
    this.host.read_out(Number.isNaN(x) || !this.read_out ? "" : this.read_out(...this.camera.page_point(x, y)));
  }

  get zoom_text() {
    return `${Number((100 * this.camera.scale).toPrecision(3))} %`;
  }

  // Pixels of the wanted picture.
  get size() {
    return [this.canvas.width, this.canvas.height];
  }

  // The size of the page is known. A zoom that was wanted before is set now.
  set_page(width, height) {
    this.camera.set_page(width, height);
    this.has_page = true;
    if (this.wanted_zoom) this.camera.text = this.wanted_zoom;
    this.wanted_zoom = "";
  }

  // The view's own state, as text by name.
  get local() {
    const zoom = this.has_page ? this.camera.text : this.wanted_zoom;
    return zoom ? {zoom} : {};
  }

  set local({zoom = ""}) {
    if (this.has_page) this.camera.text = zoom;
    else this.wanted_zoom = zoom;
    this.draw_soon();
  }

  follow(other) {
    if (!this.has_page || !other.has_page) return;
    this.camera.follow(other.camera);
    this.draw_soon();
  }

  remove() {
    this.observer.disconnect();
    this.canvas.remove();
  }
}
