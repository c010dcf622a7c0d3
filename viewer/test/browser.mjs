// Opens a report of every verb in Debian's Chromium, without a screen, and uses it as a reader would:
//
//     node test/browser.mjs PROGRAM [FOLDER]      pictures and pages are left in FOLDER, default ../out/browser
//
// Checked: no error on the console, no request but for the page itself, the animation draws and moves, scrub bar, keys,
// plots and address share one moment, names are text, the size and the opening time of a long run.

import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { evil, makeReports } from "./reports.mjs";

const here = dirname(fileURLToPath(import.meta.url)), root = resolve(here, "../..");
const program = resolve(process.argv[2] ?? join(root, "build/release/cli/kinegraph"));
const out = resolve(process.argv[3] ?? join(root, "out/browser"));
const browserProgram = process.env.CHROMIUM ?? "/usr/bin/chromium";

const largest = 5e6, slowest = 2000; // bytes, ms: of a run of 60 s, 1 kHz, 20 channels

/** What the canvas shows, as a short text: equal pictures have equal texts. Blank ones are "". */
function picture(page) {
  return page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const canvas = document.querySelector(".stage canvas");
    const copy = document.createElement("canvas");
    copy.width = 160;
    copy.height = 120;
    const paint = copy.getContext("2d", { willReadFrequently: true });
    paint.drawImage(canvas, 0, 0, copy.width, copy.height);
    const pixels = paint.getImageData(0, 0, copy.width, copy.height).data;
    const first = pixels.slice(0, 4).join();
    let hash = 0, drawn = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels.slice(i, i + 4).join() !== first) ++drawn;
      for (let k = 0; k < 4; ++k) hash = (hash * 31 + pixels[i + k]) | 0;
    }
    return drawn < 50 ? "" : `${drawn} ${hash}`;
  });
}

const moment = (page) => page.evaluate(() => window.kinegraph.clock.t);
const cursor = (page) => page.evaluate(() => window.kinegraph.plots[0]?.cursor() ?? null);

async function open(browser, file, colorScheme, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
  context.setDefaultTimeout(120000); // for machines that are busy; the long run has a limit of its own
  const page = await context.newPage(), faults = [], address = pathToFileURL(file).href;
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== address && !url.startsWith("data:") && !url.startsWith("blob:")) faults.push(`request: ${url}`);
  });
  const begin = performance.now();
  await page.goto(address + hash);
  await page.waitForFunction(() => window.kinegraph);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, context, faults, opened: performance.now() - begin };
}

/** Scrub bar, keys, plots, play and address move one and the same moment. */
async function checkMoving(page, report) {
  const { from, to } = await page.evaluate(() => ({ from: window.kinegraph.clock.from, to: window.kinegraph.clock.to }));
  const near = (a, b, share) => assert.ok(Math.abs(a - b) <= share * (to - from), `${report.name}: ${a} is not ${b}`);
  const start = await picture(page);

  await page.locator(".transport .scrub").evaluate((bar) => {
    bar.value = "6300";
    bar.dispatchEvent(new Event("input", { bubbles: true }));
  });
  near(await moment(page), from + 0.63 * (to - from), 0.001);
  near(await cursor(page), await moment(page), 0.01);
  const scrubbed = await picture(page);
  assert.notEqual(scrubbed, start, `${report.name}: scrubbing does not move the animation`);

  const plot = page.locator(".plot .u-over").first(), box = await plot.boundingBox();
  assert.ok(box, `${report.name}: no plot`);
  await page.mouse.move(box.x + 0.19 * box.width, box.y + 0.5 * box.height);
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.5 * box.height);
  near(await moment(page), from + 0.2 * (to - from), 0.03);
  const bar = Number(await page.locator(".transport .scrub").inputValue());
  near(from + (bar / 10000) * (to - from), await moment(page), 0.001);
  const pointed = await picture(page);
  assert.notEqual(pointed, scrubbed, `${report.name}: pointing at a plot does not move the animation`);

  await page.mouse.click(box.x + 0.25 * box.width, box.y + 0.5 * box.height);
  assert.match(await page.evaluate(() => location.hash), /^#t=/, `${report.name}: no moment in the address`);
  await page.mouse.move(5, 5);
  const before = await moment(page);
  await page.keyboard.press("ArrowRight");
  assert.ok((await moment(page)) > before, `${report.name}: the right arrow does not go on`);
  await page.keyboard.press("Home");
  near(await moment(page), from, 1e-9);
  await page.locator(".transport .play").click();
  await page.waitForFunction((t) => window.kinegraph.clock.t > t, from);
  await page.locator(".transport .play").click();
}

