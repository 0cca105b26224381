/** Old answers to requests with an Idempotency-Key whose transaction is over, and old quotes. */
import type { IdempotencyRecord } from "../tables/identity.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { frameTables } from "../tables.ts";
import { archivedRows, isOver, type Removal } from "./removal.ts";
import type { Leaving, OldRowRule } from "./old-rows.ts";
import type { QuoteRecord } from "../tables/orders.ts";

/** Answers of idempotency keys. Their ids tell no time, so an index over their time is read. */
export function oldAnswers(storage: FrameStorage, keepMs: number): OldRowRule<IdempotencyRecord> {
  return {
    name: "idempotencyAnswers",
    keepMs,
    page: (after, limit) =>
      storage.find({
        table: frameTables.idempotency,
        index: "byAge",
        after: [after?.createdAt ?? Number.MIN_SAFE_INTEGER, after?.id ?? ""],
        limit,
      }),
    timeOf: ({ createdAt }) => createdAt,
    async look(answer) {
      if (!(await isOfNoOpenTransaction(storage, answer))) return "later";
      return alone({ writes: [removeOf(answer)], rows: archivedRows("idempotency", [answer]) });
    },
  };
}

/**
 * Refused where the key was used again meanwhile: another process removed the old answer, and a new answer has its
 * place.
 */
function removeOf({ id, createdAt, fingerprint, answer }: IdempotencyRecord): FrameWrite {
  return { table: "idempotency", remove: id, expected: { createdAt, fingerprint, answer } };
}

async function isOfNoOpenTransaction(storage: FrameStorage, { answer }: IdempotencyRecord): Promise<boolean> {
  const { transactionId } = JSON.parse(answer) as { readonly transactionId?: unknown };
  return typeof transactionId !== "string" || isOver(storage, transactionId);
}

/** Quotes that nobody used and that expired long ago. A used quote stays as long as its transaction. */
export function oldQuotes(storage: FrameStorage, keepMs: number | null): OldRowRule<QuoteRecord> {
  return {
    name: "quotes",
    keepMs,
    page: (after, limit) =>
      storage.find({ table: frameTables.quotes, index: "key", after: [after?.id ?? ""], limit }),
    async look(quote, until) {
      const { id, version, usedBy, expiresAt } = quote;
      if (usedBy !== null) return "stays";
      if (expiresAt > until) return "later";
      // Refused where it was used or refreshed meanwhile.
      const remove: FrameWrite = { table: "quotes", remove: id, expected: { version, usedBy: null } };
      return alone({ writes: [remove], rows: archivedRows("quotes", [quote]) });
    },
  };
}

const alone = (removal: Pick<Removal, "writes" | "rows">): Leaving => ({
  before: [],
  removal: async () => ({ removes: [], ...removal }),
});
