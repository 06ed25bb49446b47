"use strict";
(() => {
  const table = document.getElementById("sessions");
  if (!table) return;
  const body = table.tBodies[0];
  const number = (text) => {
    const value = parseFloat(text.replace("\u2212", "-"));
    return Number.isNaN(value) ? null : value;
  };
  const compare = (column, sign) => (a, b) => {
    const [x, y] = [a.cells[column].textContent.trim(), b.cells[column].textContent.trim()];
    const [p, q] = [number(x), number(y)];
    if (p !== null && q !== null) return sign * (p - q);
    return sign * x.localeCompare(y);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      body.append(...[...body.rows].sort(compare(column, sign)));
    });
  });
  const label = document.createElement("label");
  label.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  label.append("Show only rows that contain ", input);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
})();
