"use strict";
// Filter the tables of scenarios, and the sections with them.
const filter = document.getElementById("filter");
filter?.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of document.querySelectorAll(".matrix tbody tr")) {
    const hidden = !words.every((word) => row.dataset.search.includes(word));
    row.hidden = hidden;
    document.getElementById(row.querySelector("a").hash.slice(1)).hidden = hidden;
    if (!hidden) shown += 1;
  }
  for (const system of document.querySelectorAll("details.system")) {
    system.hidden = !system.querySelector("tbody tr:not([hidden])");
    system.open = !system.hidden && words.length > 0;
  }
  document.getElementById("no-match").hidden = shown > 0;
});
// A step in the list and in the diagram light up together, with the messages that it sends and receives.
const narrow = matchMedia("(max-width: 760px)");
for (const run of document.querySelectorAll(".run")) {
  const light = (step, on) => {
    run.querySelectorAll(`[data-step="${step}"]`).forEach((part) => part.classList.toggle("on", on));
    run.querySelectorAll(`[data-sent="${step}"], [data-ended="${step}"]`).forEach((part) => part.classList.toggle("on", on));
  };
  for (const [start, end] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
    const on = (event, value) => {
      const part = event.target.closest("[data-step]");
      if (part) light(part.dataset.step, value);
    };
    run.addEventListener(start, (event) => on(event, true));
    run.addEventListener(end, (event) => on(event, false));
  }
  // Clicking a step, or Enter on it, shows what does not fit on its line. On narrow screens everything does.
  const open = (event) => {
    const item = event.target.closest("li");
    if (!item || narrow.matches) return;
    const wasOpen = item.classList.contains("open");
    run.querySelectorAll(".steps li.open").forEach((other) => other.classList.remove("open"));
    item.style.marginBottom = "";
    if (!wasOpen) {
      item.classList.add("open");
      item.style.marginBottom = `${26 - item.offsetHeight}px`;
    }
  };
  const steps = run.querySelector(".steps");
  steps.addEventListener("click", open);
  steps.addEventListener("keydown", (event) => { if (event.key === "Enter") open(event); });
}

// What a link leads to may be folded away.
function unfold() {
  for (let part = document.getElementById(location.hash.slice(1)); part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
}
addEventListener("hashchange", unfold);
unfold();
// A printed page cannot be unfolded.
addEventListener("beforeprint", () => document.querySelectorAll("details.scenario, details.system, details.question").forEach((part) => { part.open = true; }));
