/** What the list of an order's transactions says beside its deposits. */
// modules: private
import { afterEach, expect, it } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { OrderHistory } from "../../../src/ledger/order-reading.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { listHistory } from "../../../src/payments/private/list-history.ts";
import { storedOrder } from "../../../src/payments/private/look.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

const LOAN = 2n * 128n * 6_960n;

/** The transaction that is said to have given the loan back, of one with the order's key that gave the sponsor as much. */
async function loanBack(signature: string): Promise<string | null> {
  const { storage, ledger, clock, mints, order, sponsor } = world;
  const change = {
    signature,
    slot: 100,
    isOwn: true,
    changes: [-LOAN, 0n, 0n],
    payers: [null, null, null],
    markers: [],
    received: [{ owner: sponsor.address, mint: null, amount: LOAN - 10_000n }],
  };
  Object.assign(ledger, {
    changesOfOrder: async () => agreed<OrderHistory>({ changes: [change], more: null }),
  });
  const parts = { ledger, clock, assets: assetsWith(mints) };
  return (await listHistory(parts, await storedOrder({ storage }, order.id))).set.loanBack;
}

it("C26: a refund of ours whose cost is as high as the loan has not given it back; one of another copy has", async () => {
  world = await transferWorld({
    mint: "SOL",
    shares: [4_900_000_000n],
    cut: [1],
    fee: 100_000_000n,
    deposited: { lamports: 5_000_000_000n },
  });
  const id = await world.sendOut({ kind: "rest", n: 0 });
  await world.write({ table: "transfers", id, set: { signature: "ours" } });
  expect(await loanBack("ours")).toBeNull();
  expect(await loanBack("theirs")).toBe("theirs");
});
