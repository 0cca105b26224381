/** Rules of an operator for new transactions and quotes, and the writes that change them. */
import { z } from "zod";
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { GateRecord } from "../../frame/tables/limits.ts";
import { everyRow } from "../../frame/tables/read.ts";
import { accountGate, rulesOf, SERVICE_GATE, type IntakeRules } from "../../frame/intake/rules.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Assets } from "../../frame/assets/assets.ts";

/** The rules of every gate, by the gate's id. */
type AllRules = ReadonlyMap<string, IntakeRules>;

interface GateRuleStorageParts {
  readonly storage: Pick<FrameStorage, "gates" | "gatesAfter">;
}

/** A write that is refused where others have changed the gate since it was read. */
interface GateWrite {
  readonly gate: string;
  readonly write: FrameWrite;
}

export class GateRuleStorage {
  readonly #storage: GateRuleStorageParts["storage"];

  constructor({ storage }: GateRuleStorageParts) {
    this.#storage = storage;
  }

  /**
   * The changed rules of an account, or with null the rules of all accounts. `change` gets the current rules and may throw
   * to refuse.
   */
  async changed(accountId: string | null, change: (rules: IntakeRules) => IntakeRules): Promise<GateWrite> {
    const id = accountId === null ? SERVICE_GATE : accountGate(accountId);
    const [gate] = await this.#storage.gates([id]);
    const rules = JSON.stringify(change(rulesOf(gate)));
    const write: FrameWrite =
      gate === undefined
        ? { table: "gates", insert: { id, version: 1, rules } }
        : { table: "gates", id, set: { rules }, expectedVersion: gate.version };
    return { gate: id, write };
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
