/** Who paid in: asked once, when an order is funded; told where the chain shows one wallet, and null everywhere else. */
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { land } from "../../solana/signed-transaction.ts";
import { SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** A scene whose searches for payers are counted, with three who can pay. */
interface PaidScene extends Scene {
  readonly asked: string[];
  readonly carol: Wallet;
  payers(order: Ordered): Promise<readonly (string | null)[]>;
}

const test = sceneTest.extend("paid", async ({ open }): Promise<PaidScene> => {
  const asked: string[] = [];
  const world = await open({}, {}, ({ ledger }): Ledger => ({
    ...ledger,
    payersOf: async (owner, ...of) => {
      asked.push(owner);
      return await ledger.payersOf(owner, ...of);
    },
  }));
  const carol = world.wallet("carol", { lamports: 5n * SOL });
  world.chain.fund(world.alice.address, { lamports: 5n * SOL, usdc: 100_000_000n });
  world.chain.advance(35);
  return {
    ...world,
    asked,
    carol,
    async payers(order) {
      await world.passAndSettle(5_000, 3);
      const { received = [] } = await world.shown(order);
      return received.map(({ payer }) => payer);
    },
  };
});

test("Q2: the wallet that paid is named once the order is funded, not before, and not for what comes later", async ({
  paid: world,
}) => {
  const { alice, carol } = world;
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const part = 100_000_000n;
  await world.pay(alice, order.address, part);
  expect(await world.payers(order)).toEqual([null]);
  expect(world.asked).toEqual([]);
  await world.pay(carol, order.address, order.due - part);
  expect(await world.payers(order)).toEqual([alice.address, carol.address]);
  await world.pay(carol, order.address, part);
  expect(await world.payers(order)).toEqual([alice.address, carol.address, null]);
  expect(world.asked).toEqual([order.address]);
  await world.judge();
});

test("Q2: a token's payer is the owner of the account that it came from", async ({ paid: world }) => {
  const order = await world.sendTo();
  await world.openAccount({ ...world.alice, address: order.address as Wallet["address"] }, "USDC");
  await world.payTokens(world.alice, order.address, "USDC", order.due);
  expect(await world.payers(order)).toEqual([world.alice.address]);
  await world.judge();
});

test("Q2: of two wallets that gave alike, or in one transaction, neither is named", async ({
  paid: world,
}) => {
  const { alice, carol } = world;
  const alike = await world.sendTo({ asset: "SOL", amount: "1" });
  const half = alike.due / 2n + 1n;
  await world.pay(alice, alike.address, half);
  await world.passAndSettle(5_000, 2);
  await world.pay(carol, alike.address, half);
  expect(await world.payers(alike)).toEqual([null, null]);
  const together = await world.sendTo({ asset: "SOL", amount: "1" });
  const toPubkey = new PublicKey(together.address);
  const instructions = [alice, carol].map(({ address }) =>
    SystemProgram.transfer({ fromPubkey: new PublicKey(address), toPubkey, lamports: together.due }),
  );
  await land(world, { signers: [alice, carol], instructions });
  expect(await world.payers(together)).toEqual([null]);
  await world.judge();
});

test("Q2: what two wallets brought between two looks is not put down to one that gave as much alone", async ({
  paid: world,
}) => {
  const { alice, carol } = world;
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const half = order.due / 2n + 1n;
  await world.pay(alice, order.address, half);
  await world.passAndSettle(5_000, 2);
  await world.pay(carol, order.address, 50_000_000n);
  await world.pay(alice, order.address, half - 50_000_000n);
  expect(await world.payers(order)).toEqual([null, null]);
  const { received = [] } = await world.shown(order);
  expect(received[0]?.amount).toBe(received[1]?.amount);
  await world.judge();
});

test("Q2: where nodes do not tell who paid, the order is paid out all the same, and nobody is named", async ({
  open,
}) => {
  const world = await open({}, {}, ({ ledger }): Ledger => ({
    ...ledger,
    payersOf: () => Promise.reject(new LedgerUnavailable("nothing is listed")),
  }));
  world.chain.fund(world.alice.address, { lamports: 5n * SOL });
  world.chain.advance(35);
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  await world.pay(world.alice, order.address, order.due);
  await world.passAndSettle(60_000, 6);
  expect(await world.shown(order)).toMatchObject({ status: "completed", received: [{ payer: null }] });
  await world.judge();
});
