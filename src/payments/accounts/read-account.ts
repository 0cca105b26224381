/** Reads the scopes and the limits of an account. */
import type { Tier } from "../tables/identity.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Clock } from "../../runtime.ts";
import type { Caller } from "./caller.ts";
import { DURABLE_SCOPES, limitStatus, type LimitStatus } from "./count-hit.ts";

/** The account behind a key. */
export interface AccountBody {
  readonly accountId: string;
  readonly tier: Tier;
  /** The scopes of this key; further keys of the account may have more. */
  readonly scopes: readonly string[];
  /** Limits on requests, by kind. */
  readonly limits: readonly LimitStatus[];
  readonly webhooks: { readonly limit: number; readonly current: number };
}

interface AccountParts {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
}

/** See `PaymentService.account`. */
export async function readAccount(deps: AccountParts, caller: Caller): Promise<AccountBody> {
  const { accountId, tier, scopes } = caller;
  const limits = await Promise.all(DURABLE_SCOPES.map((scope) => limitStatus(deps, caller, scope)));
  const current = (await deps.storage.webhooks(accountId)).length;
  return { accountId, tier, scopes, limits, webhooks: { limit: MAX_WEBHOOKS[tier], current } };
}

/** Webhooks an account may have at a time, by tier. */
export const MAX_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };
