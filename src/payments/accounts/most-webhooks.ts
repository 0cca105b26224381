import type { Tier } from "../records.ts";

/** Webhooks an account may have at a time. */
export const MOST_WEBHOOKS: Readonly<Record<Tier, number>> = { free: 3, pro: 10, enterprise: 50 };
