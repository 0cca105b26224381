/** The client as browsers and workers get it. */
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "tsup";
import { expect, test } from "vitest";
import { ROOT } from "../readme/page.ts";

/** Of the minified bundle, p-retry included; whoever loads a page pays for it. */
const MAX_BYTES = 17_000;

test("the bundle for browsers is small, and has nothing of Node, of the schemas or of the service", async () => {
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "paystate-client-"));
  try {
    await build({
      entry: { client: join(ROOT, "src/client/index.ts") },
      outDir: folder,
      config: false,
      format: "esm",
      platform: "browser",
      noExternal: [/./],
      minify: true,
      splitting: false,
      silent: true,
    });
    const bundle = await readFile(join(folder, "client.js"), "utf8");
    expect(bundle.match(/(?:\bfrom|\bimport|\brequire\()\s*["'][^"']+["']/g)).toBeNull();
    expect(bundle).not.toMatch(/Zod|Buffer|process\.env/);
    expect(bundle.length).toBeLessThan(MAX_BYTES);
  } finally {
    await rm(folder, { recursive: true });
  }
});
