/** How many webhooks an account may have. */
import { z } from "zod";
import type { Caller } from "../frame/accounts/caller.ts";
import type { Tier } from "../frame/tables/identity.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

/** At a time, by tier. */
export const MAX_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };

/** The part of an account that webhooks add. */
export const webhookAccountFields = {
  webhooks: z.object({ limit: z.int(), current: z.int() }).describe("Registered webhooks."),
};

export async function webhooksOf(
  storage: Pick<WebhookStorage, "webhooks">,
  { accountId, tier }: Caller,
): Promise<z.output<z.ZodObject<typeof webhookAccountFields>>> {
  const current = (await storage.webhooks(accountId)).length;
  return { webhooks: { limit: MAX_WEBHOOKS[tier], current } };
}
