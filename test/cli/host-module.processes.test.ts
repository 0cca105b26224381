/** Modules of the host's in TypeScript, as the command opens them: by tsx, by Node's own type stripping, or not at all. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, expect, test as vitestTest } from "vitest";
import { leaveNothing, newDataFolder, runCommand, withoutPackage } from "./command.ts";

afterAll(leaveNothing);

/** Whether Node strips types itself, unless told not to. */
const STRIPS = process.allowedNodeEnvironmentFlags.has("--no-experimental-strip-types");
/** What only a compiler takes, not who merely leaves out types. */
const ENUM = `enum Lamp { Off = "off" }\n`;

const lightIn = (before: string, off: string): string => `
  import { createMachine } from "xstate";
  ${before}
  interface Named { readonly id: string }
  const named: Named = { id: "light" };
  export const light = createMachine({
    id: named.id, initial: ${off}, states: { off: { on: { SWITCH: "on" } }, on: {} },
  });`;

/** Writes a module into a package whose package.json says that its type is this; its path. */
const test = vitestTest.extend("moduleIn", ({}) => async (name: string, text: string, type = "module") => {
  const folder = await newDataFolder();
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
});

test.concurrent.for([
  { name: "charts.ts", type: "module" },
  { name: "charts.ts", type: "commonjs" },
  { name: "charts.mts", type: "commonjs" },
  { name: "charts.cts", type: "module" },
  { name: "charts.tsx", type: "module" },
])(
  "U6: machines draws the charts of $name in a package of type $type, with all of TypeScript",
  async ({ name, type }, { moduleIn }) => {
    const charts = await moduleIn(name, lightIn(ENUM, "Lamp.Off"), type);
    const { code, stdout, stderr } = await runCommand(["machines", charts, charts]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("off --> on: SWITCH");
  },
);

test.concurrent("U6: inspect and --service take TypeScript too", async ({ moduleIn }) => {
  const charts = await moduleIn("charts.ts", lightIn(ENUM, "Lamp.Off"));
  const inspect = await runCommand(["inspect", "payments.db", "--charts", charts]);
  expect(inspect.stderr).toContain(`${charts} exports no workflow: expected what workflow() returns`);
  const own = await moduleIn(
    "service.ts",
    `${ENUM} const nothing: readonly Lamp[] = [];
    export const service = { reconcile: async () => ({}), operator: { pauses: async () => nothing, attention: async () => nothing } };`,
  );
  const attention = await runCommand(["operator", "attention", "--service", own, "--json"]);
  expect(attention).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
});

test.concurrent("U6: a module in TypeScript that fails is named with the reason", async ({ moduleIn }) => {
  const charts = await moduleIn("charts.ts", `${ENUM} throw new Error(\`no \${Lamp.Off} here\`);`);
  expect(await runCommand(["machines", charts])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `paystate: ${charts} cannot be loaded: no off here\n`,
  });
});

test.concurrent("U6: without tsx, a Node that strips no types says what to install", async ({ moduleIn }) => {
  const charts = await moduleIn("charts.ts", lightIn("", `"off"`));
  const { NODE_OPTIONS } = withoutPackage("tsx");
  const off = STRIPS ? " --no-experimental-strip-types" : "";
  const refused = await runCommand(["machines", charts], { NODE_OPTIONS: `${NODE_OPTIONS}${off}` });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr.split("\n")[0]).toBe(
    `paystate: ${charts} is TypeScript, which this Node runs with tsx: \`npm install --save-dev tsx\``,
  );
});

test.concurrent(
  "U6: without tsx, a Node that strips types runs the module by itself",
  async ({ moduleIn }) => {
    const charts = await moduleIn("charts.ts", lightIn("", `"off"`));
    const { code, stdout } = await runCommand(["machines", charts], withoutPackage("tsx"));
    expect([code, stdout.includes("off --> on: SWITCH")]).toEqual(STRIPS ? [0, true] : [1, false]);
  },
);
