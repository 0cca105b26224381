/** What an operator does to a transaction by its id: in one commit with its row of the audit log, or not at all. */
import { describe, expect, test as base } from "vitest";
import type { ActContext } from "../../../src/payments/intake/rules.ts";
import { depositContext } from "../../../src/payments/deposit-context.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { OperatorRefused } from "../../../src/payments/operator/act.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import { mortalProcess, type Death } from "../../kit/mortal.ts";
import { opener } from "../../kit/opener.ts";
import { recordStorage, type StorageLog } from "../../kit/record-storage.ts";
import { drawn } from "../../kit/thorough.ts";
import { foreignMint } from "../private/foreign-mint.ts";
import { MINUTE, sceneOn, type Scene } from "../private/scene.ts";
import { signatureOf } from "../wallet/wallet-world.ts";

const BEA: ActContext = { actor: "bea", reason: "the customer has called" };

const worldOn = (adapter: Adapter): Promise<Scene> => sceneOn(adapter, { broadcastDelayMs: 5_000 });

const test = base.extend("open", ({ onTestFinished }) => opener(worldOn, onTestFinished));

/** An act that waits to be done, while no service is at work. */
interface Prepared {
  readonly perform: (service: PaymentService, by: ActContext) => Promise<unknown>;
  /** The instance that it makes a step of. */
  readonly instance: string;
  /** What its row says. */
  readonly row: { readonly act: string; readonly what: Readonly<Record<string, unknown>> };
}

/** An order whose deposit window is over, and nothing came. */
async function prepareRelease(world: Scene): Promise<Prepared> {
  const { id: transactionId, address } = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  await world.service.stop();
  return {
    perform: ({ operator }, by) => operator.releaseDeposit(transactionId, by),
    instance: address,
    row: { act: "release", what: { transactionId, address, heldReason: null } },
  };
}

/** A cancelled order, at whose address tokens of another mint lie. */
async function prepareReturn(world: Scene): Promise<Prepared> {
  const order = await world.sendTo();
  const { mint, give } = await foreignMint(world, "token-2022");
  await give(order.address, 7n);
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  await world.service.stop();
  const what = { transactionId: order.id, address: order.address, mint, to: world.alice.address };
  return {
    perform: ({ operator }, by) => operator.returnTokens(order.id, { mint }, by),
    instance: order.address,
    row: { act: "return_tokens", what: { ...what, amount: "0.000007", left: "0" } },
  };
}

/** A payment that was cancelled, and was landed by its caller while no service was at work. */
async function prepareSettle(world: Scene): Promise<Prepared> {
  const { customer, service, alice, bob } = world;
  const { body } = await world.prepareSend(customer, {
    from: alice,
    to: bob.address,
    amount: "0.1",
    asset: "SOL",
  });
  const request = { ...body, recipients: [...body.recipients] };
  const { transactionId } = (await service.createTransaction(customer, request)).body;
  await service.cancelTransaction(customer, transactionId);
  await service.stop();
  await world.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
  world.chain.advance(40);
  const landing = { transactionId, signature: signatureOf(body.signedTransaction) };
  return {
    perform: ({ operator }, by) => operator.settleTransaction(landing, by),
    instance: transactionId,
    row: { act: "settle", what: landing },
  };
}

const ACTS = [
  { name: "releaseDeposit", prepare: prepareRelease, again: "done" },
  { name: "returnTokens", prepare: prepareReturn, again: "is at work" },
  { name: "settleTransaction", prepare: prepareSettle, again: "is settled already" },
] as const;

const versionOf = async ({ storage }: Scene, { instance }: Prepared): Promise<number> =>
  (await storage.load(instance))?.version ?? 0;

/** Holds an address, as for a refused depositor. */
async function hold({ storage }: Scene, address: string, heldReason = "screening"): Promise<void> {
  const write = { table: "deposits", id: address, set: { heldReason } } as const;
  await storage.commit([{ writes: [write] }]);
}

const rowsOf = ({ service }: Scene) => service.operator.auditLog();

/** Every release has vouched for what was there, in the same commit. */
async function expectOneWordEach(world: Scene, { instance }: Prepared): Promise<void> {
  const releases = (await rowsOf(world)).filter(({ act }) => act === "release");
  expect(await world.storage.vouchings(instance)).toHaveLength(releases.length);
}

