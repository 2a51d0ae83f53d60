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

function fail(cause, hint) {
  console.error(`error: ${cause}`);
  console.error(`hint: ${hint}`);
  process.exit(1);
}

// The version that a program says, or nothing where it does not run.
function versionOf(program) {
  const said = spawnSync(program, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).stdout || "";
  const [name, version] = said.split("\n")[0].split(" ");
  return name === path.basename(program) ? version : undefined;
}

function isOlder(one, other) {
  const [[a, early], [b, late]] = [one, other].map((text) => [text.split("-")[0].split(".").map(Number), text.includes("-")]);
  const place = [0, 1, 2].find((at) => a[at] !== b[at]);
  if (place !== undefined) return a[place] < b[place];
  return early && late ? one < other : early && !late;
}

// Both programs are complete and have run before either takes its place, and what was there comes back when one of them cannot.
function installed(from) {
  const to = path.join(os.homedir(), ".local", "bin");
  fs.mkdirSync(to, { recursive: true });
  const wanted = require("./package.json").version;
  const before = versionOf(path.join(to, "checkrein"));
  if (before && isOlder(wanted, before)) {
    fail(`version ${wanted} of this package is older than ${before} in ${to}`, `\`npx checkrein@latest\` brings the newest; ${path.join(to, "checkrein")} is the one in use`);
  }
  const names = ["checkrein-hook", "checkrein"];
  const staged = fs.mkdtempSync(path.join(to, ".checkrein."));
  const replaced = [];
  try {
    for (const name of names) {
      const fresh = path.join(staged, name);
      fs.copyFileSync(path.join(from, name), fresh);
      fs.chmodSync(fresh, 0o755);
      if (versionOf(fresh) !== wanted) throw new Error(`${name} of this package is not version ${wanted}, or does not run here`);
      if (fs.existsSync(path.join(to, name))) fs.copyFileSync(path.join(to, name), path.join(staged, `${name}.before`));
    }
    for (const name of names) {
      replaced.push(name);
      fs.renameSync(path.join(staged, name), path.join(to, name));
    }
  } catch (error) {
    for (const name of replaced) {
      const kept = path.join(staged, `${name}.before`);
      if (fs.existsSync(kept)) fs.renameSync(kept, path.join(to, name));
      else fs.rmSync(path.join(to, name), { force: true });
    }
    fs.rmSync(staged, { recursive: true, force: true });
    fail(error.message, `the programs in ${to} are as they were before`);
  }
  fs.rmSync(staged, { recursive: true, force: true });
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
