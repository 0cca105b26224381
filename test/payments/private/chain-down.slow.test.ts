/** E10, E14: private orders of a service that starts without its chain: no deposit is routed, refunded or given up. */
// modules: private
import { expect } from "vitest";
import { keypairSigner, type Signer } from "../../../src/ledger/sign-transaction.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { createLocalChain } from "../../../src/local/index.ts";
import { solAt150 } from "../../kit/money.ts";
import { lateNode, live } from "../../service/late-node.ts";
import { HOUR, MINUTE } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

test("E10, E14: nothing is signed for a deposit while the chain is silent or another one; the right one finds it all", async ({
  open,
}) => {
  const world = await open();
  const { customer, alice, bob } = world;
  const paid = await world.sendTo();
  const unpaid = await world.sendTo();
  const quoted = await world.service.createQuote(customer, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "1",
    mode: "private",
    recipients: [{ address: bob.address, amount: "1" }],
  });
  await world.service.stop();
  world.chain.fund(paid.address, { usdc: paid.due });
  world.chain.advance(40);

  let signed = 0;
  const key = keypairSigner(world.sponsor.secretKey);
  const sponsor: Signer = {
    address: key.address,
    sign: (message) => {
      signed += 1;
      return key.sign(message);
    },
  };
  const privateRouting = { sponsor, treasury: world.treasury.address, prices: solAt150(world) };
  const node = lateNode();
  const late = world.another({ ledger: world.ledgerOf([node.option]), privateRouting });
  await late.start();
  await expect(late.cancelTransaction(customer, unpaid.id)).rejects.toThrow(LedgerUnavailable);
  await expect(
    late.createTransaction(customer, {
      type: "send",
      mode: "private",
      quoteId: quoted.body.quoteId,
      sender: alice.address,
      recipients: [{ address: bob.address, amount: "1" }],
    }),
  ).rejects.toMatchObject({ code: "ROUTING_UNAVAILABLE", details: { reason: "upstream" } });
  await live(world.clock, MINUTE);

  const elsewhere = await createLocalChain({ clock: world.clock, slotMs: 0, seed: "another chain" });
  elsewhere.advance(40);
  node.serves = elsewhere;
  await live(world.clock, 2 * MINUTE);
  // Every deadline of the orders is over, and none has passed: their deposits cannot be looked for.
  world.clock.advance(HOUR);
  await live(world.clock, MINUTE);
  expect((await late.health()).chain.state).toBe("refused");
  for (const { id } of [paid, unpaid]) {
    expect(await late.transaction(customer, id)).toMatchObject({ status: "pending" });
    expect((await world.storage.orderedTransaction(id))?.order?.transfers).toEqual([]);
  }
  expect([signed, node.sent()]).toEqual([0, 0]);
  await late.stop();
  await elsewhere.close();

  await world.service.start();
  await world.settle(10);
  expect(await world.shown(paid)).toMatchObject({ status: "completed" });
  await world.judge();
});
