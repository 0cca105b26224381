/** Changes what an operator has set for new transactions and quotes, in one commit with the row of the audit log. */
import { z } from "zod";
import { commitOne } from "../../../../storage/decided.ts";
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import { type Act, type WriteAct, OperatorRefused } from "../../frame/acts/act.ts";
import type { GateRecord } from "../../frame/tables/limits.ts";
import { everyRow } from "../../frame/tables/read.ts";
import { accountGate, rulesOf, SERVICE_GATE, type IntakeRules } from "../../frame/intake/rules.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Assets } from "../../frame/assets/assets.ts";

/** The most rounds of a change: of two operators who change one gate at once, one has to try again. */
const MAX_ROUNDS = 20;

/** The rules of every gate, by the gate's id. */
type AllRules = ReadonlyMap<string, IntakeRules>;

interface GateRuleStorageParts {
  readonly storage: Pick<FrameStorage, "gates" | "gatesAfter" | "commit">;
  readonly writeAct: WriteAct;
}

export class GateRuleStorage {
  readonly #storage: GateRuleStorageParts["storage"];
  readonly #writeAct: WriteAct;

  constructor({ storage, writeAct }: GateRuleStorageParts) {
    this.#storage = storage;
    this.#writeAct = writeAct;
  }

  /**
   * Changes the rules of an account, or with null the rules of all accounts. `change` gets the current rules and may
   * throw to refuse; it may be called again when another operator was faster. Change and audit row are one commit.
   */
  async change(
    accountId: string | null,
    change: (rules: IntakeRules) => IntakeRules,
    act: Act,
  ): Promise<void> {
    const id = accountId === null ? SERVICE_GATE : accountGate(accountId);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const [gate] = await this.#storage.gates([id]);
      const rules = JSON.stringify(change(rulesOf(gate)));
      const write: FrameWrite =
        gate === undefined
          ? { table: "gates", insert: { id, version: 1, rules } }
          : { table: "gates", id, set: { rules }, expectedVersion: gate.version };
      const result = await commitOne(this.#storage, { writes: [write, this.#writeAct(act)] });
      if (result.ok) return;
    }
    throw new Error(`the gate "${id}" was changed by others in every round`);
  }

  async all(): Promise<AllRules> {
    const found = new Map<string, IntakeRules>();
    const gates = everyRow<GateRecord>((last, limit) => this.#storage.gatesAfter(last?.id ?? "", limit));
    for await (const gate of gates) found.set(gate.id, rulesOf(gate));
    return found;
  }
}

/** Dependencies of the rules: storage, clock and assets. */
export interface GateParts {
  readonly gates: GateRuleStorage;
  readonly clock: Clock;
  readonly assets: Assets;
}

/** An account's id, as hosts may choose them. */
export const accountIdField = z.string().min(1).max(128);

/** The mint that a symbol or a mint names. Throws `OperatorRefused` for what is no asset of the service. */
export function mintOf(assets: Assets, asset: string): string {
  const found = assets.tokens.find(({ symbol, mint }) => symbol === asset || mint === asset);
  if (found !== undefined) return found.mint;
  const expected = assets.tokens.map(({ symbol }) => symbol).join(", ");
  throw new OperatorRefused(`asset: ${asset} is none of ${expected}`);
}
