import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** SHA-256 of all that the page is made of, so that a test without Node can tell whether dist/report.html is of it
 *  (check_template.py computes the same): for each file its name, a zero, its bytes, a zero. */
function sourcesHash(): string {
  const files = ["index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"];
  for (const name of readdirSync("src")) files.push(`src/${name}`);
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(file).update("\0").update(readFileSync(join(".", file))).update("\0");
  return hash.digest("hex");
}

/** Puts scripts and styles into the page: one file, nothing to fetch. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (!page || page.type !== "asset") throw new Error("no index.html in the bundle");
      let style = "", script = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += part.source;
        if (name !== "index.html") delete bundle[name];
      }
      const html = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/, "")
        .replace(/<link rel="(stylesheet|modulepreload)"[^>]*>\s*/g, "")
        .replace(/\$SOURCES\$/, sourcesHash());
      const head = `<style>${style.replace(/<\/style/gi, "<\\/style")}</style>\n</head>`;
      // A raw string literal of C++ holds the page: its end must not occur in it.
      const code = script.replace(/<\/script/gi, "<\\/script").replace(/\)kinegraph"/g, ') kinegraph"');
      page.source = html
        .replace("</head>", () => head)
        .replace("</body>", () => `<script type="module">${code.trim()}</script>\n</body>`);
      page.fileName = "report.html";
    },
  };
}

export default defineConfig({
  build: { target: "es2020", assetsInlineLimit: 1e8, cssCodeSplit: false, modulePreload: false, chunkSizeWarningLimit: 2000 },
  plugins: [oneFile()],
});
