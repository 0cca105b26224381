/** The limit on webhooks of an account. */
import type { Tier } from "../tables/identity.ts";

/** Webhooks an account may have at a time, by tier. */
export const MAX_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };
