/** Durable workflows of four steps on SQLite, each figure beside the same rows by hand in the same turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { inTurns, report, warm } from "./figures.ts";
import { writeByHand } from "./rows-by-hand.ts";
import { workflowRows } from "./workflow-rows.ts";
import { runWorkflows, withEffects, withPromises, type BenchedWorkflow } from "./workflows.ts";

/** Seven measures, which all end within two minutes. */
const BOUNDS = { rounds: 4, seconds: 10 };
const WORKFLOWS = 1_000;
const ALONE = 200;
const ROWS_GROUP = 64;
const FINISHED = { total: 50_000, group: 1_000 };

const AT_ONCE = [1, 50, 200] as const;

/** Paths of new files. */
type NewPath = () => string;

/** How many at once, and of what. */
interface Measure {
  readonly name: string;
  readonly benched: BenchedWorkflow;
  readonly atOnce: number;
}

/** One by one beside rows one by one, many at once beside rows in groups. */
async function besideRows({ name, benched, atOnce }: Measure, newPath: NewPath): Promise<void> {
  const total = atOnce === 1 ? ALONE : WORKFLOWS;
  const rows = { total, group: atOnce === 1 ? 1 : ROWS_GROUP };
  const [byHand, ours] = await inTurns(
    [
      () => writeByHand(newPath(), workflowRows, rows),
      async () => runWorkflows(await sqliteStorage(newPath()), benched, { total, atOnce }),
    ],
    BOUNDS,
  );
  const [reference, measured] = [warm(byHand), warm(ours)];
  report({
    name: `engine, ${name}, ${atOnce} at once`,
    perSecond: measured.perSecond,
    "of its rows by hand": measured.perSecond / reference.perSecond,
    "CPU ms each": measured.cpuMs,
    "times its rows": measured.cpuMs / reference.cpuMs,
    "cold /s": Math.round(ours?.[0]?.perSecond ?? NaN),
  });
}

/** In a file of finished workflows beside a new file. */
async function besideFinished(newPath: NewPath): Promise<void> {
  const filled = newPath();
  await writeByHand(filled, workflowRows, FINISHED);
  const howMany = { total: WORKFLOWS, atOnce: 200 };
  const [fresh, grown] = await inTurns(
    [newPath, () => filled].map(
      (path) => async () => runWorkflows(await sqliteStorage(path()), withEffects, howMany),
    ),
    BOUNDS,
  );
  const [first, beside] = [warm(fresh), warm(grown)];
  report({
    name: `engine, effects, beside ${FINISHED.total.toLocaleString("en")} finished`,
    perSecond: beside.perSecond,
    "of a new file": beside.perSecond / first.perSecond,
    "CPU, times that of a new file": beside.cpuMs / first.cpuMs,
  });
}

/** Reports effects and promises, 1, 50 and 200 at once, and effects beside what is finished. */
export async function benchEngine(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  let files = 0;
  const newPath: NewPath = () => join(folder, `${(files += 1)}.db`);
  try {
    for (const [name, benched] of [
      ["effects", withEffects],
      ["promises", withPromises],
    ] as const) {
      for (const atOnce of AT_ONCE) await besideRows({ name, benched, atOnce }, newPath);
    }
    await besideFinished(newPath);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
