// Small charts in SVG; texts are set as text, never as markup.

const SPACE = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Number(value.toPrecision(digits)).toString();
}

// On a phone a chart has fewer units across, so that its texts stay readable.
const across = () => (window.innerWidth < 760 ? 360 : 560);

function frame(width, height, title) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
}

function text(x, y, content, anchor = "start") {
  const node = svg("text", { x, y, "text-anchor": anchor });
  node.textContent = content;
  return node;
}

function clip(name, length) {
  const letters = [...name];
  return letters.length > length ? letters.slice(0, Math.floor(length) - 1).join("") + "…" : name;
}

// Means with whiskers, one line for each arm.
export function intervals(rows, title) {
  const width = across(), line = 24, left = width / 4.3, right = 20;
  const seen = rows.filter((row) => row.mean !== null);
  const height = rows.length * line + 30;
  const chart = frame(width, height, title);
  const low = Math.min(...seen.map((row) => row.low)), high = Math.max(...seen.map((row) => row.high));
  const span = high > low ? high - low : 1;
  const x = (value) => left + ((value - low) / span) * (width - left - right);
  chart.append(svg("line", { x1: left, x2: width - right, y1: height - 22, y2: height - 22, class: "axis" }));
  if (seen.length) {
    chart.append(text(left, height - 6, short(low, 3)), text(width - right, height - 6, short(high, 3), "end"));
  }
  rows.forEach((row, i) => {
    const y = i * line + 14, kind = row.leads ? " leads" : "";
    chart.append(text(left - 8, y + 4, clip(row.name, (left - 8) / 7.8), "end"));
    if (row.mean === null) {
      chart.append(text(left + 4, y + 4, "not played yet"));
      return;
    }
    chart.append(
      svg("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, class: "whisker" + kind }),
      svg("circle", { cx: x(row.mean), cy: y, r: 4.5, class: "dot" + kind }),
    );
  });
  return chart;
}

// One bar for each row.
export function bars(rows, title) {
  const width = across(), line = 24, left = width / 4.3, right = 70;
  const chart = frame(width, Math.max(1, rows.length) * line + 4, title);
  const most = Math.max(...rows.map((row) => row.value), 1e-300);
  rows.forEach((row, i) => {
    const y = i * line + 4, long = Math.max(1, (row.value / most) * (width - left - right));
    chart.append(
      text(left - 8, y + 13, clip(row.name, (left - 8) / 7.8), "end"),
      svg("rect", { x: left, y, width: long, height: line - 8, class: "bar", rx: 2 }),
      text(left + long + 6, y + 13, short(row.value, 3)),
    );
  });
  return chart;
}

// Lines over one axis; each is {class, points: [[x, y], …]}.
export function lines(series, title, unit) {
  const width = across(), height = 220, left = 50, right = 14, top = 10, low = 28;
  const chart = frame(width, height, title);
  const points = series.flatMap((one) => one.points);
  const farthest = Math.max(...points.map((p) => p[0]), 1), highest = Math.max(...points.map((p) => p[1]), 1e-9);
  const x = (value) => left + (value / farthest) * (width - left - right);
  const y = (value) => height - low - (value / highest) * (height - low - top);
  for (const share of [0, 0.5, 1]) {
    const at = y(share * highest);
    chart.append(
      svg("line", { x1: left, x2: width - right, y1: at, y2: at, class: "axis" }),
      text(left - 6, at + 4, short(share * highest, 3), "end"),
    );
  }
  chart.append(text(width - right, height - 8, `${short(farthest)} ${unit}`, "end"), text(left, height - 8, "0"));
  for (const one of series) {
    const path = one.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");
    chart.append(svg("polyline", { points: path, class: one.class }));
  }
  return chart;
}

// Stacked shares of each phase, along the decisions.
export function stack(ends, parts, title) {
  const width = window.innerWidth < 760 ? 360 : 1140, height = 110, low = 22;
  const chart = frame(width, height, title);
  const total = ends.length ? ends[ends.length - 1] : 1;
  let start = 0;
  ends.forEach((end, i) => {
    const count = end - start;
    let top = height - low;
    for (const [phase, counts] of parts) {
      const tall = (counts[i] / count) * (height - low);
      top -= tall;
      const x = (start / total) * width, wide = (count / total) * width;
      if (tall > 0) chart.append(svg("rect", { x, y: top, width: wide + 0.3, height: tall, class: phase }));
    }
    start = end;
  });
  chart.append(text(0, height - 6, "first"), text(width, height - 6, `decision ${short(total)}`, "end"));
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
