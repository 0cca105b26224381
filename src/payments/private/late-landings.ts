/** Books own bytes that land after their transfer was done or given up: endpoints had pronounced them dead too early. */
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import { attemptOf } from "../frame/signed/stored-attempt.ts";
import { bookLandings, type OwnLanding } from "./book-transfer.ts";
import { timeOf } from "./judged-rows.ts";
import type { OrderLook } from "./look.ts";
import { refundEvent } from "./order-events.ts";
import { changed } from "./transfer-outcomes.ts";

type LateParts = Pick<PrivateContext, "storage" | "ledger">;

/** Landings of transfers that are over and not booked; no rows if nothing has. Throws `LedgerUnavailable`. */
export async function bookLateLandings(
  deps: LateParts,
  look: OrderLook,
): Promise<ReturnType<typeof bookLandings>> {
  const landed = await lateLandings(deps, look);
  if (landed.length === 0) return { writes: [], set: {} };
  const { writes, set } = bookLandings(look, landed);
  // A refund of the same transfer may have been told.
  const told = landed.flatMap(({ id, legs }) => refundEvent(look.terms.id, { transfer: id, legs }));
  return { writes: [...writes, ...landedWrites(look, landed), ...told], set };
}

async function lateLandings(
  { storage, ledger }: LateParts,
  { view: { transfers } }: OrderLook,
): Promise<readonly OwnLanding[]> {
  const over = transfers.filter(
    ({ kind, state }) => kind !== "chunk" && (state === "done" || state === "ended"),
  );
  const booked = new Set(over.flatMap(({ signature, alsoLanded }) => [signature, ...alsoLanded]));
  const attempts = await storage.attemptsOfAny(over.map(({ id }) => id));
  const open = attempts.filter(({ id, error }) => error === null && !booked.has(id));
  const landings = open.length === 0 ? [] : await ledger.landings(open.map(attemptOf));
  return open.flatMap((attempt, index): readonly OwnLanding[] => {
    const landing = landings[index] ?? null;
    return landing === null || landing.error !== null ? [] : [{ ...attempt, slot: landing.slot }];
  });
}

function landedWrites({ view, reading }: OrderLook, landed: readonly OwnLanding[]): readonly PrivateWrite[] {
  return view.transfers.flatMap((transfer): readonly PrivateWrite[] => {
    const late = landed.filter((each) => each.transfer === transfer.id).map(({ id }) => id);
    if (late.length === 0) return [];
    if (transfer.signature !== null) {
      return [changed(transfer, { alsoLanded: [...transfer.alsoLanded, ...late] })];
    }
    const [signature = null, ...alsoLanded] = late;
    return [changed(transfer, { signature, alsoLanded, landedAt: timeOf(reading) })];
  });
}
