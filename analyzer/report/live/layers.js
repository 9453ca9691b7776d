"use strict";
/* The layers of the picture, from back to front: cells, hits, messages, marks. Times are ns. */
const Layers = (() => {
  const LEFT = 92, RIGHT = 10, ABOVE = 44, STRIP = 26, BELOW = 24 + STRIP, BARE = 6;

  /* Where things are on the canvas: rows [first, first + count) are in sight, the first one at y. marked: there is room
   * for marks above the rows; strip: for the strip of messages below them. */
  class Frame {
    constructor(width, height, shown, rowHeight, scrolled, rows, { marked, strip }) {
      Object.assign(this, { width, height, shown, rowHeight, scrolled, rows, marked, strip });
      this.above = Frame.above(marked);
      this.across = width - LEFT - RIGHT;
      this.bottom = height - Frame.below(strip);
      this.first = Math.max(0, Math.min(rows - 1, Math.floor(scrolled / rowHeight)));
      this.last = Math.min(rows, Math.ceil((scrolled + this.bottom - this.above) / rowHeight));
    }

    static above(marked) { return marked ? ABOVE : BARE; }
    static below(strip) { return strip ? BELOW : BELOW - STRIP; }

    x(ns) { return LEFT + (ns - this.shown.begin) / this.shown.span * this.across; }
    y(row) { return this.above + row * this.rowHeight - this.scrolled; }
    rowAt(y) {
      const row = Math.floor((y - this.above + this.scrolled) / this.rowHeight);
      return y < this.above || y > this.bottom || row < 0 || row >= this.rows ? -1 : row;
    }
    has(ns) { return ns >= this.shown.begin && ns <= this.shown.end; }
  }

  /* The level whose cells are a pixel wide, or up to two. */
  const levelOf = (frame, dots) => Math.max(0, Math.ceil(Math.log2(frame.shown.span / (frame.across * dots))));

  /* Queries of all tiles that are in sight at a level. */
  function tilesInSight(frame, level, about, wanted) {
    const long = about.bins * 2 ** level, found = [];
    for (let block = Math.floor(frame.first / about.block); block * about.block < frame.last; block++) {
      for (let index = Math.floor(frame.shown.begin / long); index * long < frame.shown.end; index++) {
        found.push({ ...wanted, level, index, block });
      }
    }
    return found;
  }

  /* Draws the rows in sight; where a tile is not there yet, what coarser tiles say. painter: how many numbers a cell has,
   * and column(pixels, columns, x, from, high, tile, cell), which says whether the cell is filled. Returns how many are. */
  function cells(pen, dots, frame, level, about, tileOf, painter) {
    const columns = Math.max(1, Math.round(frame.across * dots)), top = Math.round(frame.above * dots);
    const rows = Math.max(1, Math.round((frame.bottom - frame.above) * dots));
    const image = pen.createImageData(columns, rows), pixels = new Uint32Array(image.data.buffer);
    pixels.fill(Drawing.pixel("--paper"));
    const gap = frame.rowHeight > 5 ? Math.ceil(dots) : 0;
    let filled = 0;
    for (let row = frame.first; row < frame.last; row++) {
      const from = Math.max(0, Math.round((frame.y(row)) * dots) - top);
      const high = Math.min(rows, Math.round(frame.y(row + 1) * dots) - top) - from - gap;
      if (high < 1) continue;
      const block = Math.floor(row / about.block), inBlock = row - block * about.block;
      let tile = null, until = -1, cell = 0, first = 0, used = level;
      for (let x = 0; x < columns; x++) {
        const ns = frame.shown.begin + (x + 0.5) / columns * frame.shown.span;
        if (ns >= about.duration_ns) break;
        if (ns >= until) {
          [tile, used] = tileOf(level, ns, block);
          const long = about.bins * 2 ** level;
          until = (Math.floor(ns / long) + 1) * long;
          first = tile ? Math.floor(ns / (about.bins * 2 ** used)) * about.bins : 0;
        }
        if (!tile) continue;
        cell = ((inBlock * about.bins) + Math.floor(ns / 2 ** used) - first) * painter.numbers;
        if (painter.column(pixels, columns, x, from, high, tile, cell)) filled++;
      }
    }
    pen.putImageData(image, Math.round(LEFT * dots), top);
    return filled;
  }

  function labels(pen, frame, names, focus) {
    const every = Math.max(1, Math.ceil(12 / frame.rowHeight));
    pen.textAlign = "right";
    for (let row = frame.first; row < frame.last; row++) {
      if (row % every && row !== focus) continue;
      const y = frame.y(row) + frame.rowHeight / 2;
      if (y < frame.above + 4 || y > frame.bottom - 4) continue;
      pen.font = `${row === focus ? "bold " : ""}11px system-ui, sans-serif`;
      pen.fillText(Drawing.shortened(pen, names[row], LEFT - 8), LEFT - 6, y);
    }
    pen.font = "11px system-ui, sans-serif";
  }

  /* Regions and iterations of one rank above the rows, flushes at their rows. */
  function marks(pen, frame, said, focusName) {
    if (!said) return;
    if (frame.marked) above(pen, frame, said, focusName);
    said.flushes.forEach(([row, begin]) => {
      const x = frame.x(begin), y = Math.min(frame.y(row + 1), frame.bottom);
      if (!frame.has(begin) || y < frame.above + 7) return;
      pen.beginPath();
      pen.moveTo(x, y - 7);
      pen.lineTo(x - 4, y);
      pen.lineTo(x + 4, y);
      pen.fill();
    });
  }

  function above(pen, frame, said, focusName) {
    pen.textAlign = "right";
    if (said.regions.length) pen.fillText(`regions of ${focusName}`.slice(0, 16), LEFT - 6, 10);
    said.regions.forEach(([name, begin, end], k) => {
      const from = Math.max(LEFT, frame.x(begin)), to = Math.min(LEFT + frame.across, frame.x(end));
      pen.fillStyle = Drawing.style(k % 2 ? "--faint" : "--code");
      pen.fillRect(from, 2, Math.max(to - from, 1), 16);
      pen.fillStyle = Drawing.style("--ink");
      pen.textAlign = "left";
      if (to - from > 7 * name.length + 6) pen.fillText(name, from + 4, 10.5);
    });
    const found = said.iterations;
    if (found) {
      pen.textAlign = "right";
      pen.fillText("iterations", LEFT - 6, 28);
      pen.textAlign = "left";
      let free = 0;
      found.edges_ns.forEach((edge, k) => {
        const x = frame.x(edge), text = String(found.first + k * found.every), wide = x >= free;
        pen.fillRect(x, wide ? 24 : 37, 1, wide ? 18 : 5);
        if (!wide || x > LEFT + frame.across - 20) return;
        pen.fillText(text, x + 3, 28);
        free = x + 14 + 7 * text.length;
      });
    }
  }

  /* Where calls that were searched for begin: a mark in each strip of a row that has some. */
  function hits(pen, frame, said) {
    if (!said || !said.counts.length) return 0;
    const strips = said.counts[0].length, high = Math.max(3, Math.min(9, frame.rowHeight / 3));
    let drawn = 0;
    pen.fillStyle = Drawing.style("--hit");
    said.counts.forEach((counts, k) => {
      const y = frame.y(said.from + k);
      if (y < frame.above - frame.rowHeight + high || y > frame.bottom - high) return;
      counts.forEach((count, strip) => {
        if (!count) return;
        drawn++;
        pen.fillRect(frame.x(said.begin + (strip + 0.5) / strips * (said.end - said.begin)) - 1, Math.max(y, frame.above), 3, high);
      });
    });
    return drawn;
  }

  function current(pen, frame, hit) {
    if (!hit || !frame.has(hit.at_ns)) return;
    const x = frame.x(hit.at_ns), y = frame.y(hit.row);
    pen.strokeStyle = pen.fillStyle = Drawing.style("--hit");
    pen.lineWidth = 2;
    pen.strokeRect(x - 5, Math.max(y, frame.above) - 1, 10, frame.rowHeight);
    pen.fillRect(x - 0.5, frame.above - 6, 1, frame.bottom - frame.above + 6);
    pen.lineWidth = 1;
  }

  /* From when to when lines go, by the name of the choice; those of data on their way are dashed where both are drawn. */
  const LINES = { whole: [[0, 1]], logical: [[0, 9]], physical: [[8, 1]], both: [[0, 9], [8, 1]] };

  /* The ends of a message on the canvas; null: one of its rows is not there. */
  function line(frame, arrow, rowOf, [first, second]) {
    const [source, sourceThread, destination, destinationThread] = arrow.slice(4, 8);
    const from = rowOf(source, sourceThread), to = rowOf(destination, destinationThread);
    if (from < 0 || to < 0 || Math.max(from, to) < frame.first || Math.min(from, to) >= frame.last) return null;
    const half = frame.rowHeight / 2;
    return [frame.x(arrow[first]), frame.y(from) + half, frame.x(arrow[second]), frame.y(to) + half];
  }

  /* Returns how many lines are drawn. */
  function messages(pen, frame, said, rowOf, near, kind) {
    if (!said) return 0;
    if (frame.strip) counts(pen, frame, said);
    if (!said.arrows) return 0;
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, frame.above, frame.across, frame.bottom - frame.above);
    pen.clip();
    const few = said.arrows.length < 400, kinds = LINES[kind];
    let drawn = 0;
    kinds.forEach((ends, k) => {
      const path = new Path2D();
      for (const arrow of said.arrows) {
        const found = line(frame, arrow, rowOf, ends);
        if (!found) continue;
        const [x, y, toX, toY] = found;
        drawn++;
        path.moveTo(x, y);
        path.lineTo(toX, toY);
        if (few) path.arc(toX, toY, 2, 0, 7);
      }
      pen.setLineDash([]);
      if (few) {
        pen.strokeStyle = Drawing.style("--halo");
        pen.lineWidth = 3;
        pen.globalAlpha = 0.55;
        pen.stroke(path);
      }
      if (k) pen.setLineDash([5, 3]);
      pen.strokeStyle = Drawing.style(k ? "--physical" : "--arrow");
      pen.lineWidth = 1;
      pen.globalAlpha = few ? 0.95 : 0.3;
      pen.stroke(path);
    });
    pen.setLineDash([]);
    for (const ends of near ? kinds : []) {
      const marked = line(frame, near, rowOf, ends);
      if (!marked) continue;
      pen.globalAlpha = 1;
      pen.lineWidth = 3;
      pen.strokeStyle = Drawing.style("--hit");
      pen.beginPath();
      pen.moveTo(marked[0], marked[1]);
      pen.lineTo(marked[2], marked[3]);
      pen.stroke();
    }
    pen.restore();
    return drawn;
  }

  /* How many messages are sent when, as a strip below the rows. */
  function counts(pen, frame, said) {
    const most = Math.max(...said.counts, 1), strips = said.counts.length, high = STRIP - 6;
    const at = k => Math.max(LEFT, Math.min(LEFT + frame.across, frame.x(said.begin + k / strips * (said.end - said.begin))));
    pen.fillStyle = Drawing.style("--c3");
    said.counts.forEach((count, k) => {
      const tall = count / most * high;
      pen.fillRect(at(k), frame.bottom + STRIP - tall, Math.max(at(k + 1) - at(k), 0.5), tall);
    });
    pen.fillStyle = Drawing.style("--ink");
    pen.textAlign = "right";
    pen.fillText(said.arrows ? "messages sent" : "zoom in for lines", LEFT - 6, frame.bottom + STRIP - 6);
  }

  /* The message with the line that is nearest to a point, within a few pixels. */
  function nearest(frame, said, rowOf, x, y, kind) {
    let best = 5, found = null;
    for (const arrow of said?.arrows || []) {
      for (const kindOfLine of LINES[kind]) {
        const ends = line(frame, arrow, rowOf, kindOfLine);
        if (!ends) continue;
        const [ax, ay, bx, by] = ends, dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy || 1;
        const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
        const away = Math.hypot(x - ax - along * dx, y - ay - along * dy);
        if (away < best) [best, found] = [away, arrow];
      }
    }
    return found;
  }

  return {
    LEFT, RIGHT, ABOVE, BELOW, STRIP, Frame, levelOf, tilesInSight, cells, labels, marks, hits, current, messages, nearest,
  };
})();
