"use strict";
// Gives each command a button that copies it.
const words = document.getElementById("steps")?.dataset;
for (const command of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words.copy;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.querySelector("code").textContent);
      button.textContent = words.copied;
    } catch {
      getSelection().selectAllChildren(command.querySelector("code")); // no clipboard without HTTPS
    }
  });
  command.append(button);
}
