import {CameraView} from "./camera_view.js";

// A raster picture on a canvas. A coarse picture (while a control moves) is stretched over the picture at rest.

export async function decode_picture({header, payload}) {
  const blob = new Blob([payload], {type: header.media});
  return createImageBitmap(blob, {colorSpaceConversion: "none", premultiplyAlpha: "none"});
}

// Decodes pictures; one that is ready after a newer one is dropped.
export class NewestPicture {
  constructor() {
    this.started = 0;
    this.ready = 0;
    this.bitmap = null;
  }

  // true if the bitmap is now this answer's.
  async take(answer) {
    this.started += 1;
    const turn = this.started;
    const bitmap = await decode_picture(answer);
    if (turn < this.ready) {
      bitmap.close();
      return false;
    }
    this.ready = turn;
    this.bitmap?.close();
    this.bitmap = bitmap;
    return true;
  }

  close() {
    this.ready = Infinity;
    this.bitmap?.close();
    this.bitmap = null;
  }
}

const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});

// The code values of one pixel of a bitmap: "128" if it is grey, else "r 12, g 34, b 56".
export function pixel_text(bitmap, x, y) {
  probe.canvas.width = probe.canvas.height = 1;
  probe.drawImage(bitmap, x, y, 1, 1, 0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  return red === green && green === blue ? String(red) : `r ${red}, g ${green}, b ${blue}`;
}

export class PictureView extends CameraView {
  constructor(stage, host) {
    super(stage, host);
    this.context = this.canvas.getContext("2d", {alpha: true});
    this.picture = new NewestPicture();
  }

  async show(answer) {
    if (!await this.picture.take(answer)) return false;
    const {width, height} = this.picture.bitmap;
    const same_shape = Math.abs(width / height / (this.camera.width / this.camera.height) - 1) < 0.02;
    if (!answer.header.moving || !this.has_page || !same_shape) this.set_page(width, height);
    this.draw_soon();
    return true;
  }

  draw() {
    const {context, camera, picture: {bitmap}} = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!bitmap) return;
    context.imageSmoothingEnabled = camera.scale < 1 || bitmap.width < camera.width;
    context.imageSmoothingQuality = "high";
    const [left, top] = camera.origin.map(Math.round);
    context.drawImage(bitmap, left, top, camera.width * camera.scale, camera.height * camera.scale);
  }

  read_out(x, y) {
    const {camera, picture: {bitmap}} = this;
    if (!bitmap || x < 0 || y < 0 || x >= camera.width || y >= camera.height) return "";
    const column = Math.floor((x * bitmap.width) / camera.width);
    const row = Math.floor((y * bitmap.height) / camera.height);
    return `x ${Math.floor(x)}, y ${Math.floor(y)}: ${pixel_text(bitmap, column, row)}`;
  }

  remove() {
    super.remove();
    this.picture.close();
  }
}
