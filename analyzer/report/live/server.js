"use strict";
/* What is asked of the server. Answers for which there is a newer question are dropped; tiles are kept. */
const Server = (() => {
  const MOST_BYTES = 64 << 20, AT_ONCE = 4;
  const pending = new Map();

  async function get(name, query) {
    const response = await fetch(`${name}?${new URLSearchParams(query)}`);
    const said = await response.json();
    if (!response.ok) throw new Error(said.error);
    return said;
  }

  /* The same, once for each `topic` at a time: an older question is given up. Resolves to null if this one was. */
  async function newest(topic, name, query) {
    pending.get(topic)?.abort();
    const control = new AbortController();
    pending.set(topic, control);
    try {
      const response = await fetch(`${name}?${new URLSearchParams(query)}`, { signal: control.signal });
      const said = await response.json();
      if (!response.ok) throw new Error(said.error);
      return pending.get(topic) === control ? said : null;
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  }

  /* Tiles by their address, the ones used last at the end; those that are wanted last are fetched first. */
  class Tiles {
    constructor(arrived) { Object.assign(this, { arrived, kept: new Map(), wanted: [], asked: new Set(), bytes: 0 }); }

    get(query) {
      const key = String(new URLSearchParams(query)), tile = this.kept.get(key);
      if (tile) {
        this.kept.delete(key);
        this.kept.set(key, tile);
      }
      return tile;
    }

    want(queries) {
      this.wanted = queries.map(query => String(new URLSearchParams(query)))
        .filter(key => !this.kept.has(key) && !this.asked.has(key));
      this.fetchMore();
    }

    get busy() { return this.asked.size + this.wanted.length; }

    fetchMore() {
      while (this.asked.size < AT_ONCE && this.wanted.length) this.fetch(this.wanted.shift());
    }

    async fetch(key) {
      this.asked.add(key);
      try {
        const response = await fetch(`tile?${key}`);
        if (response.ok) this.keep(key, new Uint8Array(await response.arrayBuffer()));
      } catch { /* the server has ended, which the page says */ } finally {
        this.asked.delete(key);
        this.fetchMore();
      }
    }

    keep(key, cells) {
      this.kept.set(key, cells);
      this.bytes += cells.byteLength;
      while (this.bytes > MOST_BYTES) {
        const oldest = this.kept.keys().next().value;
        this.bytes -= this.kept.get(oldest).byteLength;
        this.kept.delete(oldest);
      }
      this.arrived();
    }
  }

  return { get, newest, Tiles };
})();
