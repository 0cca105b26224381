/** Reads the scopes and the limits of an account. */
import { z } from "zod";
import type { Immutable } from "../../../core/immutable.ts";
import { named, text } from "../body-schemas.ts";
import type { Tier } from "../tables/identity.ts";
import type { FrameStorage } from "../frame-storage.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Caller } from "./caller.ts";
import { DURABLE_SCOPES, limitStatus } from "./count-hit.ts";

const limit = named(
  "Limit",
  z.object({
    scope: text("As the RateLimit headers name it."),
    limit: z.int(),
    windowSeconds: z.int(),
    remaining: z.int(),
    resetSeconds: z.int().describe("Until the oldest counted request leaves the window."),
  }),
);

export const accountSchema = named(
  "Account",
  z.object({
    accountId: text("The account's id."),
    tier: z.enum(["free", "pro", "enterprise"]),
    scopes: z.array(z.string()).describe("What this key is allowed to do."),
    limits: z.array(limit).describe("How many requests there may be, and what is left of them."),
    webhooks: z.object({ limit: z.int(), current: z.int() }).describe("Registered webhooks."),
  }),
);

/** The account behind a key, with its limits on requests. @interface */
export type AccountBody = Immutable<z.output<typeof accountSchema>>;

interface AccountParts {
  readonly storage: Pick<FrameStorage, "commit" | "limitWindow">;
  readonly clock: Clock;
  /** How many webhooks an account has. */
  readonly countWebhooks: (accountId: string) => Promise<number>;
}

/** See `PaymentService.account`. */
export async function readAccount(deps: AccountParts, caller: Caller): Promise<AccountBody> {
  const { accountId, tier, scopes } = caller;
  const limits = await Promise.all(DURABLE_SCOPES.map((scope) => limitStatus(deps, caller, scope)));
  const current = await deps.countWebhooks(accountId);
  return { accountId, tier, scopes, limits, webhooks: { limit: MAX_WEBHOOKS[tier], current } };
}

/** Webhooks an account may have at a time, by tier. */
export const MAX_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };
