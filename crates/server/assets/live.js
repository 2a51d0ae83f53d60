// Keeps the part of a page that is called `live` as the server has it: after an event the page is asked for again, at once and then at most
// once a second, and not while something in that part has the focus or is selected.
"use strict";
(function () {
  // What makes an app of the console; it is not needed for anything else.
  if (navigator.serviceWorker) { navigator.serviceWorker.register("/service.js").catch(function () {}); }
  const live = document.getElementById("live");
  const state = document.getElementById("state");
  if (!live || !window.EventSource) { return; }
  const session = live.dataset.session;
  const pause = 1000;
  let waiting = false;
  let last = 0;
  const isInUse = function () {
    const selection = document.getSelection();
    const isSelected = selection && !selection.isCollapsed && live.contains(selection.anchorNode);
    return isSelected || (live.contains(document.activeElement) && document.activeElement !== live);
  };
  const refresh = function () {
    if (waiting) { return; }
    waiting = true;
    setTimeout(function () {
      waiting = false;
      last = Date.now();
      if (isInUse()) { refresh(); return; }
      fetch(location.href, { credentials: "same-origin" }).then(function (answer) {
        return answer.ok ? answer.text() : Promise.reject(new Error(String(answer.status)));
      }).then(function (text) {
        const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
        if (fresh && !isInUse()) { live.replaceChildren.apply(live, Array.from(fresh.childNodes)); }
      }).catch(function () { state.textContent = "the page could not be renewed"; });
    }, Math.max(0, last + pause - Date.now()));
  };
  const events = new EventSource("/v1/events" + (session ? "?session=" + encodeURIComponent(session) : ""));
  events.onopen = function () { state.textContent = "live"; };
  events.onerror = function () { state.textContent = "no connection, trying again"; };
  const names = (live.dataset.events || "").split(" ");
  names.forEach(function (name) { if (name) { events.addEventListener(name, refresh); } });
}());
