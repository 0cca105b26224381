/**
 * The facts that announcements read again and again: the webhooks of an account, by version, and what never changes of its
 * transaction.
 */
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import type { WebhookRecord } from "./tables.ts";
import type { WebhookContext } from "./webhook-fields.ts";
import type { TransactionView } from "../frame/tables/orders.ts";

interface ReadWebhooks {
  /** Webhooks that are not deleted, oldest first. */
  readonly webhooks: readonly WebhookRecord[];
  /** A write that refuses the commit when a webhook of the account was changed, added or deleted. */
  readonly unchanged: WebhookWrite;
}

/** Reads the version first: a change between the two reads is refused later, and never overlooked. */
export async function readWebhookList(
  storage: Pick<WebhookStorage, "webhooks" | "webhookChanges">,
  accountId: string,
): Promise<ReadWebhooks> {
  const expectVersion = await storage.webhookChanges(accountId);
  const webhooks = await storage.webhooks(accountId);
  return { webhooks, unchanged: { table: "webhookLists", id: accountId, expectVersion } };
}

/** The remains of a deleted webhook lead nowhere and sign nothing. */
export const DELETED = { url: "", sealedSecret: null, previousSealedSecret: null, previousUntil: null };

/** Belongs to each commit that changes a webhook of the account. Refused where another change came first. */
export async function webhookListChange(
  storage: Pick<WebhookStorage, "webhookChanges">,
  accountId: string,
  changedAt: number,
): Promise<WebhookWrite> {
  const version = await storage.webhookChanges(accountId);
  return version === 0
    ? { table: "webhookLists", insert: { id: accountId, version: 1, changedAt } }
    : { table: "webhookLists", id: accountId, set: { changedAt }, expectedVersion: version };
}

/** Commits a change of the account's webhooks. False when a write of it was refused; a change of another webhook refuses none. */
export async function commitWebhookChange(
  { storage, clock, commit }: Pick<WebhookContext, "storage" | "clock" | "commit">,
  accountId: string,
  writes: readonly WebhookWrite[],
): Promise<boolean> {
  // A lost round means that a different change got through, so the loop ends.
  for (;;) {
    const change = await webhookListChange(storage, accountId, clock.now());
    if (await commit([...writes, change])) return true;
    const before = "expectedVersion" in change ? change.expectedVersion : 0;
    if ((await storage.webhookChanges(accountId)) === before) return false;
  }
}

/** The most recipients of all remembered transactions together. */
const MAX_RECIPIENTS = 4_096;

/**
 * In wallet mode a notice shows of its transaction only what was stored with it for good; what becomes of it is in the row
 * of the notice. In private mode payees change, so those transactions are read each time.
 */
export class NoticedTransactionCache {
  readonly #storage: Pick<WebhookStorage, "transaction">;
  readonly #known = new Map<string, TransactionView>();
  #recipients = 0;

  constructor(storage: Pick<WebhookStorage, "transaction">) {
    this.#storage = storage;
  }

  async read(id: string): Promise<TransactionView | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = await this.#storage.transaction(id);
    if (found !== null) this.keep(found);
    return found;
  }

  keep(noticed: TransactionView): void {
    const { id, mode } = noticed.transaction;
    if (mode !== "wallet" || this.#known.has(id)) return;
    this.#known.set(id, noticed);
    this.#recipients += noticed.recipients.length;
    for (const [oldest, { recipients }] of this.#known) {
      if (this.#recipients <= MAX_RECIPIENTS) return;
      this.#known.delete(oldest);
      this.#recipients -= recipients.length;
    }
  }
}
