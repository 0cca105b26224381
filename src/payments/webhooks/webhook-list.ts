/** The webhooks of an account as one thing that has a version: who reads them can have a commit refused where they have changed. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { WebhookRecord } from "../tables/webhooks.ts";
import type { WebhookContext } from "./webhook-fields.ts";

/** An account's webhooks as they were read. */
interface ReadWebhooks {
  /** Webhooks that are not deleted, oldest first. */
  readonly webhooks: readonly WebhookRecord[];
  /** A write that refuses the commit when a webhook of the account was changed, added or deleted. */
  readonly unchanged: PaymentWrite;
}

/** Reads the version first: a change between the two reads is refused later, and never overlooked. */
export async function readWebhookList(
  storage: Pick<PaymentStorage, "webhooks" | "webhookChanges">,
  accountId: string,
): Promise<ReadWebhooks> {
  const expectVersion = await storage.webhookChanges(accountId);
  const webhooks = await storage.webhooks(accountId);
  return { webhooks, unchanged: { table: "webhookLists", id: accountId, expectVersion } };
}

/** Belongs to each commit that changes a webhook of the account. Refused where another change came first. */
export async function webhookListChange(
  storage: Pick<PaymentStorage, "webhookChanges">,
  accountId: string,
  changedAt: number,
): Promise<PaymentWrite> {
  const version = await storage.webhookChanges(accountId);
  return version === 0
    ? { table: "webhookLists", insert: { id: accountId, version: 1, changedAt } }
    : { table: "webhookLists", id: accountId, set: { changedAt }, expectedVersion: version };
}

/** Commits a change of the account's webhooks. False when a write of it was refused; a change of another webhook refuses none. */
export async function commitWebhookChange(
  { storage, clock, commit }: Pick<WebhookContext, "storage" | "clock" | "commit">,
  accountId: string,
  writes: readonly PaymentWrite[],
): Promise<boolean> {
  // A lost round means that a different change got through, so the loop ends.
  for (;;) {
    const change = await webhookListChange(storage, accountId, clock.now());
    if (await commit([...writes, change])) return true;
    const before = "expectedVersion" in change ? change.expectedVersion : 0;
    if ((await storage.webhookChanges(accountId)) === before) return false;
  }
}
