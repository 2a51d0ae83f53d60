// Makes an app of the console where a browser wants a worker for that. It keeps nothing: each page comes from the server, and where that
// cannot be reached, so it says.
"use strict";
self.addEventListener("install", function () { self.skipWaiting(); });
self.addEventListener("activate", function (event) { event.waitUntil(self.clients.claim()); });
self.addEventListener("fetch", function (event) {
  if (event.request.mode !== "navigate") { return; }
  const away = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">" +
    "<title>checkrein</title><h1>The server cannot be reached</h1><p>Calls that wait are refused when their time is over. " +
    "<a href=\"/approvals\">Try again</a></p></html>";
  event.respondWith(fetch(event.request).catch(function () {
    return new Response(away, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
  }));
});
