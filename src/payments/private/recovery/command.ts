/** `paystate operator recover`: brings back the orders of a journal that the database does not know. */
import { argument } from "../../../core/takes.ts";
import type { RecoveredOrder, RecoveryCommands } from "./recover.ts";
import { table } from "../../../core/table.ts";
import { acting } from "../../frame/acts/act-command.ts";

export const recover = acting(
  {
    name: "operator recover",
    help: "Brings back the orders of a recovery journal that the database does not know. Funds at their addresses go back to the senders.",
    takes: { file: argument("FILE", "a recovery journal") },
  },
  async (operator: RecoveryCommands, { file }, by) => {
    const { ordersIn } = await import("./orders-in.ts");
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
