// Shows what `checkrein` recorded of this folder. It reads by `--json` alone and decides nothing: what changes something is typed into a
// terminal, where the program shows it and asks, as for everyone else.
"use strict";

const { execFile } = require("node:child_process");
const vscode = require("vscode");

// How often the records are looked at while a view is open or the line at the bottom is shown, in milliseconds.
const LOOK = 3000;
// The longest answer of the program that is read, in bytes.
const LARGEST = 64 * 1024 * 1024;
// The longest text of a call in a list, in characters.
const LONGEST = 120;

// What records are called. Nothing else is handed to the program or to a shell, and no name is taken for an option.
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

const STOPPED = ["escalate", "block", "halt"];
const ICONS = { ok: "pass", nudge: "info", escalate: "question", block: "error", halt: "stop-circle" };
const WORDS = { ok: "ok", nudge: "hint", escalate: "asked", block: "stopped", halt: "halted" };

function program() {
  return vscode.workspace.getConfiguration("checkrein").get("path", "checkrein");
}

function folder() {
  const folders = vscode.workspace.workspaceFolders || [];
  const open = vscode.window.activeTextEditor;
  const around = open && vscode.workspace.getWorkspaceFolder(open.document.uri);
  return (around || folders[0] || { uri: { fsPath: undefined } }).uri.fsPath;
}

// What the program prints. A status other than 0 is an answer too, so only what could not be started, or said nothing, is an error.
function ask(words) {
  return new Promise((resolve, reject) => {
    execFile(program(), words, { cwd: folder(), maxBuffer: LARGEST }, (error, out, said) => {
      if (error && !out) reject(new Error(said.trim() || error.message));
      else resolve(out);
    });
  });
}

function lines(text) {
  return text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
}

// The calls of these records, newest first: what was reviewed, with what became of it.
function calls(records) {
  const found = [];
  const last = new Map();
  for (const { session, seq, at, body } of records) {
    const key = `${session}:${body.action_id}`;
    if (body.type === "review") {
      found.push({ ...body, at, id: `${session}:${seq}` });
      last.set(key, found.at(-1));
    } else if (body.type === "outcome" && last.has(key)) {
      last.get(key).failed = body.failed;
    }
  }
  return found.reverse().sort((one, other) => other.at - one.at);
}

