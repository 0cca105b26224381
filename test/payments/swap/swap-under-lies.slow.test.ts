/** M3: a private swap that landed, and of which every node says for a while that it did not. */
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/address.ts";
import { readPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import type { PriceSource, Rate } from "../../../src/payments/prices/prices.ts";
import { units } from "../../kit/private-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { INVENTORY, type SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest as test } from "../../kit/swap-test.ts";
import {
  hidesAccounts,
  isAhead,
  lyingNode,
  simulatesAnything,
  withoutHistoryBefore,
  type Lie,
  type LyingNode,
} from "../private/lying-nodes.ts";
import { MINUTE, SOL } from "../private/scene.ts";

/** A market that a test moves. */
class Market implements PriceSource {
  /** Dollars for one SOL. */
  dollars = 150n;

  async rate(give: string, get: string): Promise<Rate> {
    const worth = (mint: string): bigint => (mint === SOL_MINT ? SOL : this.dollars * 1_000_000n);
    return { give: worth(give), get: worth(get) };
  }
}

/** Lets so many minutes pass as a service lives through them. */
async function live(world: SwapFixture, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    world.chain.advance(150);
    await world.pass(MINUTE);
    await world.settle(2);
  }
}

test(
  "M3: its next price was signed for and refused by the chain; with the truth it is completed, and shows what its payee got",
  { timeout: 120_000 },
  async ({ open }) => {
    const market = new Market();
    const nodes: LyingNode[] = [];
    const world = await open({
      desk: { prices: market },
      ledgerOn: ({ chain, ledgerOf }) => {
        nodes.push(lyingNode(chain, "node"));
        return ledgerOf(nodes.map(({ endpoint }) => endpoint));
      },
    });
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: SOL, usdc: 1n });
    world.chain.advance(35);
    const { body } = await world.orderSwap(caller, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
      slippageBps: 500,
    });
    const { transactionId: id, ephemeralAddress: address } = body;
    const seed = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash).seed(
      { masterVersion: 1, transactionId: id },
      "order",
    );
    const marker = world.ledger.markerAddress(address as never, seed);
    const lies: readonly Lie[] = [
      withoutHistoryBefore(Infinity),
      hidesAccounts(async (account) => account === marker),
      simulatesAnything,
      isAhead(1_000),
    ];
    const ends = nodes.flatMap((node) => lies.map((lie) => node.tell(lie)));
    const swaps = async () => {
      const { payments = [] } = (await world.storage.transaction(id)) ?? {};
      return payments.filter(({ kind }) => kind === "swap");
    };

    await world.deposit(address, { lamports: units(body.depositAmount, 9) });
    await world.settle(2);
    const [first] = await swaps();
    const got = (await world.held(alice.address))[1] - 1n;
    expect(got).toBe(first?.legs[0]?.amount);
    market.dollars = 148n;
    await live(world, 6);
    // Each price that got too old gave way to the next.
    const meanwhile = await swaps();
    expect(meanwhile.length).toBeGreaterThan(1);
    expect(meanwhile.find((each) => each.id === first?.id)).toMatchObject({ status: "failed" });
    expect(meanwhile.some(({ legs }) => legs[0]?.amount !== got)).toBe(true);

    for (const end of ends) end();
    await live(world, 12);
    expect((await world.storage.deposits([address]))[0]?.heldReason).toBeNull();
    const shown = await world.service.transaction(caller, id);
    expect(shown).toMatchObject({ status: "completed", reason: null, refunds: [] });
    // The later ones of these words were refused by the chain.
    const [landed] = readPlan(first?.plan ?? "{}").signatures ?? [];
    expect(shown.signatures).toEqual([landed]);
    expect(units(shown.recipients[0]?.amount ?? "", 6)).toBe(got);
    expect((await world.held(alice.address))[1]).toBe(1n + got);
    expect((await world.held(world.desk))[1]).toBe((INVENTORY.usdc ?? 0n) - got);
    expect(await world.promised("USDC")).toBe(0n);
    await world.sweep();
    expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  },
);
