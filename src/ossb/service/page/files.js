// What one takes along: numbers as CSV, charts as one picture.

import { svg } from "/page/charts.js";

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight"];
const WIDE = 600;

function save(content, kind, name) {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// A spreadsheet must not take a name for a formula.
const harmless = (value) => (/^[=+\-@\t\r]/.test(value) && !Number.isFinite(Number(value)) ? `'${value}` : value);

function cell(value) {
  if (value === null || value === undefined) return "";
  const written = typeof value === "string" ? harmless(value) : String(value);
  return /[",\n\r]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
}

export function saveTable(name, headings, rows) {
  const content = [headings, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
  save(`\ufeff${content}\r\n`, "text/csv;charset=utf-8", `${name}.csv`);
}

// A chart with the looks that the style sheet gives it: a picture has none with it.
function styled(chart) {
  const copy = chart.cloneNode(true);
  const from = [chart, ...chart.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const looks = getComputedStyle(node);
    for (const look of LOOKS) to[i].setAttribute(look, looks.getPropertyValue(look));
    if (node.classList.contains("spot")) to[i].remove();
    for (const key of ["class", "data-tip"]) to[i].removeAttribute(key);
  });
  return copy;
}

function line(y, content, size, colour) {
  const node = svg("text", { x: 20, y, "font-size": size, "font-family": "system-ui, sans-serif", fill: colour });
  node.textContent = content;
  return node;
}

// At most so many letters a line, whole words where there are any.
function wrapped(content, letters) {
  const found = [""];
  for (const word of content.split(" ")) {
    const last = found[found.length - 1];
    if (last && last.length + word.length + 1 > letters) found.push(word);
    else found[found.length - 1] = last ? `${last} ${word}` : word;
  }
  return found;
}

export function savePicture(name, sentence, charts) {
  const ink = getComputedStyle(document.body).color;
  const card = getComputedStyle(document.querySelector(".card") || document.body).backgroundColor;
  const parts = [line(34, name, 20, ink)];
  let y = 58;
  for (const words of wrapped(sentence, 78)) {
    parts.push(line(y, words, 14, ink));
    y += 20;
  }
  for (const [heading, chart] of charts) {
    parts.push(line(y + 22, heading, 15, ink));
    const [, , wide, tall] = chart.getAttribute("viewBox").split(" ").map(Number);
    const height = ((WIDE - 40) * tall) / wide;
    const copy = styled(chart);
    for (const [key, value] of Object.entries({ x: 20, y: y + 34, width: WIDE - 40, height })) copy.setAttribute(key, value);
    parts.push(copy);
    y += height + 50;
  }
  const whole = svg("svg", { viewBox: `0 0 ${WIDE} ${y}`, width: WIDE, height: y },
    svg("rect", { width: WIDE, height: y, fill: card }), ...parts);
  save(new XMLSerializer().serializeToString(whole), "image/svg+xml", `${name}.svg`);
}
