"use strict";
// Without this script the page is whole: fields come most wrong first, and folds open by hand.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const order = new Map([...body.rows].map((row, at) => [row, at]));
  // Of many fields the first ones, in whatever order, until all are asked for: as many as are wrong, within reason.
  const rest = table.nextElementSibling;
  let most = Math.min(100, Math.max(12, table.querySelectorAll("tr.wrong").length));
  const limit = () => [...body.rows].forEach((row, at) => { row.hidden = at >= most; });
  if (body.rows.length > most) {
    rest.hidden = false;
    rest.firstElementChild.addEventListener("click", () => { most = Infinity; rest.hidden = true; limit(); });
    limit();
  }
  for (const head of heads) {
    if (!head.dataset.kind) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  function sort(head) {
    const column = heads.indexOf(head);
    const isText = head.dataset.kind === "text";
    const before = head.getAttribute("aria-sort");
    const rises = before ? before === "descending" : isText;
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
    const value = (row) => row.cells[column].dataset.value;
    const compare = isText
      ? (one, other) => (value(one) === "") - (value(other) === "") || (rises ? 1 : -1) * (value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : 0)
      : (one, other) => (rises ? 1 : -1) * (Number(value(one)) - Number(value(other)));
    const rows = [...body.rows].sort((one, other) => compare(one, other) || order.get(one) - order.get(other));
    body.append(...rows);
    limit();
  }
}
// A link into a fold opens it; not every browser does that by itself.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
if (location.hash) reveal();
