/** Q10: the answer to a private order alone says where every unit of what came is. */
import { expect } from "vitest";
import { units } from "../../kit/money.ts";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";

type Asset = "SOL" | "USDC" | "USDT";

/** Expects that received = paid + refunds with their costs + fee + unreturned, asset by asset, and that nothing is missing. */
export function expectClosedBooks(answer: TransactionBody, decimals: Readonly<Record<Asset, number>>): void {
  const { received = [], refunds, unreturned = [] } = answer;
  expect(unreturned.filter(({ reason }) => reason === "missing")).toEqual([]);
  for (const [asset, digits] of Object.entries(decimals)) {
    const unitsOf = (amount: string): bigint => (amount === "0" ? 0n : units(amount, digits));
    const sum = (amounts: readonly string[]): bigint =>
      amounts.reduce((total, amount) => total + unitsOf(amount), 0n);
    const ofIt = <T extends { readonly asset: string }>(list: readonly T[]): readonly T[] =>
      list.filter((each) => each.asset === asset);
    const came = sum(ofIt(received).map(({ amount }) => amount));
    const back = sum(ofIt(refunds).flatMap(({ amount, cost }) => [amount, cost]));
    const rest = sum(ofIt(unreturned).map(({ amount }) => amount));
    const isInput = answer.inputAsset === asset;
    const kept = isInput ? paidOf(answer, unitsOf) + unitsOf(answer.fee ?? "0") : 0n;
    expect({ asset, came }).toEqual({ asset, came: kept + back + rest });
  }
}

/** In the input asset: a swap gives away what was quoted but its fee. */
function paidOf(
  { type, recipients, inputAmount, fee }: TransactionBody,
  unitsOf: (amount: string) => bigint,
): bigint {
  const paid = recipients.filter(({ status }) => status === "paid");
  if (type === "swap") return paid.length === 0 ? 0n : unitsOf(inputAmount) - unitsOf(fee ?? "0");
  return paid.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}
