// Ticks and positions of a plot's axis, linear or logarithmic.

export class Axis {
  // from, to: positions of the lowest and the highest value
  constructor(values, from, to, logarithmic = false) {
    this.logarithmic = logarithmic;
    const usable = values.filter((value) => Number.isFinite(value) && (!logarithmic || value > 0));
    let low = usable.reduce((a, b) => Math.min(a, b), Infinity);
    let high = usable.reduce((a, b) => Math.max(a, b), -Infinity);
    if (low > high) [low, high] = logarithmic ? [0.1, 1] : [0, 1];
    if (logarithmic) {
      [low, high] = [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
      if (low === high) high = 10 * low;
    } else if (low === high) {
      [low, high] = [low - 0.5, high + 0.5];
    }
    Object.assign(this, {low, high, from, to});
    this.step = nice_step((high - low) / 5);
  }

  // Widens the axis to whole steps.
  rounded() {
    if (!this.logarithmic) {
      this.low = Math.floor(this.low / this.step + 1e-9) * this.step;
      this.high = Math.ceil(this.high / this.step - 1e-9) * this.step;
    }
    return this;
  }

  position(value) {
    const part = this.logarithmic
      ? Math.log(Math.max(value, 1e-300) / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return this.from + part * (this.to - this.from);
  }

  value_at(position) {
    const part = (position - this.from) / (this.to - this.from);
    return this.logarithmic ? this.low * (this.high / this.low) ** part : this.low + part * (this.high - this.low);
  }

  get ticks() {
    const marks = [];
    if (this.logarithmic) {
      const decades = Math.round(Math.log10(this.high / this.low));
      const stride = Math.ceil(decades / 8);
      for (let i = 0; i <= decades; i += stride) marks.push(this.low * 10 ** i);
      return marks;
    }
    for (let i = Math.ceil(this.low / this.step - 1e-9); i * this.step <= this.high + 1e-9 * this.step; ++i) {
      marks.push(Number((i * this.step).toPrecision(10)));
    }
    return marks;
  }
}

function nice_step(rough) {
  const decade = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((factor) => factor * decade >= rough * 0.999) * decade;
}

export function tick_text(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace(/\.?0*e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(5)));
}
