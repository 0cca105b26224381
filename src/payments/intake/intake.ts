/** Decides whether a new quote or transaction may be taken: pauses and suspensions, still in force at the commit. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { PaymentError } from "../../errors.ts";
import type { Assets } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { accountGate, rulesOf, SERVICE_GATE, type IntakeRules, type Pause } from "./rules.ts";

/** What a caller asks for, as far as it is known before it was checked. */
export interface Asked {
  readonly mode: unknown;
  /** Undefined where a quote leaves open what it is for. */
  readonly type: unknown;
  /** What is given and got; empty while it is not known. */
  readonly mints: readonly string[];
}

/** The rules that something new was let in by. */
export interface Admission {
  /**
   * Belong into the commit that takes it: they refuse the commit when an operator has changed the rules since they were
   * read. Then the caller of `admit` asks again.
   */
  readonly guards: readonly PaymentWrite[];
  /** Those of the account and those of all accounts, in this order. */
  readonly rules: readonly IntakeRules[];
}

/** Where the rules are stored, and how assets are named in refusals. */
export interface IntakeParts {
  readonly storage: Pick<PaymentStorage, "gates">;
  readonly assets: Assets;
}

/** It is not known how long a pause lasts. */
const RETRY_SECONDS = 60;

/** The entrance of new quotes and transactions. */
export class Intake {
  readonly #storage: IntakeParts["storage"];
  readonly #assets: Assets;

  constructor({ storage, assets }: IntakeParts) {
    this.#storage = storage;
    this.#assets = assets;
  }

  /**
   * The rules for this caller. Throws `ACCOUNT_SUSPENDED`, and `SERVICE_PAUSED`, in private mode `ROUTING_UNAVAILABLE`,
   * for what is paused. The rules are those of the database, so they hold for all processes on it at once.
   */
  async admit({ accountId }: Caller, asked: Asked): Promise<Admission> {
    const ids = [accountGate(accountId), SERVICE_GATE];
    const gates = new Map((await this.#storage.gates(ids)).map((gate) => [gate.id, gate]));
    const rules = ids.map((id) => rulesOf(gates.get(id)));
    if (rules.some(({ suspended }) => suspended !== null)) throw new PaymentError("ACCOUNT_SUSPENDED", {});
    const pause = rules.flatMap(({ pauses }) => pauses).find((each) => keepsOut(each, asked));
    if (pause !== undefined) throw this.#refusal(pause, asked.mode);
    const guards = ids.map((id): PaymentWrite => {
      const expectVersion = gates.get(id)?.version ?? 0;
      return { table: "gates", id, expectVersion };
    });
    return { guards, rules };
  }

  #refusal({ mint, type }: Pause, mode: unknown): PaymentError {
    if (mode === "private") {
      return new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: RETRY_SECONDS });
    }
    const asset = mint === undefined ? undefined : (this.#assets.ofMint(mint)?.symbol ?? mint);
    return new PaymentError("SERVICE_PAUSED", {
      scope: asset ?? type ?? "wallet",
      retryAfter: RETRY_SECONDS,
    });
  }
}

/** Whether a pause is on what is asked for: on all of it when the pause names nothing. */
function keepsOut({ mode, mint, type }: Pause, asked: Asked): boolean {
  return (
    (mode === undefined || mode === asked.mode) &&
    (mint === undefined || asked.mints.includes(mint)) &&
    (type === undefined || type === asked.type)
  );
}
