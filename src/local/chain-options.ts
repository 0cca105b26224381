/** The options of a local chain. */
import { z } from "zod";
import { objectWith, optionsWith } from "../core/options.ts";
import type { Clock } from "../core/runtime.ts";

/** The length of mainnet's slots for years. */
const DEFAULT_SLOT_MS = 400;
const DEFAULT_CONFIRMED_AFTER = 1;
const DEFAULT_FINALIZED_AFTER = 32;

const slotCount = z.number().int().min(0);
export const optionsSchema = optionsWith({
  /** Tells the time; `sleep` is needed for delay faults, and for subscriptions while slots follow the clock. */
  clock: objectWith<Pick<Clock, "now"> & Partial<Pick<Clock, "sleep">>>(
    ["now"],
    "a clock: { now }, with { sleep } for delays and subscriptions",
  ),
  /**
   * File the chain lives in; made when absent (mode 0600), replayed when present: some 0.4 ms for each transaction.
   * Without it, nothing is kept.
   */
  journal: z.string().min(1).optional(),
  /** Duration of a slot in milliseconds, 400 by default. With 0 slots pass by `advance` only. */
  slotMs: slotCount.default(DEFAULT_SLOT_MS),
  /** All keys of the chain's own are derived from it. The journal's seed must be the same. */
  seed: z.string().min(1).optional(),
  /** Slots after which a block is confirmed, 1 by default. */
  confirmedAfter: slotCount.default(DEFAULT_CONFIRMED_AFTER),
  /** Slots after which a block is finalized, 32 by default. */
  finalizedAfter: slotCount.default(DEFAULT_FINALIZED_AFTER),
}).refine(({ confirmedAfter, finalizedAfter }) => confirmedAfter <= finalizedAfter, {
  path: ["confirmedAfter"],
  error: "nothing is finalized before it is confirmed: expected at most finalizedAfter",
});

/** Options of a local chain. @interface */
export type LocalChainOptions = z.input<typeof optionsSchema>;

/** Checked options of a local chain. */
export type LocalChainSettings = z.output<typeof optionsSchema>;
