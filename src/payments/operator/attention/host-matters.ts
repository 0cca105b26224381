/** Finds silent parts of the host, low purses, and tasks that do not get on. */
import type { HostParts } from "../../frame/host-parts.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import { matterId, matterKey, type AttentionSource, type FoundMatter } from "../../frame/acts/matter.ts";
import type { PurseBody, PurseWatch } from "../../frame/purses/purses.ts";
import * as troubledOnes from "../../../engine/kernel/troubled-tasks.ts";
import type { TaskRecord } from "../../../../storage/storage.ts";
import type { Clock } from "../../../core/runtime.ts";

const KIND = "silent_part";

/**
 * Silent parts of the host: parts that do not answer this process, and parts reported by another process that have not
 * answered this process since. A process that has not asked a part cannot tell that the silence is over.
 */
export function silentParts(
  storage: Pick<FrameStorage, "openMatters">,
  parts: Pick<HostParts, "silent" | "hasAnsweredSince">,
): AttentionSource {
  return async (limit) => {
    const own = parts.silent().map(({ part, since }) => silentPart(part, since));
    const known = new Set(own.map(({ id }) => id));
    const open = await storage.openMatters();
    const others = open
      .filter(({ kind, state, id }) => kind === KIND && state === "waiting" && !known.has(id))
      .filter(({ id, since }) => !parts.hasAnsweredSince(matterKey({ kind: KIND, id }), since))
      .map(({ id, since }) => silentPart(matterKey({ kind: KIND, id }), since));
    return [...own, ...others].slice(0, limit);
  };
}

function silentPart(part: string, since: number): FoundMatter {
  return {
    kind: KIND,
    id: matterId(KIND, part),
    since,
    message: `the ${part} does not answer: what needs it waits, and it is asked again and again. Mend it, or restart it`,
    actions: [],
  };
}

/**
 * Low purses, the oldest first; only an operator ends the matter, by sending money there. Reads the chain once in five
 * minutes at most; while the chain is silent, reports the last reading.
 */
export function lowPurses(watch: Pick<PurseWatch, "low">): AttentionSource {
  return async (limit) => {
    const low = await watch.low();
    return low.slice(0, limit).map(({ body, since }) => ({
      kind: "low_purse",
      id: matterId("low_purse", `${body.purse} ${body.asset}`),
      since,
      message: sentenceOf(body),
      actions: [],
    }));
  };
}

const CONSEQUENCES: Readonly<Record<PurseBody["purse"], string>> = {
  sponsor: "with less, new private orders are refused",
  desk: "with less, swaps are refused",
  treasury: "nothing depends on it",
};

function sentenceOf({ purse, address, asset, balance, reserved, lowBelow, lastsUntil }: PurseBody): string {
  const lasts = lastsUntil === null ? "" : `; at the rate of the last day it lasts until ${lastsUntil}`;
  return (
    `the ${purse} has ${balance} ${asset}, ${reserved} of it reserved: less than ${lowBelow ?? "0"} is free${lasts}. ` +
    `Send ${asset} to ${address}; ${CONSEQUENCES[purse]}`
  );
}

type TroubledTaskReads = Pick<FrameStorage, "transaction" | "tasks">;

/** The transaction that an instance of a module belongs to; null for an instance of others. */
export type TransactionOfInstance = (instance: string) => Promise<string | null>;

/** The pauses between so many tries add up to about a quarter of an hour, longer than any node's restart. */
const MANY_FAILURES = 20;

/** Dead letters: tasks set aside because every process that took the task ended without returning it, or it failed for good. */
export function deadLetters(
  storage: TroubledTaskReads,
  transactionOf: TransactionOfInstance,
): AttentionSource {
  return async (limit) => {
    const found = await Promise.all(
      (await troubledOnes.deadLetters(storage, limit)).map(async (task): Promise<FoundMatter> => ({
        kind: "dead_letter",
        id: matterId("dead_letter", task.id),
        ...(await ownerOf({ storage, transactionOf }, task)),
        since: task.since,
        message: `${nameOf(task)} was set aside: ${reasonOf(task)}`,
        actions: ["retry", "drop"],
      })),
    );
    return found.toReversed();
  };
}

const reasonOf = ({ crashes, lastError }: troubledOnes.TroubledTask): string =>
  crashes > 0 ? `${crashes} processes that took it ended without giving it back` : (lastError ?? "it failed");

/** Tasks that have failed many times in a row, and are still tried. */
export function failingTasks(
  storage: TroubledTaskReads,
  transactionOf: TransactionOfInstance,
): AttentionSource {
  return async (limit) =>
    Promise.all(
      (await troubledOnes.failingTasks(storage, MANY_FAILURES, limit)).map(
        async (task): Promise<FoundMatter> => ({
          kind: "failing_task",
          id: matterId("failing_task", task.id),
          ...(await ownerOf({ storage, transactionOf }, task)),
          since: task.since,
          message: `${nameOf(task)} has failed ${task.failures} times, at last with: ${task.lastError ?? ""}`,
          actions: ["retry"],
        }),
      ),
    );
}

function nameOf({ id, name, workflow }: troubledOnes.TroubledTask): string {
  return `task ${id} (${name} of ${workflow})`;
}

/** An instance has the id of its transaction, or a module knows that. Empty for an instance of neither, such as a delivery. */
async function ownerOf(
  {
    storage,
    transactionOf,
  }: {
    readonly storage: Pick<FrameStorage, "transaction">;
    readonly transactionOf: TransactionOfInstance;
  },
  { instance }: Pick<TaskRecord, "instance">,
): Promise<{ readonly transactionId?: string; readonly accountId?: string }> {
  const transactionId = (await transactionOf(instance)) ?? instance;
  const view = await storage.transaction(transactionId);
  return view === null ? {} : { transactionId, accountId: view.transaction.accountId };
}

/** During an upgrade, or with private mode on in some processes only, another process does them within seconds. */
const OVERDUE_MS = 60_000;

/** `known` are the workflows of this process, as `name@version`. */
export function orphans(
  storage: Pick<FrameStorage, "tasks">,
  clock: Clock,
  known: readonly string[],
): AttentionSource {
  return async (limit) =>
    (await storage.tasks({ order: "workflow" }))
      .filter(({ workflow, visibleAt }) => !known.includes(workflow) && visibleAt + OVERDUE_MS <= clock.now())
      .slice(0, limit)
      .map(({ workflow, visibleAt }) => ({
        kind: "orphan",
        id: matterId("orphan", workflow),
        since: visibleAt,
        message: `tasks of ${workflow} are due, and no process does them: start one that knows this workflow`,
        actions: [],
      }));
}
