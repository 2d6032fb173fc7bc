// Runs in every page that is visited, before the page's own scripts.
window.look = {
  jumps: [], // how far the page moved under the reader's eyes, and what moved

  async scrollThrough() {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 1600) {
      scrollTo(0, y);
      await new Promise(requestAnimationFrame);
    }
    scrollTo(0, 0);
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  },

  // axe looks at every element, and most elements are the insides of formulas, the colours of code and the
  // rows of long tables, all alike. A few of each kind stay; a displayed formula's box keeps its size.
  thinOut() {
    const formulas = [...document.querySelectorAll(".katex")].slice(3);
    const boxes = formulas.map((formula) => formula.getBoundingClientRect());
    formulas.forEach((formula, i) => {
      if (!formula.closest(".katex-display")) return formula.closest(".math").replaceWith("x");
      const box = document.createElement("span");
      box.style.cssText = `display: inline-block; width: ${boxes[i].width}px; height: ${boxes[i].height}px`;
      formula.replaceWith(box);
    });
    document.querySelectorAll(".nobreak").forEach((e) => e.replaceWith(e.textContent));
    const colours = new Set();
    document.querySelectorAll(".highlight span").forEach((e) => {
      if (colours.has(e.className)) e.replaceWith(e.textContent);
      colours.add(e.className);
    });
    document.querySelectorAll("tr:nth-child(n + 8)").forEach((row) => row.remove());
    const still = document.createElement("style"); // a colour on its way to another is no colour
    still.textContent = "*, ::before, ::after { transition: none !important; animation: none !important }";
    document.head.append(still);
  },

  // Text of every look: one element of each kind, told apart by the classes around it.
  samplesOfText() {
    const kinds = new Map();
    for (const e of document.body.querySelectorAll("*")) {
      const hasText = [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!hasText || !e.checkVisibility({ visibilityProperty: true })) continue;
      let kind = "";
      for (let a = e, i = 0; a && i < 5; a = a.parentElement, i++) kind += `${a.tagName}.${a.className} `;
      if (!kinds.has(kind)) kinds.set(kind, e);
    }
    return [...kinds.values()];
  },

  // Colours are judged where samplesOfText says: they are most of axe's work, and all that a mode changes.
  async violations(where) {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const ofColour = ["color-contrast", "link-in-text-block"];
    const off = Object.fromEntries(ofColour.map((rule) => [rule, { enabled: false }]));
    const { violations } =
      where === "colours"
        ? await axe.run({ include: look.samplesOfText() }, { runOnly: ofColour, resultTypes: ["violations"] })
        : await axe.run(document, { runOnly: tags, rules: off, resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => {
      const [{ target, failureSummary }] = nodes;
      return `${id} (${impact}), ${nodes.length} times, as at ${target.join(" ")}: ${failureSummary}`;
    });
  },

  // What an explorer shows, beside what it must show at its controls' values.
  async frame(box) {
    const data = JSON.parse(box.querySelector("script").textContent);
    const inputs = [...box.querySelectorAll("input, select")];
    const k = inputs.reduce((n, input, i) => n * data.sizes[i] + Number(input.value), 0);
    const image = box.querySelector("img");
    return {
      k,
      isDrawn: await image.decode().then(() => true, () => false),
      shown: look.words(box),
      due: [data.alts[k], ...data.readouts[k]],
    };
  },

  words(box) {
    const readout = [...box.querySelectorAll(".explorer-readout dd")].map((dd) => dd.textContent);
    return [box.querySelector("img").alt, ...readout];
  },

  // Two settings may have one picture; then the words beside it differ.
  state(box) {
    return [box.querySelector("img").src, ...look.words(box)].join();
  },

  async changesFrom(box, state) {
    for (let tries = 0; tries < 150; tries++) {
      if (look.state(box) !== state) return true;
      await new Promise((done) => setTimeout(done, 20));
    }
    return false;
  },
};

new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    const names = sources.map(({ node }) => (node?.nodeType === 1 ? node : node?.parentElement)?.className);
    if (!hadRecentInput) look.jumps.push([value, names]);
  }
}).observe({ type: "layout-shift", buffered: true });
