/** The projects that the quickstarts walk through: those of `paystate init`, and the programs of pages that belong into them. */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { blockOf, ROOT, textOf } from "./page.ts";

/** Each quickstart, and the kind of project that it continues. */
export const QUICKSTARTS = {
  engine: "src/guide/durable-chart.md",
  payments: "src/guide/take-a-payment.md",
} as const;

export type ProjectKind = keyof typeof QUICKSTARTS;

/** A file of the project as `init` writes it. */
export function templateOf(kind: string, file: string): string {
  return textOf(`examples/init/templates/${kind}/${file}`);
}

/** Writes the sources of a project into a folder of the repository, without its package.json. */
export function writeProject(kind: ProjectKind, folder: string): void {
  const place = join(ROOT, "examples/init/templates", kind);
  for (const file of readdirSync(place).filter((name) => name.endsWith(".ts"))) {
    cpSync(join(place, file), join(folder, file));
  }
}

/** A text with one part replaced. Throws where the part is not there. */
function replaced(text: string, part: string | RegExp, by: string): string {
  const made = text.replace(part, () => by);
  if (made === text) throw new Error(`expected ${String(part)} in the project of init`);
  return made;
}

/** The eight lines of the first page, to run beside `order.ts`. */
export const firstProgram = (): string => blockOf("README.md", "ts first");

/** `main.ts` of the engine's project, which cancels the order once it waits. */
export function cancellingMain(): string {
  const wait = 'await engine.waitFor(orders, id, { state: "waiting" });';
  const cancel = blockOf(QUICKSTARTS.engine, "ts cancel");
  return replaced(templateOf("engine", "main.ts"), "engine.run();\n", `engine.run();\n${wait}\n${cancel}`);
}

/** `order.ts` of the engine's project under its second version. */
export function secondVersion(): string {
  const changed = replaced(
    templateOf("engine", "order.ts"),
    /export const orders = [^;]*;/,
    blockOf(QUICKSTARTS.engine, "ts version"),
  );
  const typed = replaced(changed, "import { currentRun,", "import { type PreviousInstance, currentRun,");
  return replaced(
    typed,
    "  readonly card: string;\n",
    "  readonly card: string;\n  readonly gift?: boolean;\n",
  );
}
