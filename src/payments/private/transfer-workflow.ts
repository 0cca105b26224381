/** The chart `order-transfer` acted out: signing, and reading what the chain made of it; and the rows that follow its steps. */
import { transfer, type TransferContext, type TransferEvent } from "../../../machines/transfer.ts";
import { workflow, type EffectRun, type Workflow } from "../../engine/index.ts";
import type { PrivateTables } from "./private-storage.ts";
import type { TransferRecord } from "./tables.ts";
import { concludeTransfer } from "./conclude-transfer.ts";
import { FailedLooks } from "./looks-in-turn.ts";
import { signTransfer, type SigningDeps } from "./sign-transfer.ts";
import type { TransferOutcome } from "./transfer-outcomes.ts";

export type TransferWorkflow = Workflow<typeof transfer, PrivateTables>;

export function transferWorkflow(deps: SigningDeps): TransferWorkflow {
  const concluding = { ...deps, sponsor: deps.sponsor.address };
  const failed = new FailedLooks();
  const unlessRepeated = (act: (id: string) => Promise<TransferOutcome>) => {
    return async (_params: unknown, { instance, key }: Pick<EffectRun, "instance" | "key">) => {
      const version = (await deps.storage.load(instance))?.version ?? 0;
      return await failed.take({ key, version }, () => act(instance));
    };
  };
  return workflow(transfer)<PrivateTables>({
    version: 1,
    effects: {
      sign: unlessRepeated((id) => signTransfer(deps, id)),
      conclude: unlessRepeated((id) => concludeTransfer(concluding, id)),
    },
    watches: { attempts: ({ signature }) => signature ?? "" },
    project: ({ id, before, after, event }, at) => {
      // Its row is inserted by the commit of its start.
      if (before === null) return [];
      const state = STATE_OF[outerOf(after.value)];
      if (state === undefined) return [];
      return [
        { table: "transfers", id, set: { state, ...toldBy(event, at), ...waitOf(after.context, state, at) } },
      ];
    },
  });
}

const STATE_OF: Readonly<Record<string, TransferRecord["state"]>> = {
  planned: "planned",
  out: "out",
  done: "done",
  booked: "done",
  ended: "ended",
};

function outerOf(value: unknown): string {
  return typeof value === "string" ? value : (Object.keys(value ?? {})[0] ?? "");
}

/** The parts that a person's decision, or its end, takes back. */
function toldBy(event: TransferEvent | null, at: number): Partial<Omit<TransferRecord, "id">> {
  switch (event?.type) {
    case "RETRY":
    case "OWN_SIGNATURE":
    case "SAME_ACT":
    case "STANDS":
    case "DAY":
    case "NOTHING_LEFT":
      return { stuckSince: null };
    case "MARK":
      return { stuckSince: null, landedAt: at };
    default:
      return {};
  }
}

function waitOf(
  { reason, pauseMs }: TransferContext,
  state: TransferRecord["state"],
  at: number,
): Pick<TransferRecord, "reason" | "notBefore"> {
  const isWaiting = state === "planned" && pauseMs > 0;
  return { reason: isWaiting ? reason : null, notBefore: isWaiting ? at + pauseMs : null };
}
