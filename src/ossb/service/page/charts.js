// Small charts in SVG; texts are set as text, never as markup.  What a place of a chart stands for
// is in its `data-tip`, which `tips.js` shows under the pointer.

const SPACE = "http://www.w3.org/2000/svg";
const LINE = 24; // height of a row

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const rounded = Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 1000 && Math.abs(rounded) < 1e9 ? rounded.toLocaleString("en") : rounded.toString();
}

// On a phone a chart has fewer units across, so that its texts stay readable.
const isNarrow = () => window.innerWidth < 760;
const across = () => (isNarrow() ? 340 : 560);

function frame(width, height, title) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
}

function text(x, y, content, anchor = "start") {
  const node = svg("text", { x, y, "text-anchor": anchor });
  node.textContent = content;
  return node;
}

// Without its middle: names of one context begin alike.
function clip(name, length) {
  const letters = [...name], kept = Math.max(2, Math.floor(length) - 1), tail = Math.floor(kept / 2);
  if (letters.length <= length) return name;
  return `${letters.slice(0, kept - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

// Room for names at the left: as much as the longest takes, up to two fifths.
const room = (rows, width) =>
  Math.min(0.4 * width, Math.max(48, 20 + 7.2 * Math.max(0, ...rows.map((row) => [...row.name].length))));

// A place that shows its tip; drawn last, so that it lies over what it is about.
const spot = (x, y, width, height, tip) => svg("rect", { x, y, width, height, class: "spot", "data-tip": tip });

// Round numbers within a range, about as many as asked for.
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
  const found = [];
  if (!Number.isFinite(step) || step <= 0) return found;
  for (let n = Math.ceil(low / step); n * step <= high && found.length < 20; n++) found.push(n * step + 0); // no −0
  return found;
}

// From where to where means are drawn: whiskers far longer than others run out of the picture.
function range(seen) {
  const widths = seen.map((row) => row.high - row.low).sort((a, b) => a - b);
  const most = 4 * widths[Math.floor((widths.length - 1) / 4)];
  const near = seen.filter((row) => row.high - row.low <= most);
  const low = Math.min(...seen.map((row) => row.mean), ...near.map((row) => row.low));
  const high = Math.max(...seen.map((row) => row.mean), ...near.map((row) => row.high));
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}

// Means with whiskers, one line for each arm.
export function intervals(rows, title, unit = "") {
  const width = across(), left = room(rows, width), right = 20;
  const seen = rows.filter((row) => row.mean !== null);
  const height = rows.length * LINE + 30, floor = height - 24;
  const chart = frame(width, height, title);
  const [low, high] = seen.length ? range(seen) : [0, 1];
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  const inside = (value) => Math.min(width - right + 6, Math.max(left - 2, x(value)));
  if (seen.length) {
    for (const value of ticks(low, high, isNarrow() ? 3 : 5)) {
      chart.append(svg("line", { x1: x(value), x2: x(value), y1: 0, y2: floor, class: "axis" }),
        text(x(value), height - 8, short(value, 3), "middle"));
    }
    if (unit) chart.append(text(0, height - 8, clip(unit, left / 9)));
  }
  chart.append(svg("line", { x1: left, x2: width - right, y1: floor, y2: floor, class: "axis" }));
  rows.forEach((row, i) => {
    const y = i * LINE + 14, kind = row.leads ? " leads" : "";
    chart.append(text(left - 10, y + 4, clip(row.name, (left - 10) / 7), "end"));
    if (row.mean === null) {
      chart.append(text(left + 4, y + 4, "not played yet"));
    } else {
      chart.append(svg("line", { x1: inside(row.low), x2: inside(row.high), y1: y, y2: y, class: "whisker" + kind }));
      for (const [end, way] of [[row.low, -1], [row.high, 1]]) {
        const at = inside(end);
        if (Math.abs(at - x(end)) > 1e-6) { // it goes on
          chart.append(svg("path", { d: `M${at - 4 * way},${y - 4}L${at},${y}L${at - 4 * way},${y + 4}`, class: "whisker more" + kind }));
        }
      }
      chart.append(svg("circle", { cx: x(row.mean), cy: y, r: 4.5, class: "dot" + kind }));
    }
    chart.append(spot(0, y - LINE / 2, width, LINE, row.tip || row.name));
  });
  return chart;
}

// One bar for each row.
export function bars(rows, title) {
  const width = across(), left = room(rows, width), right = 70;
  const chart = frame(width, Math.max(1, rows.length) * LINE + 4, title);
  const most = Math.max(...rows.map((row) => row.value), 1e-300);
  rows.forEach((row, i) => {
    const y = i * LINE + 4, long = Math.max(1, (row.value / most) * (width - left - right));
    chart.append(
      text(left - 10, y + 13, clip(row.name, (left - 10) / 7), "end"),
      svg("rect", { x: left, y, width: long, height: LINE - 8, class: row.leads ? "bar leads" : "bar", rx: 2 }),
      text(left + long + 6, y + 13, short(row.value, 3)),
      spot(0, y - 4, width, LINE, row.tip || `${row.name}: ${short(row.value)}`),
    );
  });
  return chart;
}

// Texts under an axis: the first, the last, and the middle where it has room.
function below(marks, x, height) {
  const long = Math.max(...marks.map(([, label, date]) => Math.max(label.length, date.length)));
  const kept = marks.length === 3 && x(marks[2][0]) - x(marks[0][0]) < 20 * long ? [marks[0], marks[2]] : marks;
  return kept.flatMap(([value, label, date], i) => {
    const anchor = i === kept.length - 1 ? "end" : i ? "middle" : "start";
    return [text(x(value), height - 23, label, anchor), text(x(value), height - 7, date, anchor)];
  });
}

// Lines over one axis; each is {class, points: [[x, y], …]}.  `marks` are the texts under the
// axis, [[x, text, date], …], and `tips` say what holds up to an x.
export function lines(series, title, marks, tips) {
  const width = across(), height = 232, left = 56, right = 16, top = 10, low = 40;
  const chart = frame(width, height, title);
  const points = series.flatMap((one) => one.points);
  const farthest = Math.max(...points.map((p) => p[0]), 1), highest = Math.max(...points.map((p) => p[1]), 1e-9);
  const x = (value) => left + (value / farthest) * (width - left - right);
  const y = (value) => height - low - (value / highest) * (height - low - top);
  for (const value of ticks(0, highest, 4)) {
    chart.append(
      svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "axis" }),
      text(left - 6, y(value) + 4, short(value, 3), "end"),
    );
  }
  chart.append(...below(marks, x, height));
  for (const one of series) {
    const path = one.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");
    chart.append(svg("polyline", { points: path, class: one.class }));
  }
  let start = left;
  for (const [value, tip] of tips) {
    chart.append(spot(start, 0, Math.max(0, x(value) - start), height, tip));
    start = x(value);
  }
  return chart;
}

// Stacked shares of each phase, along the decisions; `marks` as above.
export function stack(ends, parts, title, marks, tips) {
  const width = isNarrow() ? 340 : 1140, height = 126, low = 38;
  const chart = frame(width, height, title);
  const total = ends.length ? ends[ends.length - 1] : 1;
  let start = 0;
  ends.forEach((end, i) => {
    const count = end - start;
    const x = (start / total) * width, wide = (count / total) * width;
    let top = height - low;
    for (const [phase, counts] of parts) {
      const tall = (counts[i] / count) * (height - low);
      top -= tall;
      if (tall > 0) chart.append(svg("rect", { x, y: top, width: wide + 0.3, height: tall, class: phase }));
    }
    chart.append(spot(x, 0, wide, height, tips[i]));
    start = end;
  });
  chart.append(...below(marks, (value) => (value / total) * width, height));
  return chart;
}

export function meter(share, met, title) {
  const chart = svg("svg", {
    viewBox: "0 0 300 10", preserveAspectRatio: "none", class: "meter", role: "img", "aria-label": title,
  });
  chart.append(
    svg("rect", { width: 300, height: 10, class: "track" }),
    svg("rect", { width: 300 * Math.min(1, Math.max(0, share)), height: 10, class: met ? "level met" : "level" }),
  );
  return chart;
}
