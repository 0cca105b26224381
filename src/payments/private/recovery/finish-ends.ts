/** Before a service begins anything else: what was told of an order without a marker on the chain is told by this database, too. */
import type { OrderEvent, OrderReason } from "../../../../machines/order-context.ts";
import type { Logger } from "../../../core/runtime.ts";
import type { PrivateStorage } from "../private-storage.ts";
import type { EndLine, RecoveryJournal } from "./journal.ts";

interface FinishingParts {
  readonly storage: Pick<PrivateStorage, "orders">;
  readonly journal: Pick<RecoveryJournal, "read">;
  readonly log: Logger;
  /** Hands an event to an order, before any other. */
  readonly send: (id: string, event: OrderEvent) => Promise<unknown>;
}

const PAGE = 500;

/** States short of paying: a go may have landed all the same, and is adopted when the order looks at the chain. */
const SHORT_OF_PAYING: ReadonlySet<string> = new Set(["waiting", "deciding", "refusing"]);

/**
 * Ends each open order short of paying as its line in the journal says, such as in a database that was set back. It may be
 * cut off and done again. Rejects when the journal or the storage does: then nothing may go on.
 */
export async function finishEnds(parts: FinishingParts): Promise<void> {
  let lines: EndLine[] = [];
  for await (const line of parts.journal.read()) {
    if (!("status" in line)) continue;
    lines.push(line);
    if (lines.length < PAGE) continue;
    await endThese(parts, lines);
    lines = [];
  }
  await endThese(parts, lines);
}

async function endThese({ storage, log, send }: FinishingParts, lines: readonly EndLine[]): Promise<void> {
  // The first line of an order is the one that was told.
  const told = new Map(lines.toReversed().map((line) => [line.id, line]));
  const open = told.size === 0 ? [] : await storage.orders([...told.keys()]);
  for (const { id, state } of open) {
    const line = told.get(id);
    if (line === undefined || !SHORT_OF_PAYING.has(state)) continue;
    const { status, reason } = line;
    await send(id, { type: "LINE_STANDS", status, reason: reason as OrderReason | null });
    log.warn({ transactionId: id, status, reason }, "ended as the recovery journal says");
  }
}
