/** Changing what an operator has set for what is newly taken, together with the row of the audit log. */
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import type { Act, WriteAct } from "../act.ts";
import { accountGate, rulesOf, SERVICE_GATE } from "../../intake/rules.ts";
import type { IntakeRules } from "../../intake/rules.ts";

/** Two operators who change one gate at once take turns; more rounds than this are no race. */
const MAX_ROUNDS = 20;
const PAGE = 500;

/** What every gate says, by its id. */
export type AllRules = ReadonlyMap<string, IntakeRules>;

export interface GateBook {
  /**
   * Changes the rules of one account, or with null those of all. `change` sees the rules as they are and may throw to
   * refuse; change and audit row are one commit.
   */
  change(accountId: string | null, change: (rules: IntakeRules) => IntakeRules, act: Act): Promise<void>;
  /** All that is set. */
  all(): Promise<AllRules>;
}

export function createGateBook({
  storage,
  writeAct,
}: {
  readonly storage: Pick<PaymentStorage, "gates" | "gatesAfter" | "commit">;
  readonly writeAct: WriteAct;
}): GateBook {
  return {
    async change(accountId, change, act) {
      const id = accountId === null ? SERVICE_GATE : accountGate(accountId);
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const [gate] = await storage.gates([id]);
        const rules = JSON.stringify(change(rulesOf(gate)));
        const write: PaymentWrite =
          gate === undefined
            ? { table: "gates", insert: { id, version: 1, rules } }
            : { table: "gates", id, set: { rules }, expectedVersion: gate.version };
        const [result] = await storage.commit([{ writes: [write, writeAct(act)] }]);
        if (result?.ok === true) return;
      }
      throw new Error(`the gate "${id}" was changed by others in every round`);
    },

    async all() {
      const found = new Map<string, IntakeRules>();
      for (let after = ""; ;) {
        const page = await storage.gatesAfter(after, PAGE);
        for (const gate of page) found.set(gate.id, rulesOf(gate));
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return found;
        after = last.id;
      }
    },
  };
}
