/** The recipe for NestJS, made as its own projects are: CommonJS, legacy decorators, and tsc. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { blockOf } from "../readme/page.ts";
import { startProgram } from "../readme/programs.ts";
import { project, root, run } from "./project.ts";

/** What `nest new` writes, but for what changes only how an editor helps. */
const NEST_SETTINGS = {
  module: "nodenext",
  moduleResolution: "nodenext",
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  declaration: true,
  removeComments: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  allowSyntheticDefaultImports: true,
  target: "ES2023",
  outDir: "./dist",
  incremental: true,
  skipLibCheck: true,
  strictNullChecks: true,
  strictBindCallApply: false,
};

function prepare(): void {
  for (const name of ["@nestjs", "reflect-metadata", "rxjs"]) {
    symlinkSync(join(root, "test/foreign/node_modules", name), join(project, "node_modules", name));
  }
  const folder = join(project, "nest");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: NEST_SETTINGS }));
  writeFileSync(join(folder, "main.ts"), blockOf("examples/deploy/README.md", "ts nest"));
}

/** Adds the tests to those of the package. */
export function testNest(): void {
  before(prepare);

  test(
    "U9: a Nest app in CommonJS keeps its parcels over a stop, and shows them",
    { timeout: 120_000 },
    async () => {
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      assert.equal(run(process.execPath, tsc, "-p", join(project, "nest")), "");
      const start = async () => {
        const env = { PORT: "0", DATABASE: join(project, "nest/parcels.db") };
        const app = startProgram(process.execPath, ["nest/dist/main.js"], { cwd: project, env });
        const [, url = ""] = await app.says(/listening on (\S+),/);
        return { app, url };
      };
      const first = await start();
      const packed = await fetch(`${first.url}/parcels/p-1`, { method: "POST" });
      assert.deepEqual([packed.status, await packed.json()], [201, { id: "p-1", isNew: true }]);
      assert.equal((await fetch(`${first.url}/parcels/none`)).status, 404);
      assert.equal(await first.app.stop(), "SIGTERM", first.app.output());

      const second = await start();
      const shown = await (await fetch(`${second.url}/parcels/p-1`)).json();
      assert.deepEqual(shown, { id: "p-1", state: "packing" });
      const page = await fetch(`${second.url}/ops/_inspector/`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), /p-1/);
      await second.app.stop();
    },
  );
}
