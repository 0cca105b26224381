/** Dependencies of pausing, suspending and limiting, and the two fields that their commands share. */
import { z } from "zod";
import type { Clock } from "../../../runtime.ts";
import type { Assets } from "../../assets/assets.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { GateRuleStorage } from "./gate-rule-storage.ts";

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
