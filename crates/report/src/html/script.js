// Shows the findings of the chosen codes. Without scripts all are shown and there is no filter.
const filter = document.getElementById("filter");
const status = document.getElementById("shown");
if (filter) {
  filter.hidden = false;
  filter.addEventListener("change", () => {
    const chosen = new Set([...filter.querySelectorAll("input:checked")].map(box => box.value));
    const findings = [...document.querySelectorAll("article[data-code]")];
    for (const finding of findings) finding.hidden = !chosen.has(finding.dataset.code);
    const shown = findings.filter(finding => !finding.hidden).length;
    status.textContent = `${shown} of ${findings.length} findings shown`;
  });
}
