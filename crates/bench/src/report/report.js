// Values on hover and by keyboard, and downloads. The report is complete without this script: it asks
// nobody for anything, and reads only what stands in the page.
"use strict";
(() => {
  const COMPUTED = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "opacity",
    "font-family", "font-size", "font-weight", "paint-order",
  ];
  // Two pixels of the image for one of the chart; browsers refuse sides above 16384.
  const SCALE = 2, SIDE_MAX = 16384;

  function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    // The download has begun by then, and holds the bytes.
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  function fileName(title, ending) {
    const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["coldpress"];
    return words.join("-").slice(0, 80) + "." + ending;
  }

  // RFC 4180: rows end with CR LF, cells with separators or quotes are quoted.
  function cell(value) {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }

  // A contestant without runs has a row of its own, with its figures.
  function csv(study) {
    const head = ["contestant", "turn", "excluded", ...study.figures, ...study.contestant_figures];
    const silent = study.contestants.map((_, index) => index)
      .filter((index) => study.runs.every((run) => run[0] !== index))
      .map((index) => [index, null, null, ...study.figures.map(() => null)]);
    const rows = [...study.runs, ...silent].map(([contestant, ...rest]) => [
      study.contestants[contestant] ?? "?", ...rest, ...(study.contestant_values[contestant] ?? []),
    ]);
    return [head, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
  }

  // A chart with the colors of the page as it is now, for a file of its own.
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    const copies = copy.querySelectorAll("*");
    svg.querySelectorAll("*").forEach((drawn, index) => {
      const computed = getComputedStyle(drawn);
      for (const name of COMPUTED) copies[index].style.setProperty(name, computed.getPropertyValue(name));
    });
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.removeAttribute("tabindex");
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", "100%");
    paper.setAttribute("height", "100%");
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    copy.prepend(paper);
    const text = new XMLSerializer().serializeToString(copy);
    return new Blob([text], { type: "image/svg+xml" });
  }

  async function png(svg) {
    const { width, height } = svg.viewBox.baseVal;
    const scale = Math.min(SCALE, SIDE_MAX / Math.max(width, height));
    const address = URL.createObjectURL(standalone(svg));
    try {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  async function download(button) {
    if (button.dataset.csv !== undefined) {
      const { studies } = JSON.parse(document.getElementById("samples").textContent);
      const study = studies[Number(button.dataset.csv)];
      save(fileName(study.title, "csv"), new Blob([csv(study)], { type: "text/csv" }));
      return;
    }
    const figure = button.closest("figure");
    const svg = figure.querySelector("svg"), kind = button.dataset.save;
    const name = fileName(figure.querySelector("figcaption").textContent, kind);
    save(name, kind === "png" ? await png(svg) : standalone(svg));
  }

  // What the mark under the pointer or the keyboard says. Its title is taken away meanwhile, or the
  // browser would show it too.
  const tip = document.getElementById("tip");
  let shown = null;

  function hide() {
    if (shown === null) return;
    shown.mark.prepend(shown.title);
    shown.mark.classList.remove("on");
    shown = null;
    tip.hidden = true;
  }

  function show(mark, x, y) {
    if (shown?.mark !== mark) {
      hide();
      const title = mark.querySelector("title");
      shown = { mark, title };
      tip.textContent = title.textContent;
      title.remove();
      mark.classList.add("on");
      tip.hidden = false;
    }
    const box = tip.getBoundingClientRect();
    const left = Math.min(x + 12, document.documentElement.clientWidth - box.width - 4);
    const below = y + 16 + box.height > document.documentElement.clientHeight;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, below ? y - box.height - 8 : y + 16) + "px";
  }

  function step(svg, key) {
    const marks = [...svg.querySelectorAll(".mark")];
    const at = shown === null ? -1 : marks.indexOf(shown.mark);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: marks.length - 1 }[key];
    if (next === undefined) return false;
    const mark = marks[Math.max(0, Math.min(next, marks.length - 1))];
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = mark.getBoundingClientRect();
    show(mark, box.right, box.bottom);
    return true;
  }

  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) show(mark, event.clientX, event.clientY);
    else if (event.pointerType === "mouse") hide();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (button) download(button);
    else if (!event.target.closest?.(".mark")) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const svg = event.target.closest?.("svg");
    if (svg && step(svg, event.key)) event.preventDefault();
  });
  document.addEventListener("focusout", hide);
  // What only the script can do is offered only where it runs.
  for (const tools of document.querySelectorAll(".tools")) tools.hidden = false;
  for (const svg of document.querySelectorAll("svg[role=group]")) svg.setAttribute("tabindex", "0");
})();
