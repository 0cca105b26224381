/** `paystate operator recover`: brings back the orders of a journal that the database does not know. */
// modules: private
import { argument } from "../define.ts";
import type { RecoveredOrder } from "../../payments/private/recovery/recover.ts";
import { table } from "../table.ts";
import { acting } from "./acting.ts";

export const recover = acting(
  {
    name: "operator recover",
    help: "Brings back the orders of a recovery journal that the database does not know. Funds at their addresses go back to the senders.",
    takes: { file: argument("FILE", "a recovery journal") },
  },
  async (operator, { file }, by) => {
    const { ordersIn } = await import("../operator/journal.ts");
    const addresses = await operator.recover(await ordersIn(file), by);
    return [{ addresses }, recoveryPage(addresses)];
  },
);

/** The page of a recovery: every order, with what lies at its address. */
function recoveryPage(addresses: readonly RecoveredOrder[]): string {
  const rows = addresses.map(({ transactionId, address, state, holdings }) => [
    ...[transactionId, address, state],
    holdings.map(({ asset, amount }) => `${amount} ${asset}`).join(", "),
  ]);
  return table(["transaction", "address", "state", "holds"], rows, "The list is empty.");
}
