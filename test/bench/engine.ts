/** Durable workflows of four steps on SQLite, each figure beside the same rows by hand in the same turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { inTurns, report, warm } from "./figures.ts";
import { fileByHand } from "./rows-by-hand.ts";
import { benchedEngine, withEffects, withPromises, type BenchedWorkflow } from "./workflows.ts";

/** Seven measures, which all end within two minutes. */
const BOUNDS = { rounds: 6, seconds: 7 };
const WORKFLOWS = 1_000;
const ALONE = 100;
const ROWS_GROUP = 64;
const FINISHED = { total: 20_000, group: 1_000 };

const AT_ONCE = [1, 50, 200] as const;

/** What is measured, in which folder. */
interface Measure {
  readonly name: string;
  readonly benched: BenchedWorkflow;
  readonly folder: string;
}

/** One by one beside rows one by one, many at once beside rows in groups. */
async function besideRows({ name, benched, folder }: Measure, atOnce: number): Promise<void> {
  const total = atOnce === 1 ? ALONE : WORKFLOWS;
  const path = join(folder, `${name}-${atOnce}`);
  const byHand = await fileByHand(`${path}-rows.db`, "workflow-rows.sql");
  const engine = benchedEngine(await sqliteStorage(`${path}.db`), benched);
  const rows = { total, group: atOnce === 1 ? 1 : ROWS_GROUP };
  const turns = [() => byHand.write(rows), () => engine.run({ total, atOnce })];
  const [ofRows, ofEngine] = await inTurns(turns, BOUNDS);
  byHand.close();
  await engine.close();
  const [reference, ours] = [warm(ofRows), warm(ofEngine)];
  report({
    name: `engine, ${name}, ${atOnce} at once`,
    perSecond: ours.perSecond,
    "of its rows by hand": ours.perSecond / reference.perSecond,
    "CPU ms each": ours.cpuMs,
    "times its rows": ours.cpuMs / reference.cpuMs,
    "cold /s": Math.round(ofEngine?.[0]?.perSecond ?? NaN),
  });
}

/** In a file of finished workflows beside a new file. */
async function besideFinished(folder: string): Promise<void> {
  const paths = ["new", "filled"].map((name) => join(folder, `${name}.db`));
  const filled = await fileByHand(paths[1] ?? "", "workflow-rows.sql");
  await filled.write(FINISHED);
  filled.close();
  const engines = await Promise.all(
    paths.map(async (path) => benchedEngine(await sqliteStorage(path), withEffects)),
  );
  const turns = engines.map(
    ({ run }) =>
      () =>
        run({ total: WORKFLOWS, atOnce: 200 }),
  );
  const [fresh, grown] = (await inTurns(turns, BOUNDS)).map(warm);
  for (const { close } of engines) await close();
  if (fresh === undefined || grown === undefined) return;
  report({
    name: `engine, effects, beside ${FINISHED.total.toLocaleString("en")} finished`,
    perSecond: grown.perSecond,
    "of a new file": grown.perSecond / fresh.perSecond,
    "CPU, times that of a new file": grown.cpuMs / fresh.cpuMs,
  });
}

/** Reports effects and promises, 1, 50 and 200 at once, and effects beside what is finished. */
export async function benchEngine(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    for (const [name, benched] of [
      ["effects", withEffects],
      ["promises", withPromises],
    ] as const) {
      for (const atOnce of AT_ONCE) await besideRows({ name, benched, folder }, atOnce);
    }
    await besideFinished(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
