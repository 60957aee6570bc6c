// What lies under the pointer, in words: the `data-tip` of a place in a chart.

const box = document.createElement("div");
box.id = "tip";
box.hidden = true;
box.setAttribute("aria-hidden", "true"); // the tables say the same
document.body.append(box);

let last = null; // where the pointer was

function follow(event) {
  last = event;
  const under = document.elementFromPoint(event.clientX, event.clientY);
  const place = under && under.closest("[data-tip]");
  box.hidden = !place;
  if (!place) return;
  box.textContent = place.getAttribute("data-tip");
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8);
  const below = event.clientY + 18;
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${below + height > window.innerHeight ? event.clientY - height - 12 : below}px`;
}

for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, follow);
document.addEventListener("scroll", () => { if (last) follow(last); }, { passive: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") box.hidden = true; });
