// Stands in for the module `vscode`, as far as the extension uses it, and keeps what was asked of it.
"use strict";

const asked = { commands: {}, views: {}, terminals: [], documents: [] };
let provider;

class TreeItem {
  constructor(label) {
    this.label = label;
  }
}
class EventEmitter {
  constructor() {
    this.event = () => {};
  }
  fire() {}
}

module.exports = {
  asked,
  TreeItem,
  EventEmitter,
  ThemeIcon: class {
    constructor(id) {
      this.id = id;
    }
  },
  ThemeColor: class {},
  StatusBarAlignment: { Left: 1 },
  Uri: { from: (parts) => parts },
  languages: { setTextDocumentLanguage: async () => {} },
  commands: {
    registerCommand(name, act) {
      asked.commands[name] = act;
      return { dispose() {} };
    },
  },
  window: {
    state: { focused: false },
    activeTextEditor: undefined,
    createStatusBarItem() {
      asked.line = { hide: () => (asked.line.shown = false), show: () => (asked.line.shown = true) };
      return asked.line;
    },
    createTreeView(name, { treeDataProvider }) {
      asked.views[name] = treeDataProvider;
      return { visible: true, dispose() {} };
    },
    createTerminal: (options) => ({ show() {}, sendText: (text) => asked.terminals.push({ ...options, text }) }),
    showTextDocument: async () => {},
  },
  workspace: {
    workspaceFolders: [{ uri: { fsPath: process.cwd() } }],
    getConfiguration: () => ({ get: (name, usual) => (name === "path" ? process.env.PROGRAM : usual) }),
    getWorkspaceFolder: () => undefined,
    registerTextDocumentContentProvider(_, given) {
      provider = given;
      return { dispose() {} };
    },
    async openTextDocument(uri) {
      asked.documents.push(await provider.provideTextDocumentContent(uri));
      return {};
    },
  },
};
