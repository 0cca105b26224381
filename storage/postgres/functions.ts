/**
 * The functions that PostgreSQL runs for this adapter: a group of commits, a claim, a heartbeat and a release are one round
 * trip each. They lie in the schema under names that end in a digest of their text, so two versions of the program can
 * work side by side.
 */
import { createHash } from "node:crypto";
import { engineTables } from "../engine-tables.ts";
import { columnsOf } from "../row.ts";
import {
  claimTasks,
  extendLeases,
  leaseTasks,
  missHolders,
  releaseTask,
  settleLimits,
  suspectInTurn,
} from "./functions/claims.ts";
import { applyParts, applyWrite, commitGroup } from "./functions/commit.ts";
import { admitParked, hasRoom, lockAll, lockLimits } from "./functions/rooms.ts";

const taskColumns = columnsOf(engineTables.tasks)
  .map((name) => `"${name}"`)
  .join(", ");

/** A message belongs to the workflow of its target, where that is there; one that waits has no lease. */
const armedColumns = taskColumns
  .replace(
    '"workflow"',
    `case when kind = 'message'
        then coalesce((select i.workflow from instances i where i.id = a.instance), a.workflow) else a.workflow end`,
  )
  .replace('"admission"', `case when a.waits then 'parked' else a.admission end`)
  .replace('"visibleAt"', `case when a.waits then a."dueAt" else a."visibleAt" end`)
  .replace('"holder"', "case when a.waits then null else a.holder end")
  .replace('"token"', "case when a.waits then 0 else a.token end");

const source = [
  ...[
    lockAll,
    lockLimits,
    hasRoom,
    admitParked,
    applyWrite,
    applyParts,
    commitGroup,
    missHolders,
    settleLimits,
    leaseTasks,
    suspectInTurn,
    claimTasks,
  ],
  ...[extendLeases, releaseTask],
]
  .join("\n")
  .replaceAll("@taskColumns@", taskColumns)
  .replaceAll("@armedColumns@", armedColumns);

const digest = createHash("sha256").update(source).digest("hex").slice(0, 10);

/** What creates the functions; where they are there it changes nothing. */
export const FUNCTIONS = source.replaceAll("_@", `_${digest}`);

/** Their names. */
export const functionNames = {
  commit: `paystate_commit_${digest}`,
  claim: `paystate_claim_${digest}`,
  heartbeat: `paystate_heartbeat_${digest}`,
  release: `paystate_release_${digest}`,
};
