"use strict";
// Arrow keys move from a tile to the nearest one in their direction, Home and End to the first and the last.
const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
document.addEventListener("keydown", (event) => {
  const here = event.target.closest(".tile"), way = ways[event.key];
  if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
  const tiles = [...here.closest(".map").querySelectorAll(".tile")], from = here.getBoundingClientRect();
  let next = { Home: tiles[0], End: tiles.at(-1) }[event.key], least = Infinity;
  for (const tile of way ? tiles : []) {
    const to = tile.getBoundingClientRect();
    const across = [to.left - from.right, from.left - to.right], down = [to.top - from.bottom, from.top - to.bottom];
    const [ahead, aside] = way[0] ? [across[way[0] > 0 ? 0 : 1], down] : [down[way[1] > 0 ? 0 : 1], across];
    const far = ahead + 4 * Math.max(...aside, 0) + Math.abs(aside[0] - aside[1]) / 1000;
    if (ahead > -1 && far < least) [least, next] = [far, tile];
  }
  if (!next) return;
  event.preventDefault();
  next.focus();
});
// A table that fits has nothing to scroll, and needs no place among the tab stops.
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});
for (const scroll of document.querySelectorAll(".scroll")) watch.observe(scroll);
