/** Reads the scopes and the limits of an account. */
import { z } from "zod";
import type { Immutable } from "../../../core/immutable.ts";
import { named, text } from "../body-schemas.ts";
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

/** Fields of the account behind a key, with its limits on requests; modules add theirs. */
export const accountFields = {
  accountId: text("The account's id."),
  tier: z.enum(["free", "pro", "enterprise"]),
  scopes: z.array(z.string()).describe("What this key is allowed to do."),
  limits: z.array(limit).describe("How many requests there may be, and what is left of them."),
};

type AccountFields = Immutable<z.output<z.ZodObject<typeof accountFields>>>;

interface AccountParts {
  readonly storage: Pick<FrameStorage, "commit" | "limitWindow">;
  readonly clock: Clock;
}

export async function readAccount(deps: AccountParts, caller: Caller): Promise<AccountFields> {
  const { accountId, tier, scopes } = caller;
  const limits = await Promise.all(DURABLE_SCOPES.map((scope) => limitStatus(deps, caller, scope)));
  return { accountId, tier, scopes, limits };
}
