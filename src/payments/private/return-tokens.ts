/** The payment that an operator has ordered: foreign tokens, planned by the chain's balances at that time. */
import type { ReturnParams } from "../../../machines/deposit-address-context.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { knownAddress, type Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Logger } from "../../runtime.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { nameOfMint } from "../outgoing/plans/other-mints.ts";
import { findReturn } from "../outgoing/plans/plan-return.ts";
import type { StartPayment } from "../outgoing/planned-payment.ts";
import type { SettlementOutcome } from "./settle-address.ts";
import { spendingReason } from "../outgoing/unknown-spending.ts";

/** The effect of the operator's word at a deposit address. */
export type ReturnHandler = (address: string, params: ReturnParams) => Promise<SettlementOutcome>;

export function returnTokens({
  log,
  startPayment,
  ...shared
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly keys: DepositKeys;
  readonly sponsor: Address;
  readonly log: Logger;
  readonly startPayment: StartPayment;
}): ReturnHandler {
  const { storage, ledger } = shared;
  return async (address, { mint, to, atMost, settledSlot }) => {
    const [deposit] = await storage.deposits([address]);
    const view = deposit === undefined ? null : await storage.transaction(deposit.transactionId);
    if (deposit === undefined || view === null) throw new Error(`deposit address ${address} is not stored`);
    if (deposit.heldReason !== null) return { event: { type: "HELD", reason: deposit.heldReason } };
    const doubt = await spendingReason({ storage, ledger }, deposit);
    if (doubt !== null) return { event: { type: "HELD", reason: doubt } };
    const receiver = knownAddress(to);
    const found = await findReturn(shared, {
      deposit,
      payments: view.payments,
      mint: knownAddress(mint),
      to: receiver,
      ...(atMost === undefined ? {} : { atMost: BigInt(atMost) }),
    });
    if (found === "nothing") return { event: { type: "NOTHING_TO_RETURN" } };
    if ("kind" in found) {
      if (found.kind === "fee_payer" || found.kind === "blockhash") {
        throw new Error(`${mint} cannot be sent on now: ${found.kind}, ${found.error}`);
      }
      // It was possible when the operator ordered it; whatever has changed, it is for the operator to see.
      log.warn({ address, mint, to, fault: found.kind }, "tokens that an operator returns cannot be sent");
      return { event: { type: "NOTHING_TO_RETURN" } };
    }
    if (found.slot < settledSlot) {
      throw new Error(`the ledger shows ${address} as it was before its last payment`);
    }
    const { start, write } = startPayment({
      transactionId: deposit.transactionId,
      address: deposit.id,
      kind: "refund",
      role: "own",
      mark: found.mark,
      mint: nameOfMint(mint),
      plan: found.plan,
      legs: [{ address: receiver, amount: found.amount }],
    });
    const balances = { [nameOfMint(mint)]: String(found.held) };
    const event = { type: "RETURN_PLANNED", payment: start.id, slot: found.slot, balances } as const;
    return { event, starts: [start], writes: [write] };
  };
}
