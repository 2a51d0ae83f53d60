#!/usr/bin/env node
// Starts the program for this machine. `init` first copies both programs to a place that stays: a client starts the hook at every
// call, long after the folder of a package is gone.
"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

function programsOfThisMachine() {
  const name = `checkrein-${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin");
  } catch {
    console.error(`error: there is no checkrein for ${process.platform} on ${process.arch} here`);
    console.error("hint: it is made for linux and darwin, on x64 and arm64; `npm install` without `--omit=optional` brings it");
    process.exit(1);
  }
}

function installed(from) {
  const to = path.join(os.homedir(), ".local", "bin");
  fs.mkdirSync(to, { recursive: true });
  for (const name of ["checkrein-hook", "checkrein"]) {
    const fresh = path.join(to, `.${name}.${process.pid}`);
    // A running hook must never see half a program: copy beside, then rename.
    fs.copyFileSync(path.join(from, name), fresh);
    fs.chmodSync(fresh, 0o755);
    fs.renameSync(fresh, path.join(to, name));
  }
  console.log(`installed checkrein and checkrein-hook into ${to}`);
  return to;
}

const words = process.argv.slice(2);
const folder = programsOfThisMachine();
const looksOnly = words.some((word) => ["--help", "-h", "--dry-run"].includes(word));
const place = words[0] === "init" && !looksOnly ? installed(folder) : folder;
const ended = spawnSync(path.join(place, "checkrein"), words, { stdio: "inherit" });
if (ended.error) {
  console.error(`error: ${ended.error.message}`);
  process.exit(1);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status ?? 1);
