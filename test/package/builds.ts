/** What a build leaves behind, also where an earlier one has left something. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cloneInto } from "./clone.ts";
import { readJson, root } from "./project.ts";

const RENDERER = "openapi-explorer.min.js";

/** Builds in a folder, and lists what is in its `dist` then. */
function built(folder: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "build"], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return readdirSync(join(folder, "dist"), { recursive: true, encoding: "utf8" }).toSorted();
}

/** Adds the test to those of the package. */
export function testBuilds(): void {
  test("Q17: a second build ships what the first one did: the page of the API, and nothing that was left", () => {
    const folder = mkdtempSync(join(tmpdir(), "paystate-builds-"));
    try {
      cloneInto(folder);
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      // Declarations are nine tenths of a build, and written beside the rest.
      const manifest = readJson(join(folder, "package.json")) as { readonly tsup: object };
      const quick = { ...manifest, tsup: { ...manifest.tsup, dts: false } };
      writeFileSync(join(folder, "package.json"), JSON.stringify(quick));
      const first = built(folder);
      assert.ok(first.includes(join("renderer", RENDERER)));
      mkdirSync(join(folder, "dist/left/behind"), { recursive: true });
      writeFileSync(join(folder, "dist/left/behind.js"), "");
      assert.deepEqual(built(folder), first);
      assert.deepEqual(
        readFileSync(join(folder, "dist/renderer", RENDERER)),
        readFileSync(join(root, "src/http/docs/renderer", RENDERER)),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
