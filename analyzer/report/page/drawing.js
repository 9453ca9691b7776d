"use strict";
/* What all zoomable timelines share: colours, times as text, the ruler, and a stretch of time that is moved and zoomed
 * by wheel, keys, buttons and dragging. Times are numbers of any unit; who calls says how they read. */
const Drawing = (() => {
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  /* A colour of the style sheet as a pixel of an ImageData. */
  function pixel(name) {
    probe.fillStyle = style(name);
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  }

  /* Seconds, so that a step of them can be seen. */
  function timeText(s, step) {
    const size = Math.max(Math.abs(s), 1e-12);
    const [unit, name] = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e-3, "ms"] : size >= 1e-6 ? [1e-6, "us"] : [1e-9, "ns"];
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10((step || size / 100) / unit))));
    return s === 0 ? "0" : `${(s / unit).toFixed(digits)} ${name}`;
  }

  function niceStep(rough) {
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(k => k * power).find(step => step >= rough);
  }

  /* Ticks below a picture from x = left to x = left + across; unit: seconds of 1. */
  function ruler(pen, shown, left, across, bottom, unit) {
    const span = shown.end - shown.begin, step = niceStep(span / Math.max(across / 110, 1));
    pen.textAlign = "center";
    for (let tick = Math.ceil(shown.begin / step) * step; tick <= shown.end; tick += step) {
      const x = left + (tick - shown.begin) / span * across;
      pen.fillRect(x, bottom, 1, 4);
      const text = timeText(Math.abs(tick) < step / 2 ? 0 : tick * unit, step * unit);
      pen.fillText(text, Math.min(x, left + across - 18), bottom + 13);
    }
  }

  const KEYS = {
    "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all", Home: "all",
    ArrowUp: "in", ArrowDown: "out",
  };

  /* The part [begin, end) of `whole` that is shown, `least` long or longer; changed() is called once a frame. */
  class Stretch {
    constructor(whole, least, changed) {
      Object.assign(this, { whole, least, changed, begin: whole.begin, end: whole.end, waiting: false });
      this.actions = {
        in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.move(-this.span / 4),
        right: () => this.move(this.span / 4), all: () => this.show(whole.begin, whole.end),
      };
    }

    get span() { return this.end - this.begin; }

    show(begin, end) {
      const span = Math.min(Math.max(end - begin, this.least), this.whole.end - this.whole.begin);
      const middle = (begin + end) / 2;
      this.begin = Math.min(Math.max(middle - span / 2, this.whole.begin), this.whole.end - span);
      this.end = this.begin + span;
      this.redraw();
    }

    zoom(factor, about = (this.begin + this.end) / 2) {
      this.show(about - (about - this.begin) * factor, about + (this.end - about) * factor);
    }

    move(by) { this.show(this.begin + by, this.end + by); }

    redraw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.changed(); });
    }

    /* A canvas whose times lie between x = left and `right` before its end; tell(event): the pointer moves over it.
     * marks(event): whether dragging marks a stretch of time, which mark(from, to) is told of, instead of moving. */
    listen(canvas, left, right, tell, marks = () => false, mark = () => {}) {
      const across = () => canvas.clientWidth - left - right;
      const timeAt = x => this.begin + (x - left) / across() * this.span;
      let drag = null;
      canvas.addEventListener("wheel", event => {
        if (event.shiftKey || event.offsetX < left) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX));
      }, { passive: false });
      canvas.addEventListener("pointerdown", event => {
        drag = { x: event.offsetX, begin: this.begin, end: this.end, marks: marks(event), from: timeAt(event.offsetX) };
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", event => {
        if (!drag) return tell(event, timeAt(event.offsetX));
        if (drag.marks) return mark(drag.from, timeAt(event.offsetX));
        const by = (event.offsetX - drag.x) / across() * (drag.end - drag.begin);
        this.show(drag.begin - by, drag.end - by);
      });
      ["pointerup", "pointercancel"].forEach(name => canvas.addEventListener(name, () => { drag = null; }));
      canvas.addEventListener("dblclick", this.actions.all);
      canvas.addEventListener("keydown", event => {
        const action = KEYS[event.key];
        if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.actions[action]();
      });
    }

    /* Buttons with data-do, other sizes of the window, other colours of the system. */
    listenToPage() {
      document.querySelectorAll("button[data-do]").forEach(button => {
        button.addEventListener("click", this.actions[button.dataset.do]);
      });
      window.addEventListener("resize", () => this.redraw());
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    }
  }

  /* A canvas of so many CSS pixels, cleared, and its pen in device pixels. */
  function fit(canvas, width, height) {
    const dots = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    return [canvas.getContext("2d"), dots];
  }

  /* A name that is no wider than `room`: what is cut out is not the number in brackets at its end. */
  function shortened(pen, name, room) {
    if (pen.measureText(name).width <= room) return name;
    const [, start, end] = name.match(/^(.*?),?(?:\.\.\.)?( \(\d+\))?$/);
    let kept = start.length;
    const cut = () => `${start.slice(0, kept).replace(/[-,]$/, "")}\u2026${end || ""}`;
    while (kept > 1 && pen.measureText(cut()).width > room) kept--;
    return cut();
  }

  /* The colours of what ranks do, of cells that are not filled, and of what is between rows. */
  const doings = () => ["--c0", "--c1", "--c2", "--tracer"].map(pixel);

  /* Fills one column of a row from below: `below(k)` is the share of the first k + 1 doings. */
  function fillColumn(pixels, width, x, top, high, colours, empty, below) {
    let y = high;
    for (let k = 0; k < colours.length; k++) {
      const until = high - Math.round(Math.min(below(k), 1) * high);
      while (y > until) pixels[(top + --y) * width + x] = colours[k];
    }
    while (y > 0) pixels[(top + --y) * width + x] = empty;
  }

  return { style, pixel, timeText, niceStep, ruler, Stretch, fit, shortened, doings, fillColumn };
})();
