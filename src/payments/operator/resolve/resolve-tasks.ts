/** Acts on matters, as rows: tries tasks again, drops dead letters and matters that ask for nothing more, settles what is unprovable. */
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { Decision } from "../../frame/acts/act-row.ts";
import type { ResolveCommand } from "../../frame/acts/command.ts";
import type { EvidenceActs } from "../../frame/acts/evidence.ts";
import { matterKey, type FoundMatter } from "../../frame/acts/matter.ts";
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import type { Clock } from "../../../core/runtime.ts";

/** Dependencies of decisions about matters. */
export interface MatterActDeps {
  readonly storage: Pick<FrameStorage, "fact" | "matters">;
  readonly clock: Clock;
  readonly evidence: EvidenceActs;
}

/** An act on a matter, up to what all of them share. */
type MatterDecision = Omit<Decision<unknown>, "subject" | "told" | "second" | "waiting" | "after">;

type Commands = {
  readonly [Action in "retry" | "drop" | "writeOff" | "settle"]: Extract<ResolveCommand, { action: Action }>;
};

/** The table of acts on matters that are about no order. */
const MATTER_ACTS: {
  readonly [Action in keyof Commands]: (
    deps: MatterActDeps,
    matter: FoundMatter,
    command: Commands[Action],
  ) => MatterDecision | Promise<MatterDecision>;
} = {
  retry({ clock }, matter) {
    const retries = [{ task: matterKey(matter), dueAt: clock.now(), delayMs: 0 }];
    return { act: "retry", what: {}, retries };
  },
  drop,
  async settle({ evidence }, matter, { signature }) {
    const transactionId = transactionOf(matter);
    const { send } = await evidence.settle({ transactionId, signature });
    return { act: "settle", what: { transactionId, signature }, ...(send !== undefined && { send }) };
  },
  async writeOff({ evidence }, matter) {
    const transactionId = transactionOf(matter);
    const { send } = await evidence.writeOff(transactionId);
    return { act: "write_off", what: { transactionId }, ...(send !== undefined && { send }) };
  },
};

/** Throws `OperatorRefused` for a command that takes an order. */
export function decideMatter(
  deps: MatterActDeps,
  matter: FoundMatter,
  command: ResolveCommand,
): MatterDecision | Promise<MatterDecision> {
  if (!isMatterCommand(command)) throw new OperatorRefused(`${command.action} takes an order`);
  return decide(deps, matter, command);
}

function isMatterCommand(command: ResolveCommand): command is Commands[keyof Commands] {
  return command.action in MATTER_ACTS;
}

function decide<Action extends keyof Commands>(
  deps: MatterActDeps,
  matter: FoundMatter,
  command: Commands[Action] & { readonly action: Action },
): MatterDecision | Promise<MatterDecision> {
  return MATTER_ACTS[command.action](deps, matter, command);
}

/** The transaction of a matter. Throws `OperatorRefused` for a matter of none. */
export function transactionOf({ id, transactionId }: FoundMatter): string {
  if (transactionId === undefined) throw new OperatorRefused(`${id}: it is of no transaction`);
  return transactionId;
}

/** Ends a matter that asks for nothing more; what comes later of the same is a new one. */
async function drop(deps: MatterActDeps, matter: FoundMatter): Promise<MatterDecision> {
  if (matter.kind === "dead_letter") return { act: "drop", what: {}, drops: [matterKey(matter)] };
  const { dropFact, dropUpTo = deps.clock.now(), transactionId } = matter;
  if (dropFact === undefined) return dropNoted(deps, matter);
  // It is over as far as it has come; it stays where it is.
  const write = await factOf(deps, dropFact, dropUpTo);
  return { act: "drop", what: { transactionId, upTo: dropUpTo }, writes: [write] };
}

/** Ends a matter that was noted when it began. */
async function dropNoted({ storage }: MatterActDeps, { id }: FoundMatter): Promise<MatterDecision> {
  const [row] = await storage.matters([id]);
  if (row === undefined || row.state !== "waiting") throw new OperatorRefused(`${id} is over`);
  const set = { state: "ending" as const, tellingUntil: null };
  return {
    act: "drop",
    what: {},
    writes: [{ table: "matters", id, set, expectedVersion: row.version }],
  };
}

/** Notes up to which time something was dropped. */
async function factOf({ storage }: MatterActDeps, id: string, upTo: number): Promise<FrameWrite> {
  const value = String(upTo);
  return (await storage.fact(id)) === null
    ? { table: "facts", insert: { id, value } }
    : { table: "facts", id, set: { value } };
}
