"use strict";
/* The zoomable timeline. All runs show the same stretch of time, so that they are on one scale. Each canvas keeps what
 * it shows in data-begin, data-end (s), data-level and data-cells (cells that are not empty): tests read them. */
(async () => {
  const STEPS = 15, LEFT = 96, RIGHT = 8, ABOVE = 26, BELOW = 22, PRINTED = 900;
  const NAMES = ["computing", "waiting for others", "rest of MPI", "the tracer"];
  const runs = JSON.parse(document.getElementById("cells").textContent);
  const views = [...document.querySelectorAll("canvas.timeline")];
  const hover = document.querySelector(".hover");
  const whole = { begin: Math.min(...runs.map(r => r.begin)), end: Math.max(...runs.map(r => r.end)) };
  const least = Math.min(...runs.map(r => r.width)) * 20;
  const shown = new Drawing.Stretch(whole, least, () => views.forEach(canvas => draw(canvas)));

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

  const lineHeight = run => Math.max(5, Math.min(36, Math.floor(560 / Math.max(run.lines.length, 1))));

  function draw(canvas, width = canvas.clientWidth) {
    const run = runs[canvas.dataset.run], high = lineHeight(run);
    const height = ABOVE + high * run.lines.length + BELOW;
    const [pen, dots] = Drawing.fit(canvas, width, height);
    const columns = Math.max(1, Math.round((width - LEFT - RIGHT) * dots));
    const level = levelFor(run, shown.span / columns);
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
    const colours = Drawing.doings(), empty = Drawing.pixel("--empty");
    const image = pen.createImageData(columns, Math.max(high * run.lines.length, 1));
    const pixels = new Uint32Array(image.data.buffer).fill(Drawing.pixel("--panel"));
    const bars = Math.max(high - (high > 6 ? Math.ceil(dots) : 0), 1);
    let filled = 0;
    for (let x = 0; x < columns; x++) {
      const time = shown.begin + (x + 0.5) / columns * shown.span;
      const bin = Math.floor((time - run.begin) / level.width);
      if (bin < 0 || bin >= level.bins || time >= run.end) continue;
      for (let line = 0; line < run.lines.length; line++) {
        const cell = level.cells[line * level.bins + bin];
        if (cell) filled++;
        let sum = 0;
        Drawing.fillColumn(pixels, columns, x, line * high, bars, colours, empty,
          k => (sum += cell >> 4 * k & 15) / STEPS);
      }
    }
    pen.putImageData(image, Math.round(LEFT * dots), Math.round(ABOVE * dots));
    return filled;
  }

  function decorate(pen, run, high, width, height) {
    const across = width - LEFT - RIGHT;
    const at = time => LEFT + (time - shown.begin) / shown.span * across;
    const inside = time => time >= shown.begin && time <= shown.end;
    pen.fillStyle = pen.strokeStyle = Drawing.style("--ink");
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const every = Math.max(1, Math.ceil(12 / high));
    run.lines.forEach((name, line) => {
      if (line % every === 0) pen.fillText(Drawing.shortened(pen, name, LEFT - 8), LEFT - 6, ABOVE + (line + 0.5) * high);
    });
    Drawing.ruler(pen, shown, LEFT, across, height - BELOW, 1);
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

  function tell(canvas, event, time) {
    const run = runs[canvas.dataset.run];
    const line = Math.floor((event.offsetY - ABOVE) / lineHeight(run)), level = run.levels[canvas.dataset.level || 0];
    const bin = Math.floor((time - run.begin) / level.width);
    if (line < 0 || line >= run.lines.length || bin < 0 || bin >= level.bins) return;
    const cell = level.cells[line * level.bins + bin];
    const parts = NAMES.map((name, k) => [name, cell >> 4 * k & 15]).filter(([, n]) => n)
      .map(([name, n]) => `${name} ${Math.round(100 * n / STEPS)} %`);
    const who = run.grouped ? `ranks ${run.lines[line]}` : `rank ${run.lines[line]}`;
    hover.textContent = `${who} at ${Drawing.timeText(time, level.width)}: ${parts.join(", ") || "nothing known"}`;
  }

  await Promise.all(runs.map(unpack));
  views.forEach(canvas => shown.listen(canvas, LEFT, RIGHT, (event, time) => tell(canvas, event, time)));
  shown.listenToPage();
  /* Paper is white, and the style sheet makes what is drawn as wide as the paper, whatever the window is. */
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    views.forEach(canvas => draw(canvas, PRINTED));
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printed");
    shown.redraw();
  });
  shown.redraw();
})();
