// Pictures a second over the last second.
export class Rate {
  constructor() {
    this.times = [];
  }

  count(now = performance.now()) {
    this.times.push(now);
    this.times = this.times.filter((time) => now - time <= 1000);
  }

  // Text such as "24 frames a second"; "" if fewer than two pictures came in the last second.
  text(now = performance.now()) {
    const recent = this.times.filter((time) => now - time <= 1000);
    if (recent.length < 2) return "";
    const rate = (recent.length - 1) / Math.max(0.001, (recent[recent.length - 1] - recent[0]) / 1000);
    return `${rate.toFixed(rate < 10 ? 1 : 0)} frames a second`;
  }
}
