"use strict";
// Gives each command a button that copies it.
for (const command of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command.querySelector("code")); // no clipboard without HTTPS
    }
  });
  command.append(button);
}
