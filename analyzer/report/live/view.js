"use strict";
/* The live view itself: what is shown, what happens when it changes. */
(async () => {
  const { LEFT, RIGHT } = Layers, { element } = Panes, FOLLOW_MS = 1500, GONE_MS = 10_000, REST_MS = 120, LATEST_MS = 500;
  const { find } = Panels, overview = find("overview"), place = find("panes"), form = find("search");
  const abouts = (await Server.get("runs", {})).runs, [first] = abouts;
  const runs = abouts.map((about, number) => ({ number, about })), several = runs.length > 1;
  const longest = () => Math.max(...runs.map(run => run.about.duration_ns), 1);
  let sought = null, held = null, timer = 0, asked = 0, pointed = null, told = 0, panesMade = 0;
  let none = ""; /* said of the last step, if it led to no call */
  let last = null; /* the draw whose values were searched last; null: calls were */

  const page = {
    panes: [], draws: [], several, wanted: { rows: first.view.rows, ranks: first.view.ranks },
    get lines() { return find("arrows").value; },
    get numbers() { return find("numbers").value; },
    get fits() { return find("fit").checked; },
    inSight() {
      const begin = Math.max(0, Math.floor(page.shown.begin));
      return { begin, end: Math.max(begin + 1, Math.min(longest(), Math.ceil(page.shown.end))) };
    },
    view() {
      const { begin, end } = page.inSight();
      return { begin_s: seconds(begin), end_s: seconds(end), ...page.wanted, ...sought };
    },
    headsChanged(draw) { draw.panes.forEach(fillHead); },
    choose(draw, range) {
      draw.chosen = range && Number.isFinite(range.least) && range.top > range.least ? range : null;
      page.headsChanged(draw);
      page.shown.redraw();
    },
    async fitScale(draw) {
      const { begin, end } = page.inSight();
      const each = await Promise.all(draw.panes.map(pane => Server.get("values", { ...pane.asked, begin, end })));
      const values = each.flatMap(({ mean, least, most }) => page.numbers === "least" ? least : page.numbers === "most" ? most : mean)
        .filter(value => value !== null);
      page.choose(draw, { least: Math.min(0, ...values), top: Math.max(...values) });
    },
  };
  const seconds = ns => `${Math.floor(ns / 1e9)}.${String(Math.round(ns % 1e9)).padStart(9, "0")}`;
  page.shown = new Drawing.Stretch({ begin: 0, end: longest() }, 40, draw);
  page.tiles = new Server.Tiles(() => page.shown.redraw());
  const { shown } = page;
  const lines = new Measure.Lines(place, shown, showMeasured, played);
  let focused = null;
  const nameOf = run => several ? run.about.name : "";

  function draw() {
    page.tiles.want(page.panes.flatMap(pane => pane.tilesInSight()));
    page.panes.forEach(pane => pane.paint());
    (page.panes.find(pane => pane.whole) || { paintOverview() {} }).paintOverview(overview);
    lines.draw();
    clearTimeout(timer);
    const since = performance.now() - asked;
    if (since > LATEST_MS && asked && lines.plays) ask();
    else timer = setTimeout(ask, REST_MS);
  }

  /* What the server says of what is in sight, once the picture rests, and now and then while time passes. */
  async function ask() {
    asked = performance.now();
    if (!focused) return;
    const pane = focused, { run } = pane, { begin, end } = page.inSight();
    const each = page.panes.map(one => one.ask(sought));
    each.push(Server.newest("sums", "sums", { run: run.number, ...page.view() })
      .then(answer => answer && Panels.sums(answer, run.about.doings, nameOf(run))));
    each.push(showValues("in sight", pane, begin, end, find("values")));
    try {
      await Promise.all(each);
      find("status").textContent = runs.some(one => one.about.follows) ? "is being written" : "";
      showFound();
    } catch (error) {
      if (sought && error.message && !(error instanceof TypeError)) Panels.found(error.message, true);
      else if (error instanceof TypeError) find("status").textContent = "analyze view has ended";
    }
    redrawOnly();
  }

  function showFound() {
    if (sought && focused.said.hits) {
      const answers = page.panes.filter(pane => pane.draw === focused.draw && pane.said.hits).map(pane => pane.said.hits);
      const sum = name => Panels.number(answers.reduce((total, answer) => total + answer[name], 0));
      const counts = `${sum("all")} calls, ${sum("in_view")} of them in sight`;
      Panels.found(none && !last ? `${none}; ${counts}` : counts);
    }
    for (const pane of page.panes) {
      const output = pane.head.querySelector("output"), answers = pane.draw.panes.map(one => one.said.values).filter(one => one);
      const all = answers.reduce((sum, answer) => sum + answer.all, 0);
      if (output && answers.length) output.textContent = `${none && last === pane.draw ? `${none}; ` : ""}${Panels.number(all)} times`;
    }
  }

  /* Numbers of the view of a pane in a stretch, beside the picture. */
  async function showValues(topic, pane, begin, end, target) {
    if (!pane.draw.isView || !pane.about) return target.replaceChildren();
    const answer = await Server.newest(`values ${topic}`, "values", { ...pane.asked, begin, end });
    if (answer) Panels.values(answer, pane, target);
  }

  async function showMeasured() {
    find("measured").hidden = lines.from === null;
    if (!lines.isMeasured) {
      find("measured-sums").replaceChildren();
      find("measured-values").replaceChildren();
      if (lines.from !== null) find("length").textContent = `from ${seconds(Math.max(0, Math.round(lines.from)))} s`;
      return;
    }
    const { begin, end } = lines.stretch;
    find("length").textContent = `${Panels.time((end - begin) / 1e9)}, from ${seconds(begin)} s to ${seconds(end)} s`;
    Object.assign(find("measured").dataset, { begin, end });
    if (!focused) return;
    const { run } = focused, query = { run: run.number, ...page.view(), begin_s: seconds(begin), end_s: seconds(end) };
    try {
      const answer = await Server.newest("measured", "sums", query);
      if (answer) Panels.measured(answer, run.about.doings, nameOf(run));
      await showValues("measured", focused, begin, end, find("measured-values"));
    } catch { find("status").textContent = "analyze view has ended"; }
  }

  function played(ns) {
    Object.assign(place.dataset, { playing: lines.plays, at: ns ?? "" });
    find("play").textContent = lines.plays ? "\u23f8" : "\u25b6";
    find("rate").textContent = `${Panels.time(shown.span / lines.screenIn / 1e9)} a second`;
    if (lines.plays && performance.now() - told < 200) return;
    told = performance.now();
    if (!held && ns !== null && focused?.rows) look(focused, focused.focus, ns);
  }

  /* Draws what has been told without asking again. */
  function redrawOnly() {
    requestAnimationFrame(() => {
      draw();
      clearTimeout(timer);
    });
  }

  /* What stands above a pane: what is drawn, its colours, and the search for values. */
  function fillHead(pane) {
    const { draw: drawn, head } = pane;
    if (pane !== drawn.panes[0]) return head.replaceChildren(element("b", {}, pane.run.about.name));
    const which = element("select", { title: "what is drawn" });
    for (const name of [Panes.STATES, ...first.views]) which.append(element("option", { value: name }, name));
    which.value = drawn.view;
    which.addEventListener("change", () => change(drawn, { view: which.value, level: "" }));
    const parts = [...(several ? [element("b", {}, pane.run.about.name)] : []), which];
    if (drawn.isView && pane.about?.levels.length) {
      const level = element("select", { title: "what rows are" });
      pane.about.levels.forEach(name => level.append(element("option", { value: name }, name)));
      level.value = pane.about.level;
      level.addEventListener("change", () => change(drawn, { view: drawn.view, level: level.value }));
      parts.push(level);
    }
    parts.push(pane.legend());
    if (drawn.isView && pane.about) parts.push(valueSearch(pane));
    if (page.draws.length > 1) {
      const close = element("button", { type: "button", title: "no longer draw this" }, "\u00d7");
      close.addEventListener("click", () => drop(drawn));
      parts.push(close);
    }
    head.replaceChildren(...parts);
  }

  function valueSearch(pane) {
    const { draw: drawn } = pane, names = !pane.about.scale;
    const input = element("input", {
      size: 8, className: "value", value: drawn.value, placeholder: names ? "send" : ">=0.5",
      title: names ? "search: a regular expression for names" : "search: 3, 0-0.5, >=64K, !0",
    });
    input.addEventListener("change", () => searchValues(drawn, input.value.trim()));
    const to = (back, text, title) => {
      const made = element("button", { type: "button", title }, text);
      made.addEventListener("click", () => stepValue(focused.draw === drawn ? focused : pane, back));
      return made;
    };
    return element("span", { className: "valuesearch" }, element("label", {}, "value ", input),
      to(true, "\u2190", "previous"), to(false, "\u2192", "next"), element("output"));
  }

  function setFocus(pane) {
    if (focused === pane) return;
    focused = pane;
    if (lines.isMeasured) showMeasured();
  }

  /* All draws of all runs, one under the other. */
  async function arrange() {
    const kept = new Map(page.panes.map(pane => [`${pane.draw.number} ${pane.run.number}`, pane]));
    page.panes = page.draws.flatMap(drawn => runs.map(run => {
      const pane = kept.get(`${drawn.number} ${run.number}`) || new Panes.Pane(page, run, drawn);
      pane.number ??= panesMade++;
      return pane;
    }));
    page.draws.forEach(drawn => { drawn.panes = page.panes.filter(pane => pane.draw === drawn); });
    page.panes.forEach(pane => { pane.canvas.id = pane.isFirst ? "timeline" : ""; });
    const made = page.panes.filter(pane => !pane.element.isConnected);
    [...place.querySelectorAll(".pane")].filter(one => !page.panes.some(pane => pane.element === one)).forEach(one => one.remove());
    page.panes.forEach((pane, k) => {
      if (place.querySelectorAll(".pane")[k] !== pane.element) place.insertBefore(pane.element, place.querySelectorAll(".pane")[k] || null);
    });
    if (!page.panes.includes(focused)) setFocus(page.panes[0]);
    for (const pane of made) {
      fillHead(pane);
      listenToPane(pane);
    }
    page.draws.forEach(page.headsChanged);
    headlines();
    await Promise.allSettled(made.map(pane => pane.load()));
  }

  /* What is of use only where there are views, or a single pane. */
  function headlines() {
    find("numbers").parentElement.hidden = !page.draws.some(drawn => drawn.isView);
    find("hint").hidden = page.panes.length > 1;
    shown.redraw();
  }

  let drawsMade = 0;
  async function add(given) {
    const drawn = new Panes.Draw(given);
    drawn.number = drawsMade++;
    page.draws.push(drawn);
    await arrange();
  }

  function drop(drawn) {
    page.draws = page.draws.filter(one => one !== drawn);
    if (last === drawn) last = null;
    return arrange();
  }

  async function change(drawn, given) {
    Object.assign(drawn, given, { chosen: null, value: "", colours: new Map() });
    if (last === drawn) last = null;
    drawn.panes.forEach(pane => pane.blank());
    page.headsChanged(drawn);
    headlines();
    await Promise.allSettled(drawn.panes.map(pane => pane.load()));
  }

  async function choose(chosen) {
    const before = page.wanted;
    page.wanted = chosen;
    find("rows").value = chosen.rows;
    find("ranks").value = chosen.ranks;
    find("ranks").setCustomValidity("");
    if (!sought) Panels.found("");
    const loaded = await Promise.allSettled(page.panes.map(pane => pane.load()));
    const wrong = loaded.find(one => one.status === "rejected");
    if (!wrong) return;
    page.wanted = before;
    await Promise.allSettled(page.panes.map(pane => pane.load()));
    find("ranks").setCustomValidity(wrong.reason.message);
    Panels.found(wrong.reason.message, true);
  }

  /* The pointer is over a row: after a moment of rest it is said what is there. */
  let resting = 0;
  function tell(pane, event, ns) {
    lines.moveCursor(ns >= 0 && event.offsetX >= LEFT ? ns : null);
    pointed = lines.cursor;
    if (held || !pane.rows) return;
    clearTimeout(resting);
    const now = pane.frame(), row = now.rowAt(event.offsetY), x = event.offsetX, y = event.offsetY, before = pane.near;
    const asks = page.lines !== "none" && row >= 0;
    pane.near = asks ? Layers.nearest(now, pane.said.messages, pane.rowOf.bind(pane), x, y, page.lines) : null;
    if (pane.near !== before) redrawOnly();
    if (row < 0 || x < LEFT || ns < 0 || ns > pane.run.about.duration_ns) return;
    resting = setTimeout(() => look(pane, row, ns), 60);
  }

  async function look(pane, row, ns) {
    const moved = row !== pane.focus || focused !== pane;
    setFocus(pane);
    pane.focus = row;
    if (moved) shown.redraw();
    if (pane.near) return Panels.message(pane.near, held);
    const at = Math.max(0, Math.min(Math.floor(ns), pane.run.about.duration_ns));
    try {
      const moment = Server.newest("moment", "moment", { run: pane.run.number, rank: pane.rows.rank[row], at });
      const value = pane.draw.isView ? await Server.newest("value", "value", { ...pane.asked, row, at }) : null;
      const answer = await moment;
      if (answer && (value || !pane.draw.isView)) {
        Panels.details(answer, held, pane.rows.names[row], pane.threadOf(row), value, pane.draw.view, nameOf(pane.run));
      }
    } catch { find("status").textContent = "analyze view has ended"; }
  }

  async function search() {
    const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
    sought = Object.keys(given).length ? given : null;
    [none, last] = ["", null];
    page.panes.forEach(pane => { [pane.hit, pane.said.hits] = [null, null]; });
    Panels.found(sought ? "searching ..." : "");
    await ask();
  }

  async function searchValues(drawn, value) {
    [drawn.value, last, none] = [value, value ? drawn : null, ""];
    drawn.panes.forEach(pane => {
      pane.hit = null;
      pane.tell("");
    });
    const { head } = drawn.panes[0];
    head.querySelector("input.value").value = value;
    if (!value) head.querySelector("output").textContent = "";
    for (const pane of drawn.panes) {
      try {
        await pane.ask(sought);
      } catch (error) { pane.tell(error.message); }
    }
    showFound();
    redrawOnly();
  }

  async function step(back) {
    if (last) return stepValue(focused.draw === last ? focused : last.panes[0], back);
    if (!sought) await search();
    if (!sought) return form.elements.call.focus();
    await stepTo(focused, back, "step", { ...page.view(), ...focused.asked }, text => Panels.found(text), text => Panels.found(text, true));
  }

  async function stepValue(pane, back) {
    const { head } = pane.draw.panes[0], input = head.querySelector("input.value"), output = head.querySelector("output");
    if (input.value.trim() !== pane.draw.value || last !== pane.draw) await searchValues(pane.draw, input.value.trim());
    if (!pane.draw.value) return input.focus();
    const say = text => { output.textContent = text; };
    await stepTo(pane, back, "value_step", { ...pane.asked, value: pane.draw.value }, say, text => pane.tell(text));
  }

  async function stepTo(pane, back, name, query, say, refuse) {
    const from = pane.hit ? { at: pane.hit.at_ns, row: pane.hit.row + (back ? 0 : 1) }
      : { at: back ? page.inSight().end : page.inSight().begin, row: 0 };
    try {
      const answer = await Server.get(name, { ...query, ...from, ...(back ? { back: 1 } : {}) });
      none = answer.hit ? "" : `there is none ${back ? "before" : "after"}`;
      if (none) return say(none);
      const { hit } = answer;
      page.panes.forEach(one => { one.hit = null; });
      [pane.hit, pane.focus, pane.near] = [hit, hit.row, null];  // not the message at the pointer
      if (hit.at_ns < shown.begin || hit.at_ns > shown.end) {
        shown.show(hit.at_ns - shown.span / 2, hit.at_ns + shown.span / 2);
      }
      const now = pane.frame();
      if (hit.row < now.first + 1 || hit.row >= now.last - 1) pane.scroller.scrollTop = (hit.row - 3) * now.rowHeight;
      lines.moveCursor(hit.at_ns);
      await look(pane, hit.row, hit.at_ns);
      shown.redraw();
    } catch (error) { refuse(error.message); }
  }

  /* Runs that are being written, or iterations that were found meanwhile. */
  async function follow() {
    try {
      for (const run of runs) {
        const now = await Server.get("status", { run: run.number });
        if (now.generation !== run.about.generation) await readAgain(run);
        else if (now.iterations !== run.about.iterations) await ask();
        Object.assign(run.about, now);
      }
      if (runs.some(run => run.about.follows || !run.about.iterations)) setTimeout(follow, FOLLOW_MS);
    } catch {
      find("status").textContent = "analyze view has ended";
      setTimeout(follow, GONE_MS);
    }
  }

  async function readAgain(run) {
    const atEnd = shown.end >= shown.whole.end, before = shown.span, all = before >= shown.whole.end;
    run.about = await Server.get("about", { run: run.number });
    shown.whole.end = longest();
    Panels.about(runs.map(one => one.about));
    if (all) shown.show(0, shown.whole.end);
    else if (atEnd) shown.show(shown.whole.end - before, shown.whole.end);
    const panes = page.panes.filter(pane => pane.run === run), kept = panes.map(({ focus, hit, said }) => ({ focus, hit, said }));
    await Promise.allSettled(panes.map(pane => pane.load()));
    panes.forEach((pane, k) => Object.assign(pane, kept[k]));
    shown.redraw();
  }

  function listenToPane(pane) {
    const { canvas } = pane, marks = event => event.shiftKey || find("measure").getAttribute("aria-pressed") === "true";
    shown.listen(canvas, LEFT, RIGHT, (event, ns) => tell(pane, event, ns), marks, (from, to) => lines.measure(from, to));
    let pressed = 0;
    canvas.addEventListener("pointerdown", event => { pressed = event.offsetX; });
    canvas.addEventListener("pointerleave", () => { pointed = null; });
    canvas.addEventListener("click", event => {
      if (Math.abs(event.offsetX - pressed) > 3 || !pane.rows) return;
      const was = held;
      held = null;
      const now = pane.frame(), row = now.rowAt(event.offsetY);
      if (was || row < 0) return;
      held = true;
      look(pane, row, shown.begin + (event.offsetX - LEFT) / now.across * shown.span);
    });
  }

  const KEYS = {
    n: () => step(false), p: () => step(true), m: () => lines.mark(pointed ?? lines.cursor), z: zoomToMeasured, Escape: () => lines.clear(),
    " ": togglePlay, "/": () => form.elements.call.focus(),
  };

  function zoomToMeasured() {
    if (lines.isMeasured) shown.show(lines.stretch.begin, lines.stretch.end);
  }

  function togglePlay() {
    if (lines.plays) lines.pause();
    else lines.play();
  }

  function listen() {
    shown.listenToPage();
    ["fit", "arrows", "numbers"].forEach(id => find(id).addEventListener("change", () => {
      page.panes.forEach(pane => { [pane.said.messages, pane.near] = [null, null]; });
      page.draws.forEach(page.headsChanged);
      shown.redraw();
    }));
    const chosen = () => choose({ rows: find("rows").value, ranks: find("ranks").value.trim() });
    ["rows", "ranks"].forEach(id => find(id).addEventListener("change", chosen));
    form.addEventListener("submit", event => { event.preventDefault(); search(); });
    find("next").addEventListener("click", () => step(false));
    find("previous").addEventListener("click", () => step(true));
    find("clear").addEventListener("click", () => { form.reset(); search(); shown.redraw(); });
    find("save").addEventListener("click", () => {
      const draws = JSON.stringify(page.draws.map(({ view, level }) => ({ view, level })));
      find("save").href = `view.toml?${new URLSearchParams({ ...page.view(), draws })}`;
    });
    find("add").addEventListener("change", () => {
      add({ view: find("add").value, level: "" });
      find("add").value = "";
    });
    find("measure").addEventListener("click", () => {
      const on = find("measure").getAttribute("aria-pressed") !== "true";
      find("measure").setAttribute("aria-pressed", on);
      if (!on) lines.clear();
    });
    find("zoomto").addEventListener("click", zoomToMeasured);
    find("unmeasure").addEventListener("click", () => lines.clear());
    find("play").addEventListener("click", togglePlay);
    find("speed").addEventListener("change", () => {
      lines.screenIn = Number(find("speed").value);
      played(lines.at);
    });
    document.addEventListener("keydown", event => {
      if (event.target.matches("input, select, button") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!KEYS[event.key]) return;
      event.preventDefault();
      KEYS[event.key]();
    });
    brush();
  }

  /* The frame on the whole run is moved; a point outside becomes its middle. */
  function brush() {
    const to = event => {
      const ns = (event.offsetX - LEFT) / (overview.clientWidth - LEFT - RIGHT) * shown.whole.end;
      shown.show(ns - shown.span / 2, ns + shown.span / 2);
    };
    overview.addEventListener("pointerdown", event => {
      overview.setPointerCapture(event.pointerId);
      to(event);
    });
    overview.addEventListener("pointermove", event => { if (event.buttons) to(event); });
    overview.addEventListener("wheel", event => {
      event.preventDefault();
      shown.zoom(event.deltaY > 0 ? 1.25 : 0.8);
    }, { passive: false });
  }

  Panels.about(abouts);
  for (const [name, value] of Object.entries(first.view)) {
    const input = form.elements[name];
    if (input && typeof input.value === "string") input.value = value;
  }
  [Panes.STATES, ...first.views].forEach(name => find("add").append(element("option", { value: name }, name)));
  find("rows").value = page.wanted.rows;
  find("ranks").value = page.wanted.ranks;
  listen();
  shown.show(first.view.begin_ns, several && first.view.whole ? longest() : first.view.end_ns);
  await Promise.all(first.draws.map(add));
  if ([...new FormData(form)].some(([, value]) => value)) search();
  setTimeout(follow, FOLLOW_MS);
})();
