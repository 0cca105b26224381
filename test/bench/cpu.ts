/** What a small workflow, its promises and a send compute, each as a ratio to its rows by hand in the same run: for CI. */
// modules: private, webhooks
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { inTurns, report, type Cost } from "./figures.ts";
import { fileByHand, type RowsByHand } from "./rows-by-hand.ts";
import { serviceWorld } from "./service-world.ts";
import { benchedEngine, withEffects, withPromises, type BenchedWorkflow } from "./workflows.ts";

/** The ratios last written down: npm runs scripts at the root of the project. */
const WRITTEN_DOWN = "test/bench/cpu-figures.json";
/** So much more is said. */
const WORSE = 1.1;
/** Of each measure. Short rounds, and many: some of them have the processor for themselves. */
const BOUNDS = { rounds: 16, seconds: 38 };
const ROWS = { total: 1_000, group: 64 };
const WORKFLOWS = { total: 400, atOnce: 200 };
const SENDS = 32;

type Name = "workflow" | "promises" | "send";

/** What is measured, beside which rows. */
interface Measure {
  readonly name: Name;
  readonly ours: () => Promise<Cost>;
  readonly byHand: RowsByHand;
}

/** The ratio of the least of both sides: what else the machine does only adds. */
async function ratioOf({ name, ours, byHand }: Measure, path: string): Promise<number> {
  const file = await fileByHand(path, byHand);
  const rounds = await inTurns([() => file.write(ROWS), ours], BOUNDS);
  file.close();
  const [rows = NaN, least = NaN] = rounds.map((found) => Math.min(...found.map(({ cpuMs }) => cpuMs)));
  report({ name, "CPU ms each": least, "of its rows by hand": rows, rounds: rounds[0]?.length });
  return least / rows;
}

async function ratioOfWorkflow(name: Name, benched: BenchedWorkflow, folder: string): Promise<number> {
  const engine = benchedEngine(await sqliteStorage(join(folder, `${name}.db`)), benched);
  const ours = (): Promise<Cost> => engine.run(WORKFLOWS);
  const ratio = await ratioOf({ name, ours, byHand: "workflow-rows.sql" }, join(folder, `${name}-rows.db`));
  await engine.close();
  return ratio;
}

async function ratioOfSend(folder: string): Promise<number> {
  const { complete, close } = await serviceWorld({ slotMs: 100, finalizedAfter: 0, pollMs: 500 });
  const ours = (): Promise<Cost> => complete("send", SENDS);
  const ratio = await ratioOf({ name: "send", ours, byHand: "send-rows.sql" }, join(folder, "send-rows.db"));
  await close();
  return ratio;
}

/** With `isWriting` the ratios are those written down from now on. */
export async function benchCpu({ isWriting }: { readonly isWriting: boolean }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const measures: Readonly<Record<Name, () => Promise<number>>> = {
    workflow: () => ratioOfWorkflow("workflow", withEffects, folder),
    promises: () => ratioOfWorkflow("promises", withPromises, folder),
    send: () => ratioOfSend(folder),
  };
  const ratios: Record<string, number> = {};
  try {
    for (const name of ["workflow", "promises", "send"] as const) {
      ratios[name] = Number((await measures[name]()).toFixed(1));
      compare(name, ratios[name]);
    }
  } finally {
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
