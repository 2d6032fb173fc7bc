// What the theme leaves undone: for the keyboard, for screen readers, and for a book opened from disk.
(() => {
  // A page on disk may not read another: the results of a search come without their excerpts.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  // A box that scrolls sideways must be reachable by keyboard; one that does not must not be a tab stop.
  const check = (box) => {
    if (!box) return;
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const equation = (div) => div.querySelector(":scope > .katex-display");
  // Equations off-screen have no layout yet: each is looked at when it gets one ...
  document.addEventListener("contentvisibilityautostatechange", (event) => {
    if (!event.skipped && event.target.matches("div.math")) check(equation(event.target));
  });
  // ... and everything in the page's idle time, once it is there and when its width has changed.
  const idle = window.requestIdleCallback || ((f) => setTimeout(() => f({ timeRemaining: () => 5 }), 50));
  let boxes = [];
  const step = (deadline) => {
    while (boxes.length && deadline.timeRemaining() > 3) check(boxes.shift());
    if (boxes.length) idle(step);
  };
  const checkAll = () => {
    if (!boxes.length) idle(step);
    boxes = [...document.querySelectorAll("div.math")].map(equation);
    boxes.push(...document.querySelectorAll(".bd-content :is(.pst-scrollable-table-container, .cell_output .text_html, pre)"));
  };
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) checkAll();
    width = innerWidth;
  });
  addEventListener("load", () => {
    checkAll();
    // The theme gives the search button's label a second time, where it is not allowed.
    document.querySelectorAll(".search-button-field[aria-label]").forEach((b) => b.removeAttribute("aria-label"));
  });
  // docutils gives the entries of the bibliography a role that no longer exists.
  document.querySelectorAll(".citation-list > .citation").forEach((c) => c.setAttribute("role", "listitem"));
})();
