"use strict";
/* Panes: one run drawn as states or as a view, on the time axis that all panes share. A Draw is what is drawn, once for each
 * run, on one scale. The canvas keeps what it shows in data-*: begin and end (ns), level, cells (that are filled), busy
 * (tiles on their way), messages and hits (drawn), draw: tests read them. */
const Panes = (() => {
  const { LEFT, RIGHT } = Layers, STATES = "states", STRIPS = 400, FEW = 6;
  const element = (name, attributes = {}, ...content) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...content);
    return made;
  };
  const short = value => value === null ? "-" : Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value)
    : String(Number(value.toPrecision(4)));

  /* What is drawn: its scale or its colours are those of all runs. */
  class Draw {
    constructor({ view, level }) {
      Object.assign(this, { view, level, panes: [], colours: new Map(), chosen: null, value: "" });
    }

    get isView() { return this.view !== STATES; }
    get asked() { return this.isView ? { draw: this.view, each: this.level } : {}; }
    get known() { return this.panes.map(pane => pane.about).filter(about => about); }

    /* Whether numbers are drawn as curves: in all runs alike. */
    get isCurves() {
      const { numbers } = this.panes[0].page, rows = this.panes.map(pane => pane.rows?.names.length || 0);
      return numbers === "curves" || numbers === "auto" && Math.max(...rows) <= FEW;
    }

    /* From where to where the scale goes: what was chosen, or all values but peaks of an instant. */
    get range() {
      if (this.chosen) return this.chosen;
      const scales = this.known.map(about => about.scale).filter(scale => scale);
      const all = name => scales.map(scale => scale[name]);
      const most = Math.max(...all("most"), -Infinity), peak = Math.max(...all("peak"), -Infinity);
      const top = peak > 0 ? Math.min(most, 4 * peak) : most;
      return { least: Math.min(0, ...all("least")), top: Number.isFinite(top) && top !== 0 ? top : 1 };
    }
  }

  class Pane {
    /* page: what all panes share; run: a run's number and what is known of it. */
    constructor(page, run, draw) {
      Object.assign(this, { page, run, draw, rows: null, about: null, said: {}, whole: null });
      Object.assign(this, { hit: null, near: null, focus: 0 });
      this.canvas = element("canvas", { className: "timeline", tabIndex: 0, role: "img", ariaLabel: "rows over time" });
      this.spacer = element("div", { className: "spacer" }, this.canvas);
      this.scroller = element("div", { className: "scroller", tabIndex: -1 }, this.spacer);
      this.head = element("div", { className: "panehead" });
      this.error = element("p", { className: "error", hidden: true });
      this.element = element("section", { className: "pane" }, this.head, this.error, this.scroller);
      this.scroller.addEventListener("scroll", () => page.shown.redraw());
      new ResizeObserver(() => page.shown.redraw()).observe(this.scroller);
    }

    get isFirst() { return this.page.panes[0] === this; }
    get ranks() { return this.page.wanted.ranks; }
    get asked() {
      const own = this.draw.isView ? this.draw.asked : { rows: this.page.wanted.rows };
      return { run: this.run.number, ranks: this.ranks, ...own };
    }

    rowOf(rank, thread) {
      const row = this.rows.of_rank[rank];
      return row < 0 || !this.rows.by_thread ? row : row + thread;
    }
    threadOf(row) {
      const thread = this.rows.by_thread ? this.rows.names[row].split(".")[1] : undefined;
      return thread === undefined ? null : Number(thread);
    }

    /* Asks for the rows, and of a view for what it is. Throws what the server refuses. */
    async load() {
      const asked = this.asked, key = JSON.stringify(asked);
      this.loading = key;
      this.head.classList.add("waits");
      try {
        const about = this.draw.isView ? await Server.get("drawn", asked) : null;
        const rows = await Server.get("rows", asked), whole = (await Server.get("overview", asked)).shares;
        if (this.loading !== key) return;
        Object.assign(this, { about, rows, whole, focus: 0, hit: null, near: null, said: {} });
        this.tell("");
      } catch (error) {
        if (this.loading !== key) return;
        this.tell(error.message);
        throw error;
      } finally {
        this.head.classList.remove("waits");
        this.page.headsChanged(this.draw);
        this.page.shown.redraw();
      }
    }

    /* Nothing is drawn until something else has been loaded. */
    blank() {
      Object.assign(this, { about: null, rows: null, said: {} });
      this.canvas.width = 0;
      this.canvas.dataset.cells = 0;
    }

    tell(text) {
      this.error.textContent = text;
      this.error.hidden = !text;
    }

    frame() {
      const first = this.page.panes.find(pane => pane.run === this.run) === this, parts = { marked: first, strip: first };
      const room = this.scroller.clientHeight, count = Math.max(this.rows.names.length, 1);
      const around = Layers.Frame.above(parts.marked) + Layers.Frame.below(parts.strip), body = room - around;
      const least = this.page.fits ? 0.01 : this.page.panes.length > 2 ? 11 : 15;
      const high = Math.max(least, Math.min(110, body / count));
      this.spacer.style.height = `${Math.max(room, high * count + around)}px`;
      return new Layers.Frame(
        this.scroller.clientWidth, room, this.page.shown, high, this.scroller.scrollTop, this.rows.names.length, parts,
      );
    }

    painter() {
      if (!this.draw.isView) return Scale.ofShares(Drawing.doings());
      if (!this.about.scale) {
        return Scale.ofShares(this.about.colours.map(name => Scale.pixelOf(Scale.colourOf(name, this.draw.colours))));
      }
      const how = this.page.numbers;
      if (this.draw.isCurves) return Scale.asCurves(this.draw.range);
      return Scale.ofNumbers(this.draw.range, ["mean", "least", "most"].indexOf(how === "auto" ? "mean" : how));
    }

    /* A tile, or the nearest coarser one that is there, and its level. */
    tileOf(level, ns, block) {
      const { bins } = this.run.about;
      for (let coarser = level; coarser < level + 7; coarser++) {
        const index = Math.floor(ns / (bins * 2 ** coarser));
        const tile = this.page.tiles.get({ ...this.tileQuery, level: coarser, index, block });
        if (tile) return [this.about?.scale ? new Float32Array(tile.buffer) : tile, coarser];
      }
      return [null, level];
    }
    get tileQuery() { return { ...this.asked, generation: this.run.about.generation }; }

    tilesInSight() {
      if (!this.rows) return [];
      const frame = this.frame();
      return Layers.tilesInSight(frame, Layers.levelOf(frame, window.devicePixelRatio || 1), this.run.about, this.tileQuery);
    }

    paint() {
      if (!this.rows || this.draw.isView && !this.about) return;
      const frame = this.frame(), [pen, dots] = Drawing.fit(this.canvas, frame.width, frame.height), { lines } = this.page;
      const level = Layers.levelOf(frame, dots), tileOf = this.tileOf.bind(this), rowOf = this.rowOf.bind(this);
      const cells = Layers.cells(pen, dots, frame, level, this.run.about, tileOf, this.painter());
      pen.scale(dots, dots);
      pen.textBaseline = "middle";
      const hits = Layers.hits(pen, frame, this.said.hits) + Layers.hits(pen, frame, this.said.values);
      const messages = lines === "none" ? 0 : Layers.messages(pen, frame, this.said.messages, rowOf, this.near, lines);
      Layers.current(pen, frame, this.hit);
      const ink = Drawing.style("--ink");
      pen.fillStyle = pen.strokeStyle = ink;
      Layers.labels(pen, frame, this.rows.names, this.focus);
      pen.fillStyle = ink;
      Layers.marks(pen, frame, this.said.marks, this.rows.names[this.focus] || "");
      pen.fillStyle = ink;
      Drawing.ruler(pen, this.page.shown, LEFT, frame.across, frame.bottom + (frame.strip ? Layers.STRIP : 0), 1e-9);
      const { begin, end } = this.page.inSight(), [draw, busy] = [this.draw.view, this.page.tiles.busy];
      Object.assign(this.canvas.dataset, { begin, end, level, cells, busy, messages, hits, draw });
    }

    /* All rows together over the whole run, in the strip above the panes. */
    paintOverview(overview) {
      if (!this.whole || this.draw.isView && !this.about) return;
      const width = overview.clientWidth, [pen, dots] = Drawing.fit(overview, width, 46), { whole } = this;
      const columns = Math.round((width - LEFT - RIGHT) * dots), high = Math.round(40 * dots), count = whole[0]?.length || 0;
      const image = pen.createImageData(columns, high), pixels = new Uint32Array(image.data.buffer);
      const ends = this.run.about.duration_ns / this.page.shown.whole.end, numbers = this.about?.scale;
      const painter = numbers ? Scale.asCurves(this.draw.range) : this.painter();
      for (let x = 0; x < columns * ends && count; x++) {
        const strip = Math.min(Math.floor(x / (columns * ends) * count), count - 1);
        const cell = whole.map(shares => shares[strip]);
        const tile = numbers ? [cell[0], cell[0], cell[0]] : cell.map(share => share * 255);
        painter.column(pixels, columns, x, 0, high, tile, 0);
      }
      pen.putImageData(image, Math.round(LEFT * dots), 0);
      pen.scale(dots, dots);
      const { shown } = this.page, at = ns => LEFT + ns / shown.whole.end * (width - LEFT - RIGHT);
      pen.fillStyle = Drawing.style("--paper");
      pen.globalAlpha = 0.6;
      pen.fillRect(LEFT, 0, at(shown.begin) - LEFT, 40);
      pen.fillRect(at(shown.end), 0, width - RIGHT - at(shown.end), 40);
      pen.globalAlpha = 1;
      pen.strokeStyle = Drawing.style("--ink");
      pen.lineWidth = 2;
      pen.strokeRect(at(shown.begin), 1, Math.max(at(shown.end) - at(shown.begin), 3), 39);
      pen.fillStyle = Drawing.style("--ink");
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      pen.fillText(this.page.several ? Drawing.shortened(pen, this.run.about.name, LEFT - 8) : "whole run", LEFT - 6, 20);
    }

    /* What the server says of what is in sight; sought: calls that are searched for. */
    async ask(sought) {
      if (!this.rows) return;
      const { begin, end } = this.page.inSight(), part = this.frame(), { asked } = this;
      const topic = name => `${name} ${this.number}`;
      const told = (name, answer) => answer && (this.said[name] = { ...answer, begin, end, from: part.first });
      const rank = this.rows.rank[this.focus] ?? 0, each = [];
      const newest = (name, query) => Server.newest(topic(name), name, query);
      each.push(newest("marks", { ...asked, begin, end, rank }).then(answer => told("marks", answer)));
      const strips = { from: part.first, to: part.last, strips: STRIPS };
      if (this.page.lines !== "none") {
        const query = { ...asked, begin, end, ...strips, lines: this.page.lines };
        each.push(newest("messages", query).then(answer => told("messages", answer)));
      }
      if (sought) {
        const query = { ...this.page.view(), ...asked, ...strips };
        each.push(newest("hits", query).then(answer => told("hits", answer)));
      } else delete this.said.hits;
      if (this.draw.isView && this.draw.value) {
        const query = { ...asked, begin, end, ...strips, value: this.draw.value };
        each.push(newest("value_hits", query).then(answer => told("values", answer)).catch(error => {
          if (error instanceof TypeError) throw error; /* the server has ended */
          this.tell(error.message);
        }));
      } else delete this.said.values;
      await Promise.all(each);
    }

    /* The names of colours, or the scale, as texts beside the names of the pane. */
    legend() {
      const { draw } = this, made = element("span", { className: "legend" });
      if (!draw.isView) {
        this.run.about.doings.forEach((name, k) => {
          made.append(element("span", {}, element("i", { className: `key doing${k}` }), name));
        });
      } else if (this.about && !this.about.scale) {
        for (const name of this.about.colours) {
          const key = element("i", { className: "key" });
          key.style.background = Scale.colourOf(name, draw.colours);
          made.append(element("span", { title: name }, key, name.length > 22 ? `${name.slice(0, 20)}\u2026` : name));
        }
      } else if (this.about) made.append(...this.ends());
      return made;
    }

    ends() {
      const { draw } = this, range = draw.range, gradient = element("canvas", { className: "gradient" });
      const most = Math.max(...draw.known.map(about => about.scale?.most ?? -Infinity));
      const input = (name, label) => {
        const made = element("input", { size: 7, value: short(range[name]), ariaLabel: label, title: label });
        made.addEventListener("change", () => this.page.choose(draw, { ...range, [name]: Number(made.value) }));
        return made;
      };
      const fit = element("button", { type: "button", title: "scale to what is in sight" }, "fit");
      fit.addEventListener("click", () => this.page.fitScale(draw));
      const whole = element("button", { type: "button", title: "scale of the whole run", hidden: !draw.chosen }, "whole");
      whole.addEventListener("click", () => this.page.choose(draw, null));
      const above = most > range.top ? [element("span", { className: "note" }, `peaks up to ${short(most)}`)] : [];
      if (!draw.isCurves) queueMicrotask(() => Scale.drawGradient(gradient, 90, 12));
      const between = draw.isCurves ? "to" : gradient;
      const unit = this.about.unit ? [` ${this.about.unit} `] : [];
      return [input("least", "the scale begins at"), between, input("top", "the scale ends at"), ...unit, ...above, fit, whole];
    }
  }

  return { Draw, Pane, STATES, element, short };
})();
