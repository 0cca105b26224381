/** What a small workflow, its promises and a send compute, each as a ratio to its rows by hand in the same run: for CI. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { inTurns, report, type Cost } from "./figures.ts";
import { writeByHand, type RowsByHand } from "./rows-by-hand.ts";
import { sendRows } from "./send-rows.ts";
import { serviceWorld } from "./service-world.ts";
import { workflowRows } from "./workflow-rows.ts";
import { runWorkflows, withEffects, withPromises, type BenchedWorkflow } from "./workflows.ts";

/** The ratios last written down: npm runs scripts at the root of the project. */
const WRITTEN_DOWN = "test/bench/cpu-figures.json";
/** So much more is said. */
const WORSE = 1.1;
const BOUNDS = { rounds: 6, seconds: 30 };
const ROWS = { total: 2_000, group: 64 };
const WORKFLOWS = { total: 1_000, atOnce: 200 };
const SENDS = 100;

type Name = "workflow" | "promises" | "send";

/** What is measured, beside which rows. */
interface Measure {
  readonly name: Name;
  readonly ours: (path: string) => Promise<Cost>;
  readonly byHand: RowsByHand;
}

/** The ratio of the least of both sides: what else the machine does only adds. */
async function ratioOf({ name, ours, byHand }: Measure, folder: string): Promise<number> {
  let files = 0;
  const path = (): string => join(folder, `${name}-${(files += 1)}.db`);
  const rounds = await inTurns([() => writeByHand(path(), byHand, ROWS), () => ours(path())], BOUNDS);
  const [rows = NaN, least = NaN] = rounds.map((found) => Math.min(...found.map(({ cpuMs }) => cpuMs)));
  if (process.env["ROUNDS"]) console.log(JSON.stringify(rounds.map((f) => f.map(({ cpuMs }) => Number(cpuMs.toFixed(3))))));
  report({ name, "CPU ms each": least, "of its rows by hand": rows, rounds: rounds[0]?.length });
  return least / rows;
}

const workflows = (name: Name, benched: BenchedWorkflow): Measure => ({
  name,
  ours: async (path) => runWorkflows(await sqliteStorage(path), benched, WORKFLOWS),
  byHand: workflowRows,
});

/** With `isWriting` the ratios are those written down from now on. */
export async function benchCpu({ isWriting }: { readonly isWriting: boolean }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const { complete, close } = await serviceWorld({ slotMs: 100, finalizedAfter: 0, pollMs: 500 });
  const ratios: Record<string, number> = {};
  try {
    const measures: readonly Measure[] = [
      workflows("workflow", withEffects),
      workflows("promises", withPromises),
      { name: "send", ours: () => complete("send", SENDS), byHand: sendRows },
    ];
    for (const measure of measures) {
      ratios[measure.name] = Number((await ratioOf(measure, folder)).toFixed(1));
      compare(measure.name, ratios[measure.name] ?? NaN);
    }
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
  if (isWriting) writeFileSync(WRITTEN_DOWN, `${JSON.stringify(ratios, null, 2)}\n`);
}

function compare(name: Name, ratio: number): void {
  const before = (JSON.parse(readFileSync(WRITTEN_DOWN, "utf8")) as Record<Name, number>)[name];
  console.log(`${name} ${ratio.toFixed(1)} times its rows (written down: ${before.toFixed(1)})`);
  if (ratio <= before * WORSE) return;
  console.log(`${name} IS A TENTH WORSE than written down: look for what it computes more, or run again.`);
}
