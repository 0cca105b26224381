/** M3: a private swap that landed, and of which every node says for a while that it did not. */
// modules: private
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { PriceSource, Rate } from "../../../src/payments/frame/prices/prices.ts";
import { transferId } from "../../../src/payments/private/plan-transfer.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import { units } from "../../kit/money.ts";
import { INVENTORY, type SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest as test } from "../../kit/swap-test.ts";
import {
  deniesTransactions,
  hidesAccounts,
  isAhead,
  lyingNode,
  simulatesAnything,
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
    const marker = world.ledger.markerOf(address as never, "0");
    const lies: readonly Lie[] = [
      deniesTransactions,
      hidesAccounts(async (account) => account === marker),
      simulatesAnything,
    ];
    const ends = nodes.flatMap((node) => lies.map((lie) => node.tell(lie)));
    const attempts = async () => world.storage.attemptsOf(transferId({ order: id, kind: "chunk", n: 0 }));
    const givenBy = ({ legs }: AttemptRecord) => legs?.find(({ to }) => to === alice.address)?.amount;

    await world.deposit(address, { lamports: units(body.depositAmount, 9) });
    await world.settle(4);
    const [first] = await attempts();
    const got = (await world.held(alice.address))[1] - 1n;
    expect(first && givenBy(first)).toBe(got);
    // From now on its bytes are dead, as all nodes say.
    ends.push(...nodes.map((node) => node.tell(isAhead(1_000))));
    market.dollars = 148n;
    await live(world, 6);
    // Whatever was not seen to land was signed for anew, at the price of that moment.
    const meanwhile = await attempts();
    expect(meanwhile.length).toBeGreaterThan(1);
    expect(meanwhile.some((each) => givenBy(each) !== got)).toBe(true);

    for (const end of ends) end();
    await live(world, 12);
    const shown = await world.service.transaction(caller, id);
    expect(shown).toMatchObject({ status: "completed", reason: null, refunds: [] });
    // The later ones were refused by the chain.
    expect(shown.recipients[0]?.signature).toBe(first?.id);
    expect(units(shown.recipients[0]?.amount ?? "", 6)).toBe(got);
    expect((await world.held(alice.address))[1]).toBe(1n + got);
    expect((await world.held(world.desk))[1]).toBe((INVENTORY.usdc ?? 0n) - got);
    expect(await world.promised("USDC")).toBe(0n);
    expect(await world.held(address)).toEqual([0n, 0n, 0n]);
  },
);
