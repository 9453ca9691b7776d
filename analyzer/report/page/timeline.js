"use strict";
/* The zoomable timeline. All runs show the same stretch of time, so that they are on one scale. Each canvas keeps what
 * it shows in data-begin, data-end (s), data-level and data-cells (cells that are not empty): tests read them. */
(async () => {
  const STEPS = 15, STATES = 4, LEFT = 96, ABOVE = 26, BELOW = 22;
  const NAMES = ["computing", "waiting for others", "rest of MPI", "the tracer"];
  const runs = JSON.parse(document.getElementById("cells").textContent);
  const views = [...document.querySelectorAll("canvas.timeline")];
  const hover = document.querySelector(".hover");
  const whole = { begin: Math.min(...runs.map(r => r.begin)), end: Math.max(...runs.map(r => r.end)) };
  const shown = { ...whole };
  const least = Math.min(...runs.map(r => r.width)) * 20;

  async function unpack(run) {
    const bytes = Uint8Array.from(atob(run.cells), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const cells = new Uint16Array(await new Response(stream).arrayBuffer());
    let first = 0, width = run.width;
    run.levels = run.bins.map(bins => {
      const level = { bins, width, cells: cells.subarray(first, first + bins * run.lines.length) };
      first += bins * run.lines.length;
      width *= run.together;
      return level;
    });
  }

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function pixel(colour) {
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  }

  function timeText(s, step) {
    const size = Math.max(Math.abs(s), 1e-12);
    const [unit, name] = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e-3, "ms"] : size >= 1e-6 ? [1e-6, "us"] : [1e-9, "ns"];
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10((step || size / 100) / unit))));
    return s === 0 ? "0" : `${(s / unit).toFixed(digits)} ${name}`;
  }

  const lineHeight = run => Math.max(5, Math.min(36, Math.floor(560 / Math.max(run.lines.length, 1))));

  function draw(canvas) {
    const run = runs[canvas.dataset.run], dots = window.devicePixelRatio || 1;
    const high = lineHeight(run), width = canvas.clientWidth;
    const height = ABOVE + high * run.lines.length + BELOW;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const pen = canvas.getContext("2d");
    const columns = Math.max(1, Math.round((width - LEFT - 8) * dots));
    const level = levelFor(run, (shown.end - shown.begin) / columns);
    const filled = fill(pen, run, run.levels[level], columns, Math.max(2, Math.round(high * dots)), dots);
    pen.scale(dots, dots);
    decorate(pen, run, high, width, height);
    Object.assign(canvas.dataset, { begin: shown.begin, end: shown.end, level, cells: filled });
  }

  function levelFor(run, perColumn) {
    let chosen = 0;
    run.levels.forEach((level, k) => { if (level.width <= perColumn) chosen = k; });
    return chosen;
  }

  /* The shares of a cell as heights, from below; returns how many cells were not empty. */
  function fill(pen, run, level, columns, high, dots) {
    const colours = Uint32Array.from(["--c0", "--c1", "--c2", "--tracer", "--empty"].map(n => pixel(style(n))));
    const gap = pixel(style("--panel"));
    const image = pen.createImageData(columns, Math.max(high * run.lines.length, 1));
    const pixels = new Uint32Array(image.data.buffer).fill(gap);
    const bars = Math.max(high - (high > 6 ? Math.ceil(dots) : 0), 1);
    let filled = 0;
    for (let x = 0; x < columns; x++) {
      const time = shown.begin + (x + 0.5) / columns * (shown.end - shown.begin);
      const bin = Math.floor((time - run.begin) / level.width);
      if (bin < 0 || bin >= level.bins || time >= run.end) continue;
      for (let line = 0; line < run.lines.length; line++) {
        let cell = level.cells[line * level.bins + bin], y = bars, below = 0;
        if (cell) filled++;
        for (let state = 0; state <= STATES; state++) {
          below = state < STATES ? below + (cell >> 4 * state & 15) : STEPS;
          const until = bars - Math.round(Math.min(below, STEPS) / STEPS * bars);
          while (y > until) pixels[(line * high + --y) * columns + x] = colours[state];
        }
      }
    }
    pen.putImageData(image, Math.round(LEFT * dots), Math.round(ABOVE * dots));
    return filled;
  }

  function decorate(pen, run, high, width, height) {
    const across = width - LEFT - 8, span = shown.end - shown.begin;
    const at = time => LEFT + (time - shown.begin) / span * across;
    const inside = time => time >= shown.begin && time <= shown.end;
    pen.fillStyle = pen.strokeStyle = style("--ink");
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const every = Math.max(1, Math.ceil(12 / high));
    run.lines.forEach((name, line) => {
      if (line % every === 0) pen.fillText(name.slice(0, 16), LEFT - 6, ABOVE + (line + 0.5) * high);
    });
    const bottom = height - BELOW;
    pen.textAlign = "center";
    const step = niceStep(span / Math.max(across / 110, 1));
    for (let tick = Math.ceil(shown.begin / step) * step; tick <= shown.end; tick += step) {
      pen.fillRect(at(tick), bottom, 1, 4);
      pen.fillText(timeText(Math.abs(tick) < step / 2 ? 0 : tick, step), Math.min(at(tick), width - 26), bottom + 13);
    }
    pen.globalAlpha = 0.75;
    run.edges.filter(inside).forEach(edge => pen.fillRect(at(edge), ABOVE - 6, 1, 6));
    pen.globalAlpha = 1;
    pen.textAlign = "left";
    if (run.edges.length) {
      pen.fillText(run.every > 1 ? `each ${run.every} iter.` : "iterations", 4, ABOVE - 4);
    }
    run.regions.forEach(([name, begin, end]) => {
      const from = Math.max(begin, shown.begin), to = Math.min(end, shown.end);
      if (to <= from || at(to) - at(from) < 7 * name.length) return;
      pen.fillText(name, at(from) + 3, 7);
      pen.fillRect(at(from), 1, 1, ABOVE - 8);
      pen.fillRect(at(from), 13, at(to) - at(from), 1);
    });
    run.flushes.filter(([, begin]) => inside(begin)).forEach(([line, begin]) => {
      const x = at(begin), y = ABOVE + (line + 1) * high;
      pen.beginPath();
      pen.moveTo(x, y - 7);
      pen.lineTo(x - 4, y);
      pen.lineTo(x + 4, y);
      pen.fill();
    });
  }

  function niceStep(rough) {
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(k => k * power).find(step => step >= rough);
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; views.forEach(draw); });
  }

  function show(begin, end) {
    const span = Math.min(Math.max(end - begin, least), whole.end - whole.begin);
    const middle = (begin + end) / 2;
    shown.begin = Math.min(Math.max(middle - span / 2, whole.begin), whole.end - span);
    shown.end = shown.begin + span;
    redraw();
  }

  const span = () => shown.end - shown.begin;
  function zoom(factor, about = (shown.begin + shown.end) / 2) {
    show(about - (about - shown.begin) * factor, about + (shown.end - about) * factor);
  }
  const actions = {
    in: () => zoom(0.5), out: () => zoom(2), left: () => show(shown.begin - span() / 4, shown.end - span() / 4),
    right: () => show(shown.begin + span() / 4, shown.end + span() / 4), all: () => show(whole.begin, whole.end),
  };
  const keys = {
    "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all", Home: "all",
    ArrowUp: "in", ArrowDown: "out",
  };

  const timeAt = (canvas, x) => shown.begin + (x - LEFT) / (canvas.clientWidth - LEFT - 8) * span();

  function tell(canvas, event) {
    const run = runs[canvas.dataset.run], time = timeAt(canvas, event.offsetX);
    const line = Math.floor((event.offsetY - ABOVE) / lineHeight(run)), level = run.levels[canvas.dataset.level || 0];
    const bin = Math.floor((time - run.begin) / level.width);
    if (line < 0 || line >= run.lines.length || bin < 0 || bin >= level.bins) return;
    const cell = level.cells[line * level.bins + bin];
    const parts = NAMES.map((name, k) => [name, cell >> 4 * k & 15]).filter(([, n]) => n)
      .map(([name, n]) => `${name} ${Math.round(100 * n / STEPS)} %`);
    const who = run.grouped ? `ranks ${run.lines[line]}` : `rank ${run.lines[line]}`;
    hover.textContent = `${who} at ${timeText(time, level.width)}: ${parts.join(", ") || "nothing known"}`;
  }

  function listen(canvas) {
    let drag = null;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(canvas, event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      drag = { x: event.offsetX, begin: shown.begin, end: shown.end };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (!drag) return tell(canvas, event);
      const by = (event.offsetX - drag.x) / (canvas.clientWidth - LEFT - 8) * (drag.end - drag.begin);
      show(drag.begin - by, drag.end - by);
    });
    ["pointerup", "pointercancel"].forEach(name => canvas.addEventListener(name, () => { drag = null; }));
    canvas.addEventListener("dblclick", actions.all);
    canvas.addEventListener("keydown", event => {
      const action = keys[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      actions[action]();
    });
  }

  await Promise.all(runs.map(unpack));
  views.forEach(listen);
  document.querySelectorAll("button[data-do]").forEach(b => b.addEventListener("click", actions[b.dataset.do]));
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => views.forEach(draw));
  redraw();
})();
