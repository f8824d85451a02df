// Keeps the regions of a page as the daemon sees them now. Without this script the page is complete, and shows its state
// at the time of the request.
"use strict";

const stream = new EventSource(location.href);

stream.addEventListener("region", (event) => {
  const { id, html } = JSON.parse(event.data);
  const region = document.getElementById(id);
  if (!region || region.innerHTML === html) return;
  const focused = region.contains(document.activeElement) ? document.activeElement.id : "";
  region.innerHTML = html; // escaped by the daemon; the page's policy runs no script in it
  if (focused) document.getElementById(focused)?.focus();
});

stream.addEventListener("open", () => say(""));

stream.addEventListener("error", () => {
  say("No connection to the daemon since " + new Date().toLocaleTimeString() + ". What this page shows may be old.");
});

function say(text) {
  const line = document.getElementById("link");
  if (line && (line.textContent === "") !== (text === "")) line.textContent = text;
}
