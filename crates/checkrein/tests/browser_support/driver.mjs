// A browser that a test drives: one JSON object a line in, one a line out. `{"do": NAME, ...}` is answered by `{"ok": VALUE}` or `{"error": TEXT}`.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [packages, program, ...options] = process.argv.slice(2);
const require = createRequire(packages + "/");
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");

const PATIENCE = 20000;
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", ...options] });
let context;
let page;
let faults = [];

async function begin(asked) {
  if (context) { await context.close(); }
  const { width, height, theme, insecure } = asked;
  context = await browser.newContext({
    viewport: { width: width ?? 1280, height: height ?? 800 },
    colorScheme: theme ?? "light",
    ignoreHTTPSErrors: Boolean(insecure),
    // Pages carry a policy that lets in no script but ours; that of axe is let in by the test alone.
    bypassCSP: false,
  });
  context.setDefaultTimeout(PATIENCE);
  page = await context.newPage();
  faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (said) => { if (said.type() === "error") { faults.push(said.text()); } });
}

// Whoever looks at a pixel sees what is in the page and not hidden.
const place = ({ role, name, label, text, within, exact }) => {
  const all = within ? page.locator(within) : page;
  if (role) { return all.getByRole(role, { name, exact: Boolean(exact) }); }
  if (label) { return all.getByLabel(label, { exact: Boolean(exact) }); }
  return all.getByText(text, { exact: Boolean(exact) });
};

const acts = {
  begin,
  async go({ to }) { const answer = await page.goto(to); return { status: answer?.status(), at: page.url() }; },
  async at() { return page.url(); },
  async click(asked) { await place(asked).first().click(); },
  async fill(asked) { await place(asked).first().fill(asked.value); },
  async press({ key }) { await page.keyboard.press(key); },
  async type({ value }) { await page.keyboard.type(value); },
  async shown(asked) {
    const begin = Date.now();
    await place(asked).first().waitFor({ state: "visible", timeout: asked.patience ?? PATIENCE });
    return { at: Date.now(), waited: Date.now() - begin };
  },
  async gone(asked) { await place(asked).first().waitFor({ state: "hidden" }); },
  async count(asked) { return place(asked).count(); },
  async text() { return page.locator("body").innerText(); },
  async theme({ theme }) { await page.emulateMedia({ colorScheme: theme }); },
  async size({ width, height }) { await page.setViewportSize({ width, height: height ?? 800 }); },
  // What stands out beyond the right edge of the page.
  async overflow() {
    return page.evaluate(() => {
      const width = document.documentElement.clientWidth;
      const out = [...document.querySelectorAll("body *")].filter((one) => {
        if (one.closest(".skip, .heard, .diff")) { return false; }
        const box = one.getBoundingClientRect();
        return box.width > 0 && box.right > width + 1;
      });
      return { width, scrolled: document.documentElement.scrollWidth, out: out.slice(0, 5).map((one) => one.outerHTML.slice(0, 120)) };
    });
  },
  // The smallest side of what is pressed, in pixels.
  async targets() {
    return page.evaluate(() => [...document.querySelectorAll("button, input:not([type=hidden]), select, nav a")]
      .map((one) => ({ box: one.getBoundingClientRect(), text: one.outerHTML.slice(0, 100) }))
      .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 24).map(({ text }) => text));
  },
  async focused() {
    return page.evaluate(() => {
      const one = document.activeElement;
      const style = getComputedStyle(one);
      return { tag: one.tagName.toLowerCase(), name: one.getAttribute("name"), text: (one.textContent ?? "").trim().slice(0, 80),
        outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
    });
  },
  // What axe finds that is serious or critical, on the page as it is.
  async axe() {
    await page.evaluate(() => globalThis.axe !== undefined) || await addAxe();
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const grave = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    return { rules: found.passes.length, grave: grave.map((one) => ({ id: one.id, impact: one.impact, at: one.nodes.map((node) => node.target.join(" ")).slice(0, 5), why: one.nodes[0].failureSummary })) };
  },
  async evaluate({ script }) { return page.evaluate(script); },
  async picture({ to }) { await page.screenshot({ path: to }); },
  // What the browser has against installing the page, and the manifest as it reads it. The windows of tests are private ones.
  async app() {
    const session = await context.newCDPSession(page);
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    const { data, errors } = await session.send("Page.getAppManifest");
    const against = installabilityErrors.map((one) => one.errorId).filter((id) => id !== "in-incognito");
    return { errors: [...against, ...errors.map((one) => one.message)], manifest: JSON.parse(data) };
  },
  async cookies() { return context.cookies(); },
  // Faults of scripts and of what the page loads, each told once.
  async faults() { const told = faults; faults = []; return told; },
};

// The protocol of the browser puts it in, past the policy of the page.
async function addAxe() {
  const { readFileSync } = await import("node:fs");
  await page.evaluate(readFileSync(axe, "utf8") + "; undefined");
}

console.log(JSON.stringify({ ok: browser.version() }));
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    answer = { ok: (await acts[asked.do](asked)) ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  console.log(JSON.stringify(answer));
}
await browser.close();
