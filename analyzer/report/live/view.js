"use strict";
/* The live view itself: what is shown, what happens when it changes. The canvas keeps what it shows in data-*: begin and
 * end (ns), level, cells (that are filled), busy (tiles on their way), messages and hits (drawn): tests read them. */
(async () => {
  const { LEFT, RIGHT, ABOVE, BELOW, STRIP } = Layers, FOLLOW_MS = 1500, GONE_MS = 10_000, REST_MS = 120, STRIPS = 400;
  const { find } = Panels, canvas = find("timeline"), overview = find("overview"), scroller = find("scroller");
  const form = find("search");
  let about = await Server.get("about", {});
  let rows = null, wanted = { rows: about.view.rows, ranks: about.view.ranks };
  let said = {}, sought = null, hit = null, near = null, focus = 0, held = null, whole = null, timer = 0;
  let none = ""; /* said of the last step, if it led to no call */

  const tiles = new Server.Tiles(() => shown.redraw());
  const shown = new Drawing.Stretch({ begin: 0, end: Math.max(about.duration_ns, 1) }, 40, draw);
  const seconds = ns => `${Math.floor(ns / 1e9)}.${String(Math.round(ns % 1e9)).padStart(9, "0")}`;
  const inSight = () => {
    const begin = Math.max(0, Math.floor(shown.begin));
    return { begin, end: Math.max(begin + 1, Math.min(about.duration_ns, Math.ceil(shown.end))) };
  };
  const view = () => ({ begin_s: seconds(inSight().begin), end_s: seconds(inSight().end), ...wanted, ...sought });
  const tileQuery = () => ({ ...wanted, generation: about.generation });
  const threadOf = row => wanted.rows === "threads" ? Number(rows.names[row].split(".")[1]) : null;
  const rowOf = (rank, thread) => {
    const row = rows.of_rank[rank];
    return row < 0 || wanted.rows !== "threads" ? row : row + thread;
  };

  /* A tile, or the nearest coarser one that is there, and its level. */
  function tileOf(level, ns, block) {
    for (let coarser = level; coarser < level + 7; coarser++) {
      const index = Math.floor(ns / (about.bins * 2 ** coarser));
      const tile = tiles.get({ ...tileQuery(), level: coarser, index, block });
      if (tile) return [tile, coarser];
    }
    return [null, level];
  }

  function frame() {
    const room = scroller.clientHeight, count = Math.max(rows.names.length, 1), body = room - ABOVE - BELOW;
    const least = find("fit").checked ? 0.01 : 15;
    const high = Math.max(least, Math.min(110, body / count));
    find("spacer").style.height = `${Math.max(room, high * count + ABOVE + BELOW)}px`;
    return new Layers.Frame(scroller.clientWidth, room, shown, high, scroller.scrollTop, rows.names.length);
  }

  function draw() {
    if (!rows) return;
    const now = frame(), [pen, dots] = Drawing.fit(canvas, now.width, now.height);
    const level = Layers.levelOf(now, dots);
    tiles.want(Layers.tilesInSight(now, level, about, tileQuery()));
    const cells = Layers.cells(pen, dots, now, level, about, tileOf);
    pen.scale(dots, dots);
    pen.textBaseline = "middle";
    const hits = Layers.hits(pen, now, sought && said.hits);
    const messages = find("arrows").checked ? Layers.messages(pen, now, said.messages, rowOf, near) : 0;
    Layers.current(pen, now, hit);
    pen.fillStyle = pen.strokeStyle = Drawing.style("--ink");
    Layers.labels(pen, now, rows.names, focus);
    pen.fillStyle = Drawing.style("--ink");
    Layers.marks(pen, now, said.marks, rows.names[focus] || "");
    pen.fillStyle = Drawing.style("--ink");
    Drawing.ruler(pen, shown, LEFT, now.across, now.bottom + STRIP, 1e-9);
    drawOverview();
    Object.assign(canvas.dataset, { ...inSight(), level, cells, busy: tiles.busy, messages, hits });
    clearTimeout(timer);
    timer = setTimeout(ask, REST_MS);
  }

  function drawOverview() {
    if (!whole) return;
    const width = overview.clientWidth, [pen, dots] = Drawing.fit(overview, width, 46);
    const columns = Math.round((width - LEFT - RIGHT) * dots), high = Math.round(40 * dots);
    const image = pen.createImageData(columns, high), pixels = new Uint32Array(image.data.buffer);
    const colours = Drawing.doings(), empty = Drawing.pixel("--empty"), count = whole[0].length;
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      const strip = Math.floor(x / columns * count);
      Drawing.fillColumn(pixels, columns, x, 0, high, colours, empty, k => (sum += whole[k][strip]));
    }
    pen.putImageData(image, Math.round(LEFT * dots), 0);
    pen.scale(dots, dots);
    const at = ns => LEFT + ns / about.duration_ns * (width - LEFT - RIGHT);
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
    pen.fillText("whole run", LEFT - 6, 20);
  }

  /* What the server says of what is in sight, once the picture rests. */
  async function ask() {
    const { begin, end } = inSight(), rank = rows.rank[focus] ?? 0, part = frame();
    const told = (name, answer) => answer && (said[name] = { ...answer, begin, end, from: part.first });
    const each = [
      Server.newest("sums", "sums", view()).then(answer => answer && Panels.sums(answer, about.doings)),
      Server.newest("marks", "marks", { begin, end, rank, ...wanted }).then(answer => told("marks", answer)),
    ];
    if (find("arrows").checked) {
      const query = { begin, end, from: part.first, to: part.last, strips: STRIPS, ...wanted };
      each.push(Server.newest("messages", "messages", query).then(answer => told("messages", answer)));
    }
    if (sought) {
      const query = { ...view(), from: part.first, to: part.last, strips: STRIPS };
      each.push(Server.newest("hits", "hits", query).then(answer => {
        if (!told("hits", answer)) return;
        const counts = `${Panels.number(answer.all)} calls, ${Panels.number(answer.in_view)} of them in sight`;
        Panels.found(none ? `${none}; ${counts}` : counts);
      }));
    }
    try {
      await Promise.all(each);
      find("status").textContent = about.follows ? "is being written" : "";
    } catch (error) {
      if (sought && error.message && !(error instanceof TypeError)) Panels.found(error.message, true);
      else find("status").textContent = "analyze view has ended";
    }
    redrawOnly();
  }

  /* Draws what has been told without asking again. */
  function redrawOnly() {
    requestAnimationFrame(() => {
      draw();
      clearTimeout(timer);
    });
  }

  async function choose(chosen) {
    try {
      const found = await Server.get("rows", chosen);
      [rows, wanted, focus, hit, said] = [found, chosen, 0, null, {}];
      find("rows").value = chosen.rows;
      find("ranks").value = chosen.ranks;
      find("ranks").setCustomValidity("");
      if (!sought) Panels.found("");
      whole = (await Server.get("overview", chosen)).shares;
      shown.redraw();
    } catch (error) {
      find("ranks").setCustomValidity(error.message);
      Panels.found(error.message, true);
      if (!rows) await choose({ rows: "ranks", ranks: "" });
    }
  }

  /* The pointer is over a row: after a moment of rest it is said what is there. */
  let resting = 0;
  function tell(event, ns) {
    if (held) return;
    clearTimeout(resting);
    const now = frame(), row = now.rowAt(event.offsetY), x = event.offsetX, y = event.offsetY;
    const before = near;
    near = find("arrows").checked && row >= 0 ? Layers.nearest(now, said.messages, rowOf, x, y) : null;
    if (near !== before) redrawOnly();
    if (row < 0 || x < LEFT || ns < 0 || ns > about.duration_ns) return;
    resting = setTimeout(() => look(row, ns), 60);
  }

  async function look(row, ns) {
    if (row !== focus) {
      focus = row;
      shown.redraw();
    }
    if (near) return Panels.message(near, held);
    try {
      const answer = await Server.newest("moment", "moment", { rank: rows.rank[row], at: Math.floor(ns) });
      if (answer) Panels.details(answer, held, rows.names[row], threadOf(row));
    } catch { find("status").textContent = "analyze view has ended"; }
  }

  async function search() {
    const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
    sought = Object.keys(given).length ? given : null;
    [hit, said.hits, none] = [null, null, ""];
    Panels.found(sought ? "searching ..." : "");
    await ask();
  }

  async function step(back) {
    if (!sought) await search();
    if (!sought) return form.elements.call.focus();
    const from = hit ? { at: hit.at_ns, row: hit.row + (back ? 0 : 1) }
      : { at: back ? inSight().end : inSight().begin, row: 0 };
    try {
      const answer = await Server.get("step", { ...view(), ...from, ...(back ? { back: 1 } : {}) });
      none = answer.hit ? "" : `there is none ${back ? "before" : "after"}`;
      if (none) return Panels.found(none);
      hit = answer.hit;
      [focus, near] = [hit.row, null];  // not the message at the pointer
      if (hit.at_ns < shown.begin || hit.at_ns > shown.end) {
        shown.show(hit.at_ns - shown.span / 2, hit.at_ns + shown.span / 2);
      }
      const now = frame();
      if (hit.row < now.first + 1 || hit.row >= now.last - 1) scroller.scrollTop = (hit.row - 3) * now.rowHeight;
      await look(hit.row, hit.at_ns);
      shown.redraw();
    } catch (error) { Panels.found(error.message, true); }
  }

  /* A run that is being written, or iterations that were found meanwhile. */
  async function follow() {
    try {
      const now = await Server.get("status", {});
      const atEnd = shown.end >= shown.whole.end;
      if (now.generation !== about.generation) {
        about = await Server.get("about", {});
        const before = shown.span, all = before >= shown.whole.end;
        shown.whole.end = about.duration_ns;
        Panels.about(about);
        if (all) shown.show(0, about.duration_ns);
        else if (atEnd) shown.show(about.duration_ns - before, about.duration_ns);
        const kept = [focus, hit, said];
        await choose(wanted);
        [focus, hit, said] = kept;
      } else if (now.iterations !== about.iterations) await ask();
      Object.assign(about, now);
      if (now.follows || !now.iterations) setTimeout(follow, FOLLOW_MS);
    } catch {
      find("status").textContent = "analyze view has ended";
      setTimeout(follow, GONE_MS);
    }
  }

  function listen() {
    shown.listen(canvas, LEFT, RIGHT, tell);
    let pressed = 0;
    canvas.addEventListener("pointerdown", event => { pressed = event.offsetX; });
    canvas.addEventListener("click", event => {
      if (Math.abs(event.offsetX - pressed) > 3) return;
      const was = held;
      held = null;
      const now = frame(), row = now.rowAt(event.offsetY);
      if (was || row < 0) return;
      held = true;
      look(row, shown.begin + (event.offsetX - LEFT) / now.across * shown.span);
    });
    scroller.addEventListener("scroll", () => shown.redraw());
    new ResizeObserver(() => shown.redraw()).observe(scroller);
    shown.listenToPage();
    ["fit", "arrows"].forEach(id => find(id).addEventListener("change", () => shown.redraw()));
    const chosen = () => choose({ rows: find("rows").value, ranks: find("ranks").value.trim() });
    ["rows", "ranks"].forEach(id => find(id).addEventListener("change", chosen));
    form.addEventListener("submit", event => { event.preventDefault(); search(); });
    find("next").addEventListener("click", () => step(false));
    find("previous").addEventListener("click", () => step(true));
    find("clear").addEventListener("click", () => { form.reset(); search(); shown.redraw(); });
    find("save").addEventListener("click", () => { find("save").href = `view.toml?${new URLSearchParams(view())}`; });
    document.addEventListener("keydown", event => {
      if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") step(false);
      else if (event.key === "p") step(true);
      else if (event.key === "/") {
        event.preventDefault();
        form.elements.call.focus();
      }
    });
    brush();
  }

  /* The frame on the whole run is moved; a point outside becomes its middle. */
  function brush() {
    const to = event => {
      const ns = (event.offsetX - LEFT) / (overview.clientWidth - LEFT - RIGHT) * about.duration_ns;
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

  Panels.about(about);
  for (const [name, value] of Object.entries(about.view)) {
    const input = form.elements[name];
    if (input && typeof input.value === "string") input.value = value;
  }
  listen();
  await choose(wanted);
  shown.show(about.view.begin_ns, about.view.end_ns);
  if ([...new FormData(form)].some(([, value]) => value)) search();
  setTimeout(follow, FOLLOW_MS);
})();
