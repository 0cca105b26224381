/**
 * Decides whether a new quote or transaction may be taken: pauses and suspensions, still in force at the commit, and the clock
 * that it would be taken by.
 */
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Assets } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { contradictionOf, type ClockParts } from "./chain-clock.ts";
import { accountGate, rulesOf, SERVICE_GATE, type IntakeRules, type Pause } from "./rules.ts";

export interface IntakeRequest {
  readonly mode: unknown;
  /** Undefined where a quote leaves open what it is for. */
  readonly type: unknown;
  /** The given and received mints; empty while unknown. */
  readonly mints: readonly string[];
}

export interface IntakeResult {
  /**
   * Belong into the commit that takes it: they refuse the commit when an operator has changed the rules since they were
   * read. Then the caller of `admit` asks again.
   */
  readonly guards: readonly FrameWrite[];
  /** The rules of the account, then the rules of all accounts. */
  readonly rules: readonly IntakeRules[];
}

/** Dependencies of intake: storage of the rules, compared clocks, and names of assets. */
interface IntakeCheckParts extends ClockParts {
  readonly storage: Pick<FrameStorage, "gates" | "time">;
  readonly assets: Assets;
}

/** The advised time of a retry: nobody knows how long a pause lasts, or when somebody sets the clock right. */
const RETRY_SECONDS = 60;

export class IntakeCheck {
  readonly #with: IntakeCheckParts;

  constructor(parts: IntakeCheckParts) {
    this.#with = parts;
  }

  /**
   * The rules for this caller. Throws `ACCOUNT_SUSPENDED`, and `SERVICE_PAUSED`, in private mode `ROUTING_UNAVAILABLE`,
   * for paused transactions, and for all transactions while the chain contradicts the storage's clock. The rules come
   * from the database, so all processes on the database follow them.
   */
  async admit({ accountId }: Caller, asked: IntakeRequest): Promise<IntakeResult> {
    const ids = [accountGate(accountId), SERVICE_GATE];
    const [found, contradiction] = await Promise.all([
      this.#with.storage.gates(ids),
      contradictionOf(this.#with),
    ]);
    const gates = new Map(found.map((gate) => [gate.id, gate]));
    const rules = ids.map((id) => rulesOf(gates.get(id)));
    if (rules.some(({ suspended }) => suspended !== null)) throw new PaymentError("ACCOUNT_SUSPENDED", {});
    const pause = rules.flatMap(({ pauses }) => pauses).find((each) => keepsOut(each, asked));
    if (pause !== undefined) throw this.#refusal(pause, asked.mode);
    if (contradiction !== null) throw clockRefusal(asked.mode);
    const guards = ids.map((id): FrameWrite => {
      const expectVersion = gates.get(id)?.version ?? 0;
      return { table: "gates", id, expectVersion };
    });
    return { guards, rules };
  }

  #refusal({ mint, type }: Pause, mode: unknown): PaymentError {
    if (mode === "private") {
      return new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: RETRY_SECONDS });
    }
    const asset = mint === undefined ? undefined : (this.#with.assets.ofMint(mint)?.symbol ?? mint);
    return new PaymentError("SERVICE_PAUSED", {
      scope: asset ?? type ?? "wallet",
      retryAfter: RETRY_SECONDS,
    });
  }
}

/** The refusal of a request while the chain contradicts the storage's clock. */
export function clockRefusal(mode: unknown): PaymentError {
  const told = { reason: "clock", retryAfter: RETRY_SECONDS } as const;
  return mode === "private"
    ? new PaymentError("ROUTING_UNAVAILABLE", told)
    : new PaymentError("SERVICE_PAUSED", { scope: "wallet", ...told });
}

/** Whether a pause is on what is asked for: on all of it when the pause names nothing. */
function keepsOut({ mode, mint, type }: Pause, asked: IntakeRequest): boolean {
  return (
    (mode === undefined || mode === asked.mode) &&
    (mint === undefined || asked.mints.includes(mint)) &&
    (type === undefined || type === asked.type)
  );
}
