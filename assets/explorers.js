// Explorers of ready frames (lib/icgd/explorers): native inputs choose the picture; nothing else is loaded.
document.querySelectorAll("figure.explorer").forEach((box) => {
  const { sizes, elements, frames, alts, readouts } = JSON.parse(box.querySelector("script").textContent);
  const picture = box.querySelector("img"), readout = box.querySelector(".explorer-readout");
  const controls = box.querySelector("fieldset"), numbers = [...readout.querySelectorAll("dd")];
  const inputs = [...controls.querySelectorAll("input, select")];
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const show = () => {
    for (const input of inputs) {
      if (!input.dataset.texts) continue;
      const text = JSON.parse(input.dataset.texts)[input.value];
      input.nextElementSibling.value = text;
      input.setAttribute("aria-valuetext", text);
    }
    const k = inputs.reduce((n, input, i) => n * sizes[i] + Number(input.value), 0);
    picture.src = "data:image/svg+xml," + encodeURIComponent(frames[k].map((i) => elements[i]).join(""));
    picture.alt = alts[k];
    numbers.forEach((number, i) => { if (number.textContent !== readouts[k][i]) number.textContent = readouts[k][i]; });
    box.dataset.frame = k;
  };

  let stop = () => {};
  controls.querySelectorAll(".explorer-play").forEach((button) => {
    const input = button.parentElement.querySelector("input"), what = button.getAttribute("aria-label").replace(/^\w+/, "");
    const atEnd = () => input.value === input.max;
    const advance = () => { input.value = atEnd() ? 0 : Number(input.value) + 1; show(); };
    const name = (word) => { button.textContent = word; button.setAttribute("aria-label", word + what); };
    const idle = () => name(still.matches ? "Next" : "Play");
    let timer = 0;
    const pause = () => {
      clearInterval(timer);
      timer = 0;
      readout.setAttribute("aria-live", "polite");
      idle();
    };
    button.addEventListener("click", () => {
      if (timer) return pause();
      stop();
      if (still.matches) return advance();     // nothing moves by itself where the reader asked for that
      stop = pause;
      readout.setAttribute("aria-live", "off"); // a screen reader is not to read every frame
      name("Pause");
      if (atEnd()) advance();
      timer = setInterval(() => { advance(); if (atEnd()) pause(); }, 500);
    });
    still.addEventListener("change", pause);
    idle();
  });

  for (const input of inputs) input.addEventListener("input", () => { stop(); show(); });
  controls.disabled = false;
  // A browser may have kept what was chosen before the page was left.
  if (inputs.some((input) => input.value !== (input.getAttribute("value") ?? String([...input.options].findIndex((o) => o.defaultSelected))))) show();
});
