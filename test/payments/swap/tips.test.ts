/** Swaps of the desk through a relay that wants a tip. */
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { lastTransfer, tipRelay, type TipRelay } from "../../kit/tip-relay.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest } from "../../kit/swap-test.ts";

const TIP = 100_000n;

interface TippedSwaps extends SwapFixture {
  readonly relay: TipRelay;
  readonly account: Address;
}

const test = swapTest.extend("tipped", async ({ open }): Promise<TippedSwaps> => {
  let made: Pick<TippedSwaps, "relay" | "account"> | undefined;
  const world = await open({
    ledgerOn({ chain, wallet, ledgerOf }): Ledger {
      const { address: account } = wallet("relay", { lamports: 1_000_000_000n });
      const relay = tipRelay(chain, [account], TIP);
      made = { relay, account };
      const ledger = ledgerOf([{ url: "http://node.example", fetch: chain.fetch }, relay.option]);
      return { ...ledger, time: async () => null };
    },
  });
  if (made === undefined) throw new Error("a world is opened with its ledger");
  return { ...world, ...made };
});

test("N16: a wallet's swap carries the tip at the sender's cost, told in fees.network, and lands", async ({
  tipped: world,
}) => {
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 5_000_000_000n, usdc: 50_000_000n });
  const { quote, body } = await world.swap(customer, {
    sender: alice,
    give: "USDC",
    get: "SOL",
    amount: "10",
  });
  const last = lastTransfer(Buffer.from(quote.transaction ?? "", "base64"));
  expect(last).toEqual({ from: alice.address, to: world.account, lamports: TIP });
  expect(Number(quote.fees.network)).toBeGreaterThan(0.0001);
  await world.finalize();
  expect(await world.service.transaction(customer, body.transactionId)).toMatchObject({
    status: "completed",
    fee: quote.fees.network,
  });
  expect(world.relay.sent.size).toBe(1);
  expect(await world.service.operator.attention()).toEqual([]);
});
