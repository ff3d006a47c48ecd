// A button on every block of code copies what one types: without prompts, and without what is printed.

const PROMPT = /^(?:>>> |\.\.\. |\$ )/;

function typed(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.some((line) => PROMPT.test(line))) return lines.join("\n");
  return lines.filter((line) => PROMPT.test(line) || line === "...").map((line) => line.replace(PROMPT, "")).join("\n");
}

for (const block of document.querySelectorAll(".bd-article div.highlight")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-code";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const done = await navigator.clipboard.writeText(typed(block.querySelector("pre").textContent)).then(() => true, () => false);
    button.textContent = done ? "Copied" : "Cannot copy";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}

// The arrows of the side bar have no words of their own.
for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary")) {
  arrow.setAttribute("aria-label", `Pages of ${arrow.closest("li").querySelector("a").textContent.trim()}`);
}
