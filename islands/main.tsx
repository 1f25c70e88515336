/// <reference lib="dom" />
import { hydrate } from "preact";
import { relative } from "./format.tsx";
import { type AnyIsland, type IslandName, ISLANDS } from "./registry.ts";

/** What the browser runs: islands come to life, times stay true, one box ticks all. */

const TICK_MS = 5_000;

for (const place of document.querySelectorAll<HTMLElement>("[data-island]")) {
  const Island = ISLANDS[place.dataset.island as IslandName] as unknown as AnyIsland;
  hydrate(<Island {...JSON.parse(place.dataset.props ?? "{}")} />, place);
}

setInterval(() => {
  for (const time of document.querySelectorAll("time")) {
    if (time.closest("[data-island]") === null) {
      time.textContent = relative(Date.parse(time.dateTime), Date.now());
    }
  }
}, TICK_MS);

for (const box of document.querySelectorAll<HTMLInputElement>("[data-tick-all]")) {
  box.hidden = false;
  box.addEventListener("change", () => {
    for (const other of box.form?.querySelectorAll<HTMLInputElement>("input[name=id]") ?? []) {
      other.checked = box.checked;
    }
  });
}
