// Starts the extension in a folder, does what a user would, and prints what became of it.
"use strict";

const vscode = require("vscode");
const extension = require(process.argv[2]);

async function main() {
  const { asked } = vscode;
  const context = { subscriptions: [] };
  await extension.activate(context);
  const calls = await asked.views["checkrein.calls"].getChildren();
  const saved = await asked.views["checkrein.snapshots"].getChildren();
  const act = (name, ...rest) => asked.commands[`checkrein.${name}`](...rest);
  if (calls[0] && calls[0].id) await act("show", calls[0]);
  if (saved[0] && saved[0].number) await act("difference", saved[0]);
  act("undo");
  if (saved[0] && saved[0].number) act("restore", saved[0]);
  const stopped = calls.find((row) => row.contextValue === "call.stopped");
  if (stopped) act("allow", stopped);
  let refused = "";
  try {
    act("allow", { id: "s:1; touch made-by-a-name" });
  } catch (error) {
    refused = error.message;
  }
  // An address that comes from elsewhere names a text and no command.
  for (const path of ["/halt/--all", "/constructor/x", "/call/../../halt", "/call/--all"]) {
    await vscode.workspace.openTextDocument({ path });
  }
  const row = ({ label, description, contextValue, tooltip }) => ({ label, description, contextValue, tooltip });
  console.log(
    JSON.stringify({
      calls: calls.map(row),
      saved: saved.map(row),
      terminals: asked.terminals.map((one) => one.text),
      documents: asked.documents,
      line: asked.line,
      commands: Object.keys(asked.commands),
      refused,
    }),
  );
  for (const one of context.subscriptions) one.dispose && one.dispose();
}

main();
