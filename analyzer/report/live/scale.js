"use strict";
/* How cells become colours: shares of time by what is done, or numbers on a scale. A painter has `numbers` (of a cell) and
 * column(pixels, columns, x, from, high, tile, cell), which fills one column of a row. */
const Scale = (() => {
  const STEPS = 255, SHADES = 256;
  const PALETTE = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#f0c808", "#56b4e9", "#7b3294", "#8c510a", "#e69f00", "#1b7837",
    "#b2182b", "#5a5a5a", "#80cdc1", "#c2a5cf",
  ];
  const OTHERS = "#9a9a9a", STOPS = ["#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"];

  const parts = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

  /* From little to much as [r, g, b], share from 0 to 1: what is much stands out from the paper. */
  function shade(share) {
    const along = (isDark() ? 1 - share : share) * (STOPS.length - 1), low = Math.min(Math.floor(along), STOPS.length - 2);
    const from = parts(STOPS[low]), to = parts(STOPS[low + 1]);
    return from.map((value, k) => Math.round(value + (to[k] - value) * (along - low)));
  }

  const shades = () => Array.from({ length: SHADES }, (_, k) => shade(k / (SHADES - 1)));

  /* Shares of time, one on the other; colours: pixels. */
  function ofShares(colours) {
    const empty = Drawing.pixel("--empty");
    return {
      numbers: colours.length,
      column(pixels, columns, x, from, high, tile, cell) {
        let sum = 0;
        Drawing.fillColumn(pixels, columns, x, from, high, colours, empty, k => (sum += tile[cell + k]) / STEPS);
        return sum > 0;
      },
    };
  }

  /* Numbers as shades: `which` is 0 for the mean of a cell, 1 for the least, 2 for the largest. What is 0 stays empty,
   * what is above the scale has a colour of its own. */
  function ofNumbers(range, which) {
    const colours = shades().map(pixel), empty = Drawing.pixel("--empty"), above = Drawing.pixel("--above");
    const per = (SHADES - 1) / (range.top - range.least || 1);
    return {
      numbers: 3,
      column(pixels, columns, x, from, high, tile, cell) {
        const value = tile[cell + which];
        if (Number.isNaN(value)) return false;
        const at = Math.round((value - range.least) * per);
        const colour = value === 0 ? empty : at >= SHADES ? above : colours[Math.max(at, 0)];
        for (let y = from + high - 1; y >= from; y--) pixels[y * columns + x] = colour;
        return true;
      },
    };
  }

  /* Numbers as heights: the mean is dark, from the least to the largest of a cell it is light. */
  function asCurves(range) {
    const [line, band, empty] = ["--c0", "--band", "--empty"].map(Drawing.pixel);
    const per = 1 / (range.top - range.least || 1);
    return {
      numbers: 3,
      column(pixels, columns, x, from, high, tile, cell) {
        if (Number.isNaN(tile[cell])) return false;
        const [mean, , most] = [0, 1, 2].map(k => Math.max(tile[cell + k] - range.least, 0) * per);
        Drawing.fillColumn(pixels, columns, x, from, high, [line, band], empty, k => k ? most : mean);
        return true;
      },
    };
  }

  /* A colour for each name, the same in all runs: others are grey. */
  function colourOf(name, known) {
    if (name === "others") return OTHERS;
    if (!known.has(name)) known.set(name, PALETTE[known.size % PALETTE.length]);
    return known.get(name);
  }

  /* The gradient as a picture of so many pixels. */
  function drawGradient(canvas, width, height) {
    const [pen, dots] = Drawing.fit(canvas, width, height), every = shades();
    for (let x = 0; x < canvas.width; x++) {
      pen.fillStyle = `rgb(${every[Math.floor(x / canvas.width * SHADES)].join(",")})`;
      pen.fillRect(x, 0, 1, height * dots);
    }
  }

  return { ofShares, ofNumbers, asCurves, colourOf, drawGradient, pixelOf: colour => pixel(parts(colour)) };
})();
