for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), column = head.cellIndex, body = head.closest("table").tBodies[0];
    const upward = head.getAttribute("aria-sort") !== "ascending";
    const key = (row) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
    const number = (text) => (text === "inf" ? Infinity : parseFloat(text));
    const compare = (a, b) => {
      const x = number(key(a)), y = number(key(b));
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) && Number.isNaN(y) ? key(a).localeCompare(key(b)) : Number.isNaN(x) ? 1 : -1;
      return x === y ? 0 : x < y ? -1 : 1;
    };
    const rows = [...body.rows].sort((a, b) => (upward ? 1 : -1) * compare(a, b));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", upward ? "ascending" : "descending");
    body.append(...rows);
  });
}
