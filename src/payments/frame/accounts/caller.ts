/** Callers: the account behind an API key, and the scopes of the key. */
import type { Tier } from "../tables/identity.ts";

/** Everything a key can be allowed to do. */
export const SCOPES = [
  "tokens:read",
  "balances:read",
  "quotes:read",
  "quotes:write",
  "transactions:read",
  "transactions:write",
  "webhooks:read",
  "webhooks:write",
] as const;

/** A permission of a key. */
export type Scope = (typeof SCOPES)[number];

/** An authenticated caller. Everything belongs to its account and nothing crosses accounts. */
export interface Caller {
  readonly accountId: string;
  readonly tier: Tier;
  readonly scopes: readonly Scope[];
}
