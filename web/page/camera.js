// Pan and zoom: which part of a page of width x height pixels a canvas shows. Scale: canvas pixels per page pixel.

export class Camera {
  constructor() {
    this.max_scale = 64;
    this.width = this.height = 1;
    this.across = this.down = 1;  // size of the canvas
    this.fit();
  }

  set_page(width, height) {
    this.width = width;
    this.height = height;
    if (this.fitted) this.fit();
    else this.settle();
  }

  set_canvas(across, down) {
    this.across = Math.max(1, across);
    this.down = Math.max(1, down);
    if (this.fitted) this.fit();
    else this.settle();
  }

  get fit_scale() {
    return Math.min(this.across / this.width, this.down / this.height);
  }

  get min_scale() {
    return Math.min(1, this.fit_scale);
  }

  fit() {
    this.fitted = true;
    this.scale = this.fit_scale;
    this.x = this.width / 2;
    this.y = this.height / 2;
  }

  // The page's point at the canvas's point.
  page_point(across, down) {
    return [this.x + (across - this.across / 2) / this.scale, this.y + (down - this.down / 2) / this.scale];
  }

  // Canvas coordinates of the page's top left corner.
  get origin() {
    return [this.across / 2 - this.x * this.scale, this.down / 2 - this.y * this.scale];
  }

  pan(across, down) {
    this.fitted = false;
    this.x -= across / this.scale;
    this.y -= down / this.scale;
    this.settle();
  }

  // Zooms by a factor; the page's point at the canvas's point stays there.
  zoom(factor, across = this.across / 2, down = this.down / 2) {
    const [x, y] = this.page_point(across, down);
    const scale = Math.min(Math.max(this.scale * factor, this.min_scale), Math.max(this.max_scale, this.fit_scale));
    if (scale === this.fit_scale) {
      this.fit();
      return;
    }
    this.fitted = false;
    this.scale = scale;
    this.x = x - (across - this.across / 2) / scale;
    this.y = y - (down - this.down / 2) / scale;
    this.settle();
  }

  one_to_one() {
    this.zoom(1 / this.scale);
  }

  // No border where the page is larger than the canvas; centred where it is smaller.
  settle() {
    this.scale = Math.max(this.scale, this.min_scale);
    this.x = settled(this.x, this.width, this.across / this.scale);
    this.y = settled(this.y, this.height, this.down / this.scale);
  }

  // The visible part of the page: [x, y, width, height].
  get window() {
    const width = Math.min(this.width, this.across / this.scale);
    const height = Math.min(this.height, this.down / this.scale);
    return [this.x - width / 2, this.y - height / 2, width, height];
  }

  set window([x, y, width, height]) {
    if (width >= this.width && height >= this.height) {
      this.fit();
      return;
    }
    this.fitted = false;
    this.scale = Math.min(this.across / width, this.down / height);
    this.x = x + width / 2;
    this.y = y + height / 2;
    this.settle();
  }

  get text() {
    return this.fitted ? "" : [this.scale, this.x, this.y].map((part) => Number(part.toPrecision(7))).join(",");
  }

  set text(text) {
    const [scale, x, y] = text.split(",").map(Number);
    if (!(scale > 0) || !Number.isFinite(x) || !Number.isFinite(y)) {
      this.fit();
      return;
    }
    Object.assign(this, {fitted: false, scale, x, y});
    this.settle();
  }

  // The same part of the page as another camera, also if its page has other pixels.
  follow(other) {
    if (other.fitted) {
      this.fit();
      return;
    }
    const ratio = other.width / this.width;
    this.text = [other.scale * ratio, other.x / ratio, (other.y * this.height) / other.height].join(",");
  }
}

function settled(centre, page, visible) {
  if (visible >= page) return page / 2;
  return Math.min(Math.max(centre, visible / 2), page - visible / 2);
}
