"use strict";
/* Lines over all panes: the cursor, the stretch that is measured, and the line that plays through time. Times are ns. */
const Measure = (() => {
  const { LEFT, RIGHT } = Layers;

  class Lines {
    /* place: what the panes lie in; changed(): another stretch is measured, or the line has moved on while it plays. */
    constructor(place, shown, measured, played) {
      Object.assign(this, { place, shown, measured, played, from: null, to: null, cursor: null, at: null, plays: false });
      this.elements = Object.fromEntries(["cursor", "stretch", "playhead"].map(name => {
        const made = Panes.element("div", { className: name, hidden: true });
        place.append(made);
        return [name, made];
      }));
      this.screenIn = 10;
    }

    get isMeasured() { return this.from !== null && this.to !== null; }
    get stretch() {
      const [begin, end] = [Math.min(this.from, this.to), Math.max(this.from, this.to)];
      return { begin: Math.max(0, Math.floor(begin)), end: Math.ceil(end) };
    }

    moveCursor(ns) {
      this.cursor = ns;
      this.draw();
    }

    /* The next mark: the first of a stretch, or its second. */
    mark(ns) {
      if (ns === null) return;
      if (this.from === null || this.to !== null) [this.from, this.to] = [ns, null];
      else this.to = ns;
      this.draw();
      this.measured();
    }

    measure(from, to) {
      [this.from, this.to] = [from, to];
      this.draw();
      this.measured();
    }

    clear() { this.measure(null, null); }

    draw() {
      const wide = this.place.querySelector(".scroller")?.clientWidth || 0, high = this.place.scrollHeight;
      const across = wide - LEFT - RIGHT, { shown } = this;
      const x = ns => LEFT + (ns - shown.begin) / shown.span * across;
      const inside = ns => ns !== null && ns >= shown.begin && ns <= shown.end;
      const put = (made, visible, left, width) => {
        made.hidden = !visible;
        if (visible) Object.assign(made.style, { left: `${left}px`, width: `${width}px`, height: `${high}px` });
      };
      put(this.elements.cursor, inside(this.cursor), x(this.cursor), 1);
      put(this.elements.playhead, this.at !== null && inside(this.at), x(this.at) - 1, 2);
      const to = this.to ?? this.from, [low, high_] = [Math.min(this.from, to), Math.max(this.from, to)];
      const seen = this.from !== null && high_ >= shown.begin && low <= shown.end;
      const left = Math.max(x(low), LEFT), right = Math.min(x(high_), LEFT + across);
      put(this.elements.stretch, seen, left, Math.max(right - left, 1));
    }

    /* Time passes: what is in sight in `screenIn` seconds. The line goes to the middle, and then time moves below it. */
    play() {
      if (this.at === null || this.at < this.shown.begin || this.at >= this.shown.end) this.at = this.shown.begin;
      this.plays = true;
      let before = performance.now();
      const step = now => {
        if (!this.plays) return;
        const { shown } = this, { begin, end } = shown.whole;
        this.at = Math.min(this.at + (now - before) / 1000 * shown.span / this.screenIn, end);
        before = now;
        const half = shown.span / 2;
        if (this.at > shown.begin + half && shown.end < end) shown.show(this.at - half, this.at + half);
        if (this.at >= end) this.plays = false;
        this.draw();
        this.played(this.at);
        if (this.plays) requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }

    pause() {
      this.plays = false;
      this.played(this.at);
    }
  }

  return { Lines };
})();
