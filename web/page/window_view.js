import {same_value} from "./control_values.js";
import {CameraView} from "./camera_view.js";
import {NewestPicture} from "./picture_view.js";

// A part of a document that the server renders at the canvas's size. Pan and zoom change the control "window"; until
// the answer comes the old picture is shown moved and scaled, over the last picture of the whole document.

export class WindowView extends CameraView {
  constructor(stage, host) {
    super(stage, host);
    this.context = this.canvas.getContext("2d");
    this.part = new NewestPicture();
    this.whole = new NewestPicture();
    const control = host.window_control();
    this.name = control.name;
    [, , this.page_width, this.page_height] = control.value;
    this.set_page(this.page_width, this.page_height);
    this.value_changed(this.name, host.value(this.name));
  }

  get covers_all() {
    return same_value(this.part_window, [0, 0, this.page_width, this.page_height]);
  }

  async show(answer) {
    if (!await this.part.take(answer)) return false;
    this.part_window = answer.request.state[this.name];
    if (this.covers_all) await this.whole.take(answer);
    this.draw_soon();
    return true;
  }

  move(change) {
    super.move(change);
    this.host.change(this.name, this.camera.window, false);
  }

  // The window was set elsewhere: by the URL, the linked pane or "Reset to defaults".
  value_changed(name, value) {
    if (name !== this.name || same_value(value, this.camera.window)) return;
    this.camera.window = value;
    this.draw_soon();
  }

  resized() {
    if (!this.name) return;
    if (!same_value(this.host.value(this.name), this.camera.window)) {
      this.host.change(this.name, this.camera.window, false);
    } else {
      this.host.ask_again();
    }
  }

  get size() {
    const [, , width, height] = this.camera.window;
    return [width, height].map((length) => Math.max(1, Math.round(length * this.camera.scale)));
  }

  draw() {
    const {context} = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const all = [0, 0, this.page_width, this.page_height];
    if (this.whole.bitmap && !this.covers_all) this.paint(this.whole.bitmap, all);
    if (this.part.bitmap) this.paint(this.part.bitmap, this.part_window);
  }

  paint(bitmap, [x, y, width, height]) {
    const {scale, origin} = this.camera;
    this.context.imageSmoothingEnabled = (width * scale) / bitmap.width < 1.001;
    this.context.drawImage(bitmap, Math.round(origin[0] + x * scale), Math.round(origin[1] + y * scale),
      Math.round(width * scale), Math.round(height * scale));
  }

  read_out(x, y) {
    const outside = x < 0 || y < 0 || x >= this.page_width || y >= this.page_height;
    return outside ? "" : `x ${Math.floor(x)}, y ${Math.floor(y)}`;
  }

  get local() {
    return {};  // the window is a control
  }

  set local(_) {}

  follow() {}

  remove() {
    super.remove();
    this.part.close();
    this.whole.close();
  }
}
