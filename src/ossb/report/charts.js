// Regret over rounds in SVG: hide a policy, switch between t and ln t, drag to zoom, point to read.
const SPACE = "http://www.w3.org/2000/svg";
const DECADES = 1; // of rounds that a slope is drawn along

function svg(name, attributes, content = "") {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = content;
  return node;
}

function element(name, content = "") {
  const node = document.createElement(name);
  node.textContent = content;
  return node;
}

const short = (value) => (value >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(4)).toString());

// Round numbers between two ends, about as many as wanted; decades on a logarithmic axis.
function ticks(low, high, logarithmic, wanted) {
  if (logarithmic) {
    const decades = [];
    for (let t = 10 ** Math.ceil(Math.log10(low)); t <= high * 1.0001; t *= 10) decades.push(t);
    if (decades.length > 1) return decades;
  }
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high * 1.0001; i++) found.push(i * step);
  return found;
}

class Chart {
  constructor(node, content) {
    Object.assign(this, { node, content, logarithmic: false, hidden: new Set(), range: null });
    this.values = element("div");
    this.values.className = "values";
    this.values.hidden = true;
    this.legend = element("div");
    this.legend.className = "legend";
    node.after(this.legend);
    content.series.forEach((one) => this.legend.append(this.key(one)));
    if (content.constant !== null) {
      const said = `dotted: C(θ) = ${short(content.constant)} per unit of ln t, through the end of each curve on a logarithmic axis; C(θ) ln t itself where it fits`;
      this.reading = element("small", said);
      this.legend.append(this.reading);
    }
    this.draw();
  }

  key(one) {
    const button = element("button", one.name), line = element("span");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    line.className = "key";
    line.style.background = one.colour;
    button.prepend(line);
    button.addEventListener("click", () => {
      if (!this.hidden.delete(one.name)) this.hidden.add(one.name);
      button.setAttribute("aria-pressed", String(!this.hidden.has(one.name)));
      this.draw();
    });
    return button;
  }

  shown() {
    return this.content.series.filter((one) => !this.hidden.has(one.name));
  }

