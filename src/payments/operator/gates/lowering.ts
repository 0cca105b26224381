/** Lowers for a time how many endpoints must agree before something final is believed. */
import { z } from "zod";
import type { Ledger, WitnessCount } from "../../../ledger/ledger.ts";
import { isoTime } from "../../frame/iso-time.ts";
import {
  beliefRules,
  isInForce,
  type ActContext,
  type LoweredWitnessRule,
} from "../../frame/intake/rules.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import { storageTime } from "../../frame/service-context.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { GateAct } from "./gate-act.ts";
import type { GateParts } from "./gate-rule-storage.ts";

/** Lowering the number of witnesses. */
export interface WitnessCommands {
  /**
   * Believes for some minutes what is final on the word of fewer endpoints than the ledger is configured for: landings,
   * deposits, balances and markers. It holds for every process on the database, within five seconds, and ends by itself.
   * Decisions that may give something up for good keep the ledger's own number: that a transaction of a caller is dead. Set
   * again, it takes the place of what was set before. Refused while as many endpoints answer as must agree: an endpoint that
   * answers wrongly is taken out of the ledger's options instead.
   */
  lowerWitnesses(
    wanted: {
      /** From as many as answer now, at least 1, to one less than the ledger's own number. */
      readonly witnesses: number;
      /** 1 to 1,440 (a day). */
      readonly minutes: number;
    },
    by: ActContext,
  ): Promise<
    ActContext & {
      readonly witnesses: number;
      /** ISO 8601 in UTC. */
      readonly since: string;
      /** The time from which the ledger's own number holds again. ISO 8601 in UTC. */
      readonly until: string;
    }
  >;
  /** Ends it before its time; refused when nothing is lowered. */
  restoreWitnesses(by: ActContext): Promise<void>;
}

const MAX_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;

const wantedWitnesses = z.strictObject({
  witnesses: z.int().min(1),
  minutes: z.int().min(1).max(MAX_MINUTES),
});

interface LoweringSetting extends Pick<GateParts, "gates" | "clock"> {
  /** Read for the storage's clock, as for suspended endpoints. */
  readonly storage: Pick<FrameStorage, "gates" | "time">;
  /** With its own number of witnesses, and all endpoints. */
  readonly ledger: Pick<Ledger, "restricted">;
}

type Lowered = Awaited<ReturnType<WitnessCommands["lowerWitnesses"]>>;

export const LOWER_WITNESSES: GateAct<LoweringSetting, z.output<typeof wantedWitnesses>, Lowered> = {
  act: "lower_witnesses",
  given: wantedWitnesses,
  what: ({ witnesses, minutes }) => ({ witnesses, minutes }),
  async decide(parts, { witnesses, minutes }, by) {
    refuseNeedless(witnesses, await inService(parts));
    const since = await storageTime(parts);
    const lowered: LoweredWitnessRule = { ...by, witnesses, since, until: since + minutes * MINUTE_MS };
    return {
      accountId: null,
      told: { ...by, witnesses, since: isoTime(since), until: isoTime(lowered.until) },
      change: (rules) => ({ ...rules, lowered }),
    };
  },
};

/** An endpoint out of service answers, and is not there to agree. */
async function inService(parts: LoweringSetting): Promise<WitnessCount> {
  const { suspendedEndpoints } = await beliefRules(parts);
  const without = suspendedEndpoints.map(({ endpoint }) => endpoint);
  const reads = await parts.ledger.restricted({ witnesses: null, without });
  return reads.witnesses();
}

export const RESTORE_WITNESSES: GateAct<LoweringSetting, undefined, void> = {
  act: "restore_witnesses",
  given: z.undefined(),
  what: () => ({}),
  async decide(parts) {
    const now = await storageTime(parts);
    return {
      accountId: null,
      told: undefined,
      change(rules) {
        if (rules.lowered === null || !isInForce(rules.lowered, now)) {
          throw new OperatorRefused("the number of witnesses is not lowered");
        }
        return { ...rules, lowered: null };
      },
    };
  },
};

/**
 * Refuses a needless lowering: the number must be lower than needed, but at least the number of answering endpoints,
 * since more witnesses are harder to deceive.
 */
function refuseNeedless(witnesses: number, { needed, answering }: WitnessCount): void {
  if (answering >= needed) {
    throw new OperatorRefused(`witnesses: enough endpoints answer (${needed}), so there is nothing to lower`);
  }
  if (answering === 0) throw new OperatorRefused("witnesses: no endpoint answers, so none could be believed");
  if (witnesses < answering || witnesses >= needed) {
    const expected = answering === needed - 1 ? String(answering) : `${answering} to ${needed - 1}`;
    throw new OperatorRefused(
      `witnesses: expected ${expected}, not ${witnesses}: ${answering} of ${needed} endpoints answer`,
    );
  }
}