/** What each of several who act at once got. */
async function allOf(work: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(work);
  return settled
    .map((each) => (each.status === "fulfilled" ? "done" : (each.reason as Error).name))
    .toSorted();
}

describe.each(drawn(adapters, "acts on transactions"))("on $name", (adapter) => {
  describe.each(ACTS)("$name", ({ prepare, again }) => {
    test("is one step, in one commit with one row that says who, why and what", async ({ open }) => {
      const world = await open(adapter);
      const prepared = await prepare(world);
      const log: StorageLog = { commits: [], claims: [] };
      const storage = recordStorage(world.storage, log, () => world.clock.now());
      await prepared.perform(world.another({ storage }), BY);
      expect(await rowsOf(world)).toMatchObject([{ ...BY, ...prepared.row }]);
      const acted = log.commits.filter(({ commit }) =>
        (commit.writes ?? []).some(({ table }) => table === "audit"),
      );
      expect(acted).toHaveLength(1);
      expect(acted[0]?.commit.history?.map(({ instance }) => instance)).toContain(prepared.instance);
    });

    test("done once more it leaves no second row, unless it grants something once more", async ({ open }) => {
      const world = await open(adapter);
      const prepared = await prepare(world);
      await prepared.perform(world.another(), BY);
      const second = prepared.perform(world.another(), BEA).then(
        () => "done",
        (error: unknown) => String(error),
      );
      expect(await second).toContain(again);
      const actors = (await rowsOf(world)).map(({ actor }) => actor);
      expect(actors).toEqual(again === "done" ? ["ann", "bea"] : ["ann"]);
    });

    test("of two who do it at once one does, and leaves the one row", async ({ open }) => {
      const world = await open(adapter);
      const prepared = await prepare(world);
      const before = await versionOf(world, prepared);
      const both = [BY, BEA].map((by) => prepared.perform(world.another(), by));
      expect(await allOf(both)).toEqual(["OperatorRefused", "done"]);
      expect(await rowsOf(world)).toHaveLength(1);
      expect(await versionOf(world, prepared)).toBe(before + 1);
    });

    test.each([
      [{ actor: " ", reason: "drill" }, /^actor: /],
      [{ actor: "ann", reason: "" }, /^reason: /],
      [undefined as never, /expected object/],
    ])("by %o it is refused, and nothing is done", async (by, sentence) => {
      const world = await worldOn(adapter);
      try {
        const prepared = await prepare(world);
        const before = await versionOf(world, prepared);
        const refused = prepared.perform(world.service, by);
        await expect(refused).rejects.toThrow(sentence);
        await expect(refused).rejects.toBeInstanceOf(OperatorRefused);
        expect(await rowsOf(world)).toEqual([]);
        expect(await versionOf(world, prepared)).toBe(before);
      } finally {
        await world.close();
      }
    });

    test.each(["before", "after"] as const)(
      "killed %s any of its commits it leaves as many rows as steps, and whoever does it again finishes it",
      async (moment) => {
        let deaths = 0;
        for (let nth = 1; await diedAt({ method: "commit", nth, moment }); nth++) deaths += 1;
        expect(deaths).toBeGreaterThan(0);
      },
    );

    /** Whether there was such a moment to die at. */
    async function diedAt(death: Death): Promise<boolean> {
      const world = await worldOn(adapter);
      try {
        const prepared = await prepare(world);
        const before = await versionOf(world, prepared);
        const process = mortalProcess(death);
        const mortal = world.another({
          storage: process.within(world.storage),
          ledger: process.within(world.ledger),
        });
        await Promise.race([prepared.perform(mortal, BY), process.died]);
        expect(await rowsOf(world)).toHaveLength((await versionOf(world, prepared)) - before);
        await expectOneWordEach(world, prepared);
        await allOf([prepared.perform(world.another(), BEA)]);
        const rows = await rowsOf(world);
        expect(rows).toHaveLength((await versionOf(world, prepared)) - before);
        expect(rows.length).toBeGreaterThan(0);
        await expectOneWordEach(world, prepared);
        return process.isDead();
      } finally {
        await world.close();
      }
    }
  });

  test("of one who releases an address by its transaction and one who resolves its matter at once one does", async ({
    open,
  }) => {
    const world = await open(adapter);
    const { perform, instance } = await prepareRelease(world);
    await hold(world, instance);
    const both = [
      perform(world.another(), BY),
      world.another().operator.resolve(`held:${instance}`, { action: "release" }, BEA),
    ];
    expect(await allOf(both)).toEqual(["OperatorRefused", "done"]);
    expect(await rowsOf(world)).toHaveLength(1);
  });

  test.for([
    ["by its transaction", "by its matter"],
    ["by its matter", "by its transaction"],
  ] as const)(
    "M29: of two releases at once, the address held for something else meanwhile, the one %s overtaken by the one %s, one is done",
    async ([first, second], { open }) => {
      const world = await open(adapter);
      const { id } = await world.sendTo();
      await world.passAndSettle(31 * MINUTE);
      await world.service.stop();
      const { depositAddress: address } = (await world.storage.transaction(id))?.transaction ?? {};
      if (address === undefined || address === null) throw new Error("the order has an address");
      await hold(world, address, "screening");
      const release = {
        "by its transaction": ({ operator }: PaymentService, by: ActContext) =>
          operator.releaseDeposit(id, by),
        "by its matter": async ({ operator }: PaymentService, by: ActContext) => {
          const [matter] = await operator.attention();
          return operator.resolve(matter?.id ?? "", { action: "release" }, by);
        },
      };
      const allowanceOf = async (): Promise<bigint> =>
        BigInt((await depositContext(world.storage, address)).allowance);
      const before = await allowanceOf();
      const { sponsorCap } = await depositContext(world.storage, address);
      // While the first looks at the chain the address is held for another reason, and released by the second.
      const overtaken = world.another({
        ledger: {
          ...world.ledger,
          async signedBy(...asked) {
            await hold(world, address, "unknown_spending");
            await release[second](world.another(), BEA);
            return world.ledger.signedBy(...asked);
          },
        },
      });
      await expect(release[first](overtaken, BY)).rejects.toThrow("somebody else has just decided");
      expect((await rowsOf(world)).map(({ actor }) => actor)).toEqual(["bea"]);
      expect((await allowanceOf()) - before).toBe(BigInt(sponsorCap));
    },
  );

  test("M29: a release reads its transaction and its deposit once", async ({ open }) => {
    const world = await open(adapter);
    const { perform, instance } = await prepareRelease(world);
    await hold(world, instance, "screening");
    const read: string[] = [];
    const note = (name: string): void => {
      if (name === "transactions" || name === "deposits") read.push(name);
    };
    const storage: PaymentStorage = {
      ...world.storage,
      get(table, key) {
        note(table.name);
        return world.storage.get(table, key);
      },
      find(query) {
        note(query.table.name);
        return world.storage.find(query);
      },
    };
    await perform(world.another({ storage }), BY);
    expect(read).toEqual(["transactions", "deposits"]);
  });

  test("M10: what waits for a second person waits no more once the address was released", async ({
    open,
  }) => {
    const world = await open(adapter);
    const { perform, instance } = await prepareRelease(world);
    await hold(world, instance);
    const { operator } = world.another({ approvals: 2 });
    const { address } = world.wallet("dave", { lamports: 1_000_000_000n });
    await operator.resolve(`held:${instance}`, { action: "refundTo", address }, BY);
    await perform(world.another(), BY);
    await hold(world, instance);
    await expect(operator.approve(`held:${instance}`, { address }, BEA)).rejects.toThrow(
      "waits for an approval",
    );
  });

  test("an act on what is no such transaction is refused by its id, and leaves no row", async ({ open }) => {
    const world = await open(adapter);
    const { operator } = world.service;
    await expect(operator.releaseDeposit("tx_0", BY)).rejects.toThrow("there is no private transaction tx_0");
    await expect(operator.returnTokens("tx_0", { mint: world.mints.USDC }, BY)).rejects.toThrow(
      "there is no private transaction tx_0",
    );
    const { id } = await world.sendTo();
    await expect(operator.settleTransaction({ transactionId: id, signature: "S" }, BY)).rejects.toThrow(
      `S settles no payment of transaction ${id}: no payment of it waits`,
    );
    expect(await rowsOf(world)).toEqual([]);
  });
});