async function checkSliders(page, report) {
  const before = await picture(page);
  const slider = page.locator(".slider input").first();
  await slider.evaluate((bar) => {
    bar.value = String(Number(bar.value) + 0.12 * (Number(bar.max) - Number(bar.min)));
    bar.dispatchEvent(new Event("input", { bubbles: true }));
  });
  assert.notEqual(await picture(page), before, `${report.name}: the slider does not move the machine`);
}

async function checkEscaped(page, report) {
  const found = await page.evaluate((text) => {
    const shown = [...document.querySelectorAll("main *")].some((e) => e.children.length === 0 && e.textContent.includes(text));
    return { shown, scripts: document.scripts.length };
  }, evil);
  assert.equal(found.scripts, 2, `${report.name}: a script of a model became part of the page`);
  assert.ok(found.shown, `${report.name}: the name is not shown as text`);
}

async function check(browser, report) {
  const { page, context, faults, opened } = await open(browser, report.file, "light");
  assert.notEqual(await picture(page), "", `${report.name}: the animation is blank`);
  assert.equal(await page.locator(".verb").textContent(), report.verb);
  await page.screenshot({ path: join(out, `${report.name}_light.png`) });
  if (report.moves) await checkMoving(page, report);
  if (report.timing) assert.equal(await page.locator(".timing .rail").count(), report.timing, `${report.name}: bars of contacts`);
  if (report.sliders) await checkSliders(page, report);
  if (report.evil) await checkEscaped(page, report);
  await page.screenshot({ path: join(out, `${report.name}_page.png`), fullPage: true });
  await context.close();
  const dark = await open(browser, report.file, "dark");
  await dark.page.screenshot({ path: join(out, `${report.name}_dark.png`) });
  assert.equal(await dark.page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await dark.page.locator(".theme").click();
  assert.equal(await dark.page.evaluate(() => document.documentElement.dataset.theme), "light");
  await dark.context.close();
  assert.deepEqual([...faults, ...dark.faults], [], report.name);
  if (report.long) {
    console.log(`  60 s, 1 kHz: ${(report.bytes / 1e6).toFixed(2)} MB, opens in ${Math.round(opened)} ms`);
    assert.ok(report.bytes <= largest, `${report.name}: ${report.bytes} bytes`);
    assert.ok(opened <= slowest, `${report.name}: opens in ${opened} ms`);
  }
  console.log(`ok ${report.name}  ${(report.bytes / 1e6).toFixed(2)} MB, ${Math.round(opened)} ms`);
}

/** A link to a moment, and a robot where there is no WebGL. */
async function checkLinks(browser, reports) {
  const planar = reports.find((r) => r.name === "simulate_planar"), robot = reports.find((r) => r.name === "simulate_robot");
  const linked = await open(browser, planar.file, "light", "#t=1.23");
  assert.ok(Math.abs((await moment(linked.page)) - 1.23) < 1e-9, "#t=1.23 is not followed");
  await linked.context.close();
  const plain = await chromium.launch({ executablePath: browserProgram, args: ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"] });
  const flat = await open(plain, robot.file, "light");
  assert.equal(await flat.page.locator(".stage").getAttribute("data-kind"), "flat");
  assert.notEqual(await picture(flat.page), "", "nothing is drawn without WebGL");
  await flat.page.screenshot({ path: join(out, "flat.png") });
  await plain.close();
  console.log("ok links and a browser without WebGL");
}

if (!existsSync(program)) throw new Error(`${program} is not there: make build, or give the program's path`);
console.log("making reports …");
const reports = makeReports(program, join(root, "models"), out);
const browser = await chromium.launch({ executablePath: browserProgram, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
const failed = [];
const only = process.env.ONLY?.split(",");
for (const report of reports) {
  if (only && !only.includes(report.name)) continue;
  try {
    await check(browser, report);
  } catch (fault) {
    failed.push(report.name);
    console.error(`FAILED ${report.name}: ${fault.message}`);
  }
}
try {
  if (!only) await checkLinks(browser, reports);
} catch (fault) {
  failed.push("links");
  console.error(`FAILED links: ${fault.message}`);
}
await browser.close();
console.log(failed.length ? `${failed.length} of ${reports.length} reports failed: ${failed.join(", ")}` : `${reports.length} reports: all as they should be; pictures in ${out}`);
process.exit(failed.length ? 1 : 0);
