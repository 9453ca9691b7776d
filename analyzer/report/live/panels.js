"use strict";
/* The texts beside the picture: what is in sight, what is at the pointer, what was found. */
const Panels = (() => {
  const find = id => document.getElementById(id);
  const text = seconds => Drawing.timeText(seconds, Math.abs(seconds) / 1000 || 1e-9);

  function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (bytes >= 1024 && unit < units.length - 1) [bytes, unit] = [bytes / 1024, unit + 1];
    return `${unit && bytes < 100 ? bytes.toFixed(bytes < 10 ? 2 : 1) : Math.round(bytes)} ${units[unit]}`;
  }

  const number = n => n.toLocaleString("en").replaceAll(",", "\u2009");

  function element(name, content, attributes = {}) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...[content].flat());
    return made;
  }

  function list(target, rows) {
    target.replaceChildren(...rows.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  }

  /* said: what is known of each run. */
  function about(said) {
    const several = said.length > 1, names = said.map(one => one.name).join(", "), [first] = said;
    find("name").textContent = names;
    document.title = `${names} - analyze view`;
    find("command").textContent = first.command;
    find("command").hidden = several || !first.command;
    const facts = said.map(one => `${several ? `${one.name}: ` : ""}${one.facts.join(", ")}`);
    find("facts").textContent = facts.join("; ");
  }

  /* What the threads of a run do, as bars. */
  function bars(said, names, target) {
    const values = [said.computing_s, said.waiting_s, said.rest_of_mpi_s, said.tracer_s];
    const whole = said.threads * (said.end_s - said.begin_s) || 1;
    target.replaceChildren(...names.flatMap((name, k) => {
      const share = 100 * values[k] / whole, fill = element("i", "", { className: `doing${k}` });
      fill.style.width = `${Math.min(share, 100)}%`;
      const told = share > 0 && share < 0.1 ? "<0.1 %" : `${share.toFixed(1)} %`;
      const key = element("i", "", { className: `key doing${k}` });
      return [element("dt", [key, name]), element("dd", element("span", fill, { className: "meter" })), element("dd", told, { title: text(values[k]) })];
    }));
  }

  function sums(said, names, run) {
    const step = (said.end_s - said.begin_s) / 1000;
    find("window").textContent = `${run ? `${run}, ` : ""}${Drawing.timeText(said.begin_s, step)} to ${Drawing.timeText(said.end_s, step)}: `
      + `${text(said.end_s - said.begin_s)} of ${number(said.threads)} threads`;
    bars(said, names, find("sums"));
    find("sent").textContent = `${number(said.messages)} messages are sent, ${size(said.message_bytes)}`;
  }

  function measured(said, names, run) {
    bars(said, names, find("measured-sums"));
    find("length").append(`${run ? `, of ${run}` : ""}: ${number(said.messages)} messages are sent, ${size(said.message_bytes)}`);
  }

  const figure = value => value === null || value === undefined ? "-"
    : Number.isInteger(value) && Math.abs(value) < 1e10 ? number(value) : String(Number(value.toPrecision(5)));

  /* A view in a stretch: of the row at the pointer, and of all rows. */
  function values(said, pane, target) {
    const row = pane.focus, who = `${pane.about.level} ${pane.rows.names[row] ?? "-"}`, unit = said.unit ? ` ${said.unit}` : "";
    const made = element("dl", "");
    if (pane.about.scale) {
      const known = name => said[name].filter(value => value !== null), means = known("mean");
      const mean = means.length ? means.reduce((sum, value) => sum + value, 0) / means.length : null;
      const extreme = (name, of) => known(name).length ? of(...known(name)) : null;
      list(made, [
        [element("b", pane.draw.view), who], ["mean", `${figure(said.mean[row])}${unit}`],
        ["least, largest", `${figure(said.least[row])}, ${figure(said.most[row])}`],
        ["mean of all rows", `${figure(mean)}${unit}`],
        ["least, largest", `${figure(extreme("least", Math.min))}, ${figure(extreme("most", Math.max))}`],
      ]);
    } else {
      const all = said.colours.map((name, k) => [name, said.seconds.reduce((sum, one) => sum + one[k], 0), said.seconds[row]?.[k] ?? 0]);
      list(made, [[element("b", pane.draw.view), `${who}; all rows`],
        ...all.filter(([, sum]) => sum > 0).map(([name, sum, own]) => [name, `${own ? text(own) : "0"}; ${text(sum)}`])]);
    }
    target.replaceChildren(made);
  }

  function call(one) {
    const peer = one.peer >= 0 ? [["peer", `rank ${one.peer}`]] : [];
    const bytes = [["sent", one.sent_bytes], ["received", one.received_bytes]].filter(([, n]) => n)
      .map(([name, n]) => [name, size(n)]);
    return [
      ...peer, ...bytes, ...(one.tag >= 0 ? [["tag", String(one.tag)]] : []),
      ["takes", `${text(one.inside_s)}, from ${one.enter_s.toFixed(9)} s`],
      ...(one.path || one.place || "").split(" < ").filter(at => at).map((at, k) => [k ? "called by" : "place", at]),
    ];
  }

  function thread(one, many) {
    const rows = [], last = one.before[one.before.length - 1];
    const title = one.in_call ? `${last.count > 1 ? `${last.count} x ` : ""}${last.call}`
      : one.state ? (one.state === "Running" ? "computes" : one.state) : "nothing is recorded";
    rows.push([many ? `thread ${one.thread}` : "does", element("b", title)]);
    if (one.wait) {
      const long = text(one.wait.end_s - one.wait.begin_s);
      rows.push(["waits", element("span", `${long} for rank ${one.wait.cause_rank}: ${one.wait.kind}`, { className: "waits" })]);
    }
    if (one.in_call) rows.push(...call(last));
    else if (one.state) rows.push(["for", `${text(one.state_end_s - one.state_begin_s)}, from ${one.state_begin_s.toFixed(9)} s`]);
    if (one.regions.length) rows.push(["region", one.regions.map(region => region.name).join(" > ")]);
    if (!one.in_call && last) rows.push(["before", last.call]);
    if (one.after.length) rows.push(["next", one.after[0].call]);
    return rows;
  }

  /* value: what a view has there. */
  function details(said, held, row, threadOnly, value, view, run) {
    const made = element("dl", "");
    const threads = said.threads.filter(one => threadOnly === null || one.thread === threadOnly);
    const who = `rank ${said.rank}${row === String(said.rank) || threadOnly !== null ? "" : ` of ${row}`}`;
    const of = value ? [
      [view, element("b", value.name || `${figure(value.value)}${value.unit ? ` ${value.unit}` : ""}`)],
      ["of", `${value.level} ${value.row}, for ${text(value.end_s - value.begin_s)}, from ${value.begin_s.toFixed(9)} s`],
    ] : [];
    list(made, [
      ...(run ? [["run", run]] : []), ["who", who], ["at", `${said.at_s.toFixed(9)} s${held ? " (held)" : ""}`], ...of,
      ...threads.slice(0, 8).flatMap(one => thread(one, threads.length > 1)),
    ]);
    find("details").replaceChildren(made);
  }

  function message(arrow, held) {
    const [send, receive, bytes, tag, source, , destination, , leaves, posted] = arrow, made = element("dl", "");
    const at = ns => `${(ns / 1e9).toFixed(9)} s`;
    list(made, [
      ["message", element("b", `rank ${source} to rank ${destination}`)], ["size", size(bytes)], ["tag", String(tag)],
      ["send is called", at(send)], ["data leave", at(leaves)], ["receive is called", at(posted)], ["received", at(receive)],
      ["takes", `${text((receive - send) / 1e9)}${held ? " (held)" : ""}`],
    ]);
    find("details").replaceChildren(made);
  }

  const found = (content, isError) => {
    find("found").textContent = content;
    find("found").className = isError ? "error" : "";
  };

  return { find, about, sums, measured, values, details, message, found, number, size, time: text };
})();
