/** What is shown of transactions is of one state of the database, whatever their modes read. */
// modules: private
import { expect, test } from "vitest";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import { detailedTransactions, ownBody } from "../../../src/payments/frame/transactions/read-transaction.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { TransactionMode } from "../../../src/payments/frame/transactions/transaction-mode.ts";
import { orderDetails } from "../../../src/payments/private/order-details.ts";
import { signedDetails } from "../../../src/payments/frame/signed/signed-details.ts";
import { nullRows } from "../../contracts/storage/rows.ts";
import { refusal } from "../wallet/wallet-world.ts";

const assets = assetsWith(MAINNET_STABLECOINS);
const ada = { accountId: "ada", tier: "free", scopes: [] } as const;
const of = { id: "tx_order", accountId: "ada", mode: "private" } as const;
const view = { transaction: { ...nullRows.transactions, ...of }, recipients: [] };

/** A database that has an order's transaction and none of its own rows, and what was asked of it so far. */
function asked(): { readonly storage: PaymentStorage; readonly names: string[] } {
  const names: string[] = [];
  const answering = (name: string, answer: unknown) => async () => {
    names.push(name);
    return answer;
  };
  const storage = {
    transactionViews: answering("transactionViews", [view]),
    orderViews: answering("orderViews", []),
    refundsOf: answering("refundsOf", []),
    attemptsOfAny: answering("attemptsOfAny", []),
  };
  return { names, storage: storage as unknown as PaymentStorage };
}

const idle = {
  createdBody: async () => null,
  cancel: () => Promise.reject(new Error("nothing is cancelled")),
};
const modesOf = (storage: PaymentStorage): readonly TransactionMode[] => [
  { mode: "wallet", details: async () => (each) => signedDetails(each.transaction), ...idle },
  { mode: "private", details: (ids) => orderDetails({ storage, assets }, ids), ...idle },
];

test("a transaction, its order and its refunds are asked for in one turn", async () => {
  const { storage, names } = asked();
  const shown = refusal(ownBody({ storage, assets, modes: modesOf(storage) }, ada, of.id));
  expect(names).toEqual(["transactionViews", "orderViews", "refundsOf"]);
  await shown;
});

test("a transaction whose order is gone is gone, too", async () => {
  const { storage } = asked();
  const deps = { storage, assets, modes: modesOf(storage) };
  expect(await detailedTransactions(deps, [of.id])).toEqual([]);
  expect(await refusal(ownBody(deps, ada, of.id))).toMatchObject({ code: "TRANSACTION_NOT_FOUND" });
});
