/** Migrates deposit addresses from the first version of their chart. */
import type { DepositAddressContext } from "../../../machines/index.ts";
import type { PreviousInstance, MigratedInstance } from "../../engine/index.ts";
import type { Address } from "../../address.ts";
import type { PaymentTables } from "../tables.ts";

/** The context of the first version, in which an operator's word stayed for good, and served later payers too. */
interface FirstContext extends DepositAddressContext {
  readonly isReleased: boolean;
  readonly refundTo: Address | null;
}

/** An operator's word that the first version kept covers what that version had counted, and no more. */
export function fromFirstVersion({
  id,
  context: { isReleased, refundTo, ...context },
  now,
}: PreviousInstance<FirstContext>): MigratedInstance<never, DepositAddressContext, PaymentTables> {
  if (!isReleased) return { context };
  const { received, spent } = context;
  const left = Object.entries(received).map(([mint, all]): [string, string] => [
    mint,
    String(BigInt(all) - BigInt(spent[mint] ?? "0")),
  ]);
  const word = {
    id: `${id}:1`,
    address: id,
    step: 1,
    at: now,
    slot: null,
    signatures: [],
    came: received,
    refundTo,
    allowed: refundTo === null ? null : Object.fromEntries(left),
  };
  return { context, writes: [{ table: "vouchings", insert: word }] };
}