// What a call is about, on one line.
function label(call) {
  const input = call.input || {};
  const about = input.command || input.file_path || input.path || input.url || input.pattern || "";
  const text = `${call.tool === "Bash" ? "" : `${call.tool} `}${about}`.trim() || call.tool;
  const line = text.replace(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}...` : line;
}

function became(call) {
  const parts = [call.rewrite ? "rewritten" : WORDS[call.verdict] || call.verdict];
  if (call.snapshot) parts.push("saved");
  if (call.failed) parts.push("failed");
  return parts.join(", ");
}

function ago(at) {
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

// A list that is asked for anew when it is looked at.
class List {
  constructor(rows) {
    this.rows = rows;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }
  refresh() {
    this.changed.fire(undefined);
  }
  getTreeItem(item) {
    return item;
  }
  async getChildren(item) {
    if (item) return [];
    try {
      return await this.rows();
    } catch (error) {
      const row = new vscode.TreeItem(`checkrein: ${error.message.split("\n")[0]}`);
      row.iconPath = new vscode.ThemeIcon("warning");
      row.tooltip = error.message;
      return [row];
    }
  }
}

async function readCalls() {
  const number = vscode.workspace.getConfiguration("checkrein").get("records", 200);
  return calls(lines(await ask(["log", "--here", "--json", "-n", String(number)])));
}

async function callRows() {
  return (await readCalls()).map((call) => {
    const row = new vscode.TreeItem(label(call));
    row.id = call.id;
    row.description = `${became(call)}, ${ago(call.at)} ago`;
    row.tooltip = [call.input && call.input.command, call.reason].filter(Boolean).join("\n\n");
    row.iconPath = new vscode.ThemeIcon(ICONS[call.verdict] || "circle-outline");
    row.contextValue = STOPPED.includes(call.verdict) ? "call.stopped" : "call";
    row.command = { command: "checkrein.show", title: "Show the Call", arguments: [row] };
    return row;
  });
}

async function snapshotRows() {
  const all = lines(await ask(["snapshot", "list", "--json"]));
  return all.sort((one, other) => other.id - one.id).map((one) => {
    const row = new vscode.TreeItem(`${one.id}  ${one.reason || one.occasion}`);
    row.id = `snapshot ${one.id}`;
    row.number = String(one.id);
    row.description = `${ago(Date.parse(one.at))} ago`;
    row.iconPath = new vscode.ThemeIcon("archive");
    row.contextValue = "snapshot";
    row.command = { command: "checkrein.difference", title: "Show What Was Saved", arguments: [row] };
    return row;
  });
}

// The texts that an editor shows. An address says which one and nothing else: it may come from elsewhere, and must not name a command.
const TEXTS = {
  call: (id) => ["show", id, "--verbose"],
  snapshot: (number) => ["snapshot", "diff", number, "--patch"],
};

async function text(uri) {
  const [, kind, name] = /^\/(\w+)\/(.+)$/.exec(uri.path) || [];
  if (!Object.hasOwn(TEXTS, kind || "") || !NAME.test(name)) return `not a text of checkrein: ${uri.path}`;
  return ask(TEXTS[kind](name)).catch((error) => error.message);
}

async function read(kind, name, language) {
  const uri = vscode.Uri.from({ scheme: "checkrein", path: `/${kind}/${name}` });
  const document = await vscode.workspace.openTextDocument(uri);
  if (language) await vscode.languages.setTextDocumentLanguage(document, language);
  await vscode.window.showTextDocument(document, { preview: true });
}

// Has the program ask in a terminal, about a record where one is named.
function inTerminal(words, ...names) {
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw new Error(`not a name of a record: ${wrong}`);
  const terminal = vscode.window.createTerminal({ name: `checkrein ${words[0]}`, cwd: folder() });
  terminal.show();
  const path = program();
  const quoted = /^[A-Za-z0-9._/-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`;
  terminal.sendText([quoted, ...words, ...names].join(" "));
}

// The line at the bottom: the newest call, and whether it was stopped.
async function newest(line) {
  try {
    const [call] = await readCalls();
    if (!call) return line.hide();
    line.text = `$(shield) ${became(call)}`;
    line.tooltip = `${label(call)}\n${call.reason || ""}`.trim();
    line.backgroundColor = STOPPED.includes(call.verdict)
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined;
    line.show();
  } catch {
    // The list says why.
    line.hide();
  }
}

function activate(context) {
  const list = new List(callRows);
  const saved = new List(snapshotRows);
  const line = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  line.command = "checkrein.calls.focus";
  const view = vscode.window.createTreeView("checkrein.calls", { treeDataProvider: list });
  const savedView = vscode.window.createTreeView("checkrein.snapshots", { treeDataProvider: saved });
  const look = () => {
    if (view.visible) list.refresh();
    if (savedView.visible) saved.refresh();
    return newest(line);
  };
  const commands = {
    refresh: look,
    show: (row) => read("call", row.id),
    difference: (row) => read("snapshot", row.number, "diff"),
    undo: () => inTerminal(["undo"]),
    allow: (row) => inTerminal(["allow"], row.id),
    restore: (row) => inTerminal(["snapshot", "restore"], row.number),
    doctor: () => inTerminal(["doctor"]),
    watch: () => inTerminal(["watch"]),
    halt: () => inTerminal(["halt", "--all"]),
  };
  const timer = setInterval(() => vscode.window.state.focused && look(), LOOK);
  context.subscriptions.push(
    line,
    view,
    savedView,
    vscode.workspace.registerTextDocumentContentProvider("checkrein", { provideTextDocumentContent: text }),
    ...Object.entries(commands).map(([name, act]) => vscode.commands.registerCommand(`checkrein.${name}`, act)),
    { dispose: () => clearInterval(timer) },
  );
  return look();
}

module.exports = { activate, deactivate() {} };