  draw() {
    const { times, constant } = this.content, wide = this.node.clientWidth || 800;
    const width = Math.max(wide, 280), height = width < 600 ? 280 : 400;
    const left = 56, right = 14, top = 10, low = 42;
    const [first, last] = this.range || [this.logarithmic ? 1 : 0, times[times.length - 1]];
    const inside = times.map((t, i) => i).filter((i) => times[i] >= first && times[i] <= last);
    const ends = this.shown().flatMap((one) => inside.map((i) => one.high[i]));
    const highest = (Math.max(...ends, 0) || 1) * 1.05;
    const along = this.logarithmic ? (t) => Math.log(Math.max(t, first, 1) / Math.max(first, 1)) / Math.log(last / Math.max(first, 1)) : (t) => (t - first) / (last - first);
    const x = (t) => left + along(t) * (width - left - right);
    const y = (value) => height - low - (value / highest) * (height - low - top);
    const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "presentation" });
    Object.assign(this, { left, right, width, first, last, inside, x, chart });
    for (const value of ticks(0, highest, false, 5)) {
      chart.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
      chart.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    for (const t of ticks(Math.max(first, this.logarithmic ? 1 : 0), last, this.logarithmic, width < 600 ? 3 : 6)) {
      const anchor = x(t) > width - right - 24 ? "end" : "middle";
      chart.append(svg("text", { x: x(t), y: height - low + 18, "text-anchor": anchor }, short(t)));
    }
    const axis = this.logarithmic ? "rounds t, logarithmic" : "rounds t";
    chart.append(svg("text", { x: width - right, y: height - 6, "text-anchor": "end", class: "axis-name" }, axis));
    const path = (points) => points.map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    for (const one of this.shown()) {
      const edge = [...inside.map((i) => [times[i], one.high[i]]), ...inside.slice().reverse().map((i) => [times[i], Math.max(one.low[i], 0)])];
      chart.append(svg("polygon", { class: "band", fill: one.colour, points: path(edge) }));
    }
    for (const one of this.shown()) {
      const curve = inside.map((i) => [times[i], one.mean[i]]);
      chart.append(svg("polyline", { class: "curve", stroke: one.colour, points: path(curve) }));
      if (constant !== null && this.logarithmic && inside.length) this.slope(one, path);
    }
    if (constant !== null && constant * Math.log(last) <= highest) {
      const floor = inside.map((i) => [times[i], constant * Math.log(times[i])]);
      chart.append(svg("polyline", { class: "floor", points: path(floor) }));
    }
    this.cursor = svg("line", { class: "cursor", y1: top, y2: height - low, visibility: "hidden" });
    this.chosen = svg("rect", { class: "chosen", y: top, height: height - low - top, width: 0 });
    chart.append(this.chosen, this.cursor);
    chart.addEventListener("pointermove", (event) => this.point(event));
    chart.addEventListener("pointerdown", (event) => this.press(event));
    chart.addEventListener("pointerup", (event) => this.release(event));
    chart.addEventListener("pointerleave", () => this.leave());
    chart.addEventListener("dblclick", () => this.zoom(null));
    this.node.replaceChildren(chart, this.values);
  }

  // A line of slope C(θ) through the end of a curve.
  slope(one, path) {
    const { times, constant } = this.content, last = this.inside[this.inside.length - 1];
    const line = this.inside
      .filter((i) => times[i] >= times[last] / 10 ** DECADES)
      .map((i) => [times[i], one.mean[last] + constant * Math.log(times[i] / times[last])])
      .filter(([, value]) => value >= 0);
    this.chart.append(svg("polyline", { class: "slope", stroke: one.colour, points: path(line) }));
  }

  at(event) {
    const box = this.chart.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * this.width;
  }

  nearest(place) {
    const { times } = this.content;
    return this.inside.reduce((best, i) => (Math.abs(this.x(times[i]) - place) < Math.abs(this.x(times[best]) - place) ? i : best), this.inside[0]);
  }

  point(event) {
    const place = this.at(event), i = this.nearest(place);
    if (i === undefined) return;
    if (this.from !== undefined) {
      this.chosen.setAttribute("x", Math.min(place, this.from));
      this.chosen.setAttribute("width", Math.abs(place - this.from));
    }
    const t = this.content.times[i];
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, this.x(t));
    this.cursor.setAttribute("visibility", "visible");
    const rows = this.shown().sort((a, b) => b.mean[i] - a.mean[i]).map((one) => element("div", `${one.name}: ${short(one.mean[i])}`));
    this.values.replaceChildren(element("b", `t = ${t.toLocaleString("en")}`), ...rows);
    this.values.style[this.x(t) < this.width / 2 ? "right" : "left"] = "1rem";
    this.values.style[this.x(t) < this.width / 2 ? "left" : "right"] = "auto";
    this.values.hidden = false;
  }

  press(event) {
    if (event.pointerType === "mouse") this.from = this.at(event);
    this.point(event);
  }

  release(event) {
    if (this.from === undefined) return;
    const ends = [this.from, this.at(event)].sort((a, b) => a - b);
    this.from = undefined;
    if (ends[1] - ends[0] < 8) return;
    const [low, high] = ends.map((place) => this.content.times[this.nearest(place)]);
    if (high > low) this.zoom([low, high]);
  }

  leave() {
    this.from = undefined;
    this.chosen.setAttribute("width", 0);
    this.cursor.setAttribute("visibility", "hidden");
    this.values.hidden = true;
  }

  zoom(range) {
    this.range = range;
    this.values.hidden = true;
    this.draw();
  }

  turn() {
    this.logarithmic = !this.logarithmic;
    this.zoom(null);
  }
}

const drawn = JSON.parse(document.getElementById("charts").textContent).map((content, place) => {
  const chart = new Chart(document.getElementById(`plot-${place}`), content);
  document.getElementById(`axis-${place}`).addEventListener("click", () => chart.turn());
  return chart;
});
window.addEventListener("resize", () => drawn.forEach((chart) => chart.draw()));
