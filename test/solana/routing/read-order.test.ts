/** One look at an order, from several endpoints, of which some lie, lag, run ahead, have other nodes behind them or say nothing. */
import { AuthorityType, createSetAuthorityInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { EndpointsDifferError, LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import type { OrderQuery, OrderReading } from "../../../src/ledger/order-reading.ts";
import { markerOwner } from "../../../src/solana/derived-addresses.ts";
import { gone, lyingAbout, noting, oddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";
import { runsOf } from "../../kit/thorough.ts";
import { elapsed } from "../scripted-node.ts";
import { keyOf, land } from "../signed-transaction.ts";
import { RATE, TOKEN_ACCOUNT, type OrderFixture } from "./order-fixture.ts";
import { orderTest } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;

/** What a node tells of an account. */
interface AccountJson {
  readonly owner: string;
  readonly lamports: number;
  readonly data: readonly [string, "base64"];
  readonly executable: boolean;
  readonly rentEpoch: number;
}

interface AccountsAnswer {
  readonly context: { readonly slot: number };
  readonly value: readonly (AccountJson | null)[];
}

interface World extends OrderFixture {
  /** Refused by a marker of length 1 at seed 0; holds 5 USDC, and 0.01 SOL. */
  readonly order: Party;
  readonly query: OrderQuery;
  /** A ledger over endpoints that follow these rules, of which two must agree, where there are two. */
  over(...rules: readonly (OddRule | undefined)[]): Ledger;
}

const test = orderTest.extend("world", async ({ open, onTestFinished }): Promise<World> => {
  const world = await open();
  const { party, must, buy, chain, ledgerOf, mints, sponsor } = world;
  const order = party({ usdc: 5n * USDC, lamports: 10_000_000n });
  await must([buy(order, "0", { length: 1 })], order);
  const query = {
    address: order.address,
    mints: [mints.USDC, mints.USDT],
    owners: [sponsor.address],
    seeds: ["0", "1", "r0"],
  };
  const over: World["over"] = (...rules) => {
    const ledger = ledgerOf(rules.map((rule, index) => oddEndpoint(chain, `node${index}`, rule).option));
    onTestFinished(() => ledger.close());
    return ledger;
  };
  return { ...world, order, query, over };
});

/** The answer of a ledger whose endpoints may have to be asked again after pauses. */
async function patiently<T>({ clock }: World, work: Promise<T>): Promise<T> {
  await elapsed(clock, work);
  return await work;
}

async function read(world: World, ledger: Ledger): Promise<OrderReading> {
  return await patiently(world, ledger.readOrder(world.query, "finalized"));
}

/** A node that tells something else of the account at this address. */
const telling =
  (address: string, lie: (account: AccountJson | null) => AccountJson | null): OddRule =>
  ({ method, params: [asked] }) =>
    method === "getMultipleAccounts"
      ? {
          kind: "lie",
          answer: ((honest: AccountsAnswer) => ({
            ...honest,
            value: honest.value.map((account, index) =>
              (asked as readonly string[])[index] === address ? lie(account) : account,
            ),
          })) as never,
        }
      : undefined;

const CLOCK = "SysvarC1ock11111111111111111111111111111111";
const RENT = "SysvarRent111111111111111111111111111111111";

/** A node that says it is at another slot, so many further. */
const ahead = (slots: number): OddRule =>
  lyingAbout("getMultipleAccounts", ({ context, value }: AccountsAnswer) => {
    const slot = context.slot + slots;
    const moved = value.map((account) => {
      const data = Buffer.from(account?.data[0] ?? "", "base64");
      // The clock is the only account of this length.
      if (account === null || data.length !== 40) return account;
      data.writeBigUInt64LE(BigInt(slot), 0);
      return { ...account, data: [data.toString("base64"), "base64"] };
    });
    return { context: { slot }, value: moved };
  });

const behind =
  (slots: number): OddRule =>
  () => ({ kind: "lag", slots });

/** What a node says the rent is, a byte. */
const rentOf = (perYear: bigint, years = 2): OddRule =>
  telling(RENT, (account) => {
    const data = Buffer.from(account?.data[0] ?? "", "base64");
    data.writeBigUInt64LE(perYear, 0);
    data.writeDoubleLE(years, 8);
    return account && { ...account, data: [data.toString("base64"), "base64"] };
  });

describe("what a look shows", () => {
  test("of the order and each owner the wallet and its accounts, the markers, the rent, slot and time of one block", async ({
    world,
  }) => {
    const { order, query, look, chain, clock, lamports, sponsor, rent } = world;
    const { told, markers, rentPerByte, witnesses } = await world.ledger.readOrder(query, "finalized");
    expect([markers, rentPerByte, witnesses]).toEqual([[1, null, null], RATE, 1]);
    expect(told).toEqual([
      {
        slot: chain.slot() - 32,
        blockTime: Math.floor(clock.now() / 1_000),
        endpoint: "local",
        rentPerByte: RATE,
        order: {
          lamports: 10_000_000n,
          accounts: [{ amount: 5n * USDC, lamports: rent(TOKEN_ACCOUNT), state: "usable" }, null],
        },
        owners: [{ lamports: await lamports(sponsor.address), accounts: [null, null] }],
        markers: [1, null, null],
      },
    ]);
    expect((await look(order, [])).told[0]?.markers).toEqual([]);
  });

  test("a frozen account, one that was given away, and lamports that no transfer moves", async ({
    world,
  }) => {
    const { party, nobody, freeze, order, look, ledger, rent, chain, ataOf } = world;
    const [frozen, giver, nothing] = [party({ usdc: 3n }), party({ lamports: SOL, usdc: 4n }), nobody()];
    await freeze(frozen.address);
    const { AccountOwner } = AuthorityType;
    const account = world.ata(giver.address);
    await land(world, {
      signers: [giver],
      instructions: [
        createSetAuthorityInstruction(account, keyOf(giver), AccountOwner, new PublicKey(nobody())),
      ],
    });
    // Lamports at an address where no account is.
    chain.fund(ataOf(nothing), { lamports: rent() });
    chain.advance(33);
    const { told } = await look(order, [], frozen.address, giver.address, nothing, world.mints.USDC);
    const lamports = rent(TOKEN_ACCOUNT);
    expect(told[0]?.owners.map(({ accounts }) => accounts)).toEqual([
      [{ amount: 3n, lamports, state: "frozen" }],
      [{ amount: 0n, lamports, state: "foreign" }],
      [null],
      [null],
    ]);
    expect(told[0]?.owners.at(-1)?.lamports).toBe(0n);
    await ledger.close();
  });

  test("C39: 72 chunks and ten redirects of an order with five owners and two tokens in one call", async ({
    world,
  }) => {
    const { query, over, party, sponsor } = world;
    const noted = noting("getMultipleAccounts");
    const ledger = over(noted);
    const chunks = Array.from({ length: 72 }, (_, index) => String(index));
    const redirects = Array.from({ length: 10 }, (_, index) => `r${index}`);
    const owners = [sponsor.address, party().address, party().address];
    const reading = await ledger.readOrder(
      { ...query, owners, seeds: [...chunks, ...redirects] },
      "finalized",
    );
    expect(reading.markers).toEqual([1, ...Array.from({ length: 81 }, () => null)]);
    const asked = noted.params.filter(([keys]) => (keys as readonly string[]).length > 1);
    expect(asked.map(([keys]) => (keys as readonly string[]).length)).toEqual([96]);
  });

  test("orders that are read at one moment share a call", async ({ world }) => {
    const { query, over, party } = world;
    const noted = noting("getMultipleAccounts");
    const ledger = over(noted);
    const orders = [world.order, party({ lamports: SOL }), party({ lamports: 2n * SOL })];
    const readings = await Promise.all(
      orders.map(({ address }) => ledger.readOrder({ ...query, address }, "finalized")),
    );
    expect(readings.map(({ markers }) => markers[0])).toEqual([1, null, null]);
    const asked = noted.params.filter(([keys]) => (keys as readonly string[]).length > 1);
    expect(asked).toHaveLength(1);
  });

  test("C19: a marker longer than any outcome is told as longer, and one of another owner as foreign", async ({
    world,
  }) => {
    const { order, sponsor, ledger, over, rent, markersOf } = world;
    const marker = new PublicKey(ledger.markerOf(order.address, "1"));
    const allocate = SystemProgram.allocate({
      accountPubkey: marker,
      basePubkey: keyOf(order),
      seed: "1",
      space: 9_000,
      programId: new PublicKey(markerOwner(order.address)),
    });
    const fund = SystemProgram.transfer({
      fromPubkey: keyOf(sponsor),
      toPubkey: marker,
      lamports: rent(9_000),
    });
    await land(world, { signers: [sponsor, order], instructions: [allocate, fund] });
    expect(await markersOf(order, "0", "1")).toEqual([1, 8_193]);
    const foreign = telling(ledger.markerOf(order.address, "0"), (account) => {
      return account && { ...account, owner: sponsor.address };
    });
    expect((await read(world, over(foreign))).markers).toEqual(["foreign", 8_193, null]);
  });

  test("at processed it shows what may still vanish", async ({ world }) => {
    const { order, buy, signed, ledger, query, chain } = world;
    const { bytes } = await signed([buy(order, "1", { length: 3 })], order);
    await ledger.broadcast(bytes);
    const markers = async (commitment: "processed" | "confirmed" | "finalized") =>
      (await ledger.readOrder(query, commitment)).markers[1];
    expect([await markers("processed"), await markers("finalized")]).toEqual([3, null]);
    chain.rollback(chain.slot() - 1);
    chain.advance(2);
    expect([await markers("processed"), await markers("confirmed")]).toEqual([null, null]);
  });

  test("a seed of no marker is a RangeError, before any node is asked", async ({ world }) => {
    const asked = world.over(gone).readOrder({ ...world.query, seeds: ["0", "01"] }, "finalized");
    await expect(asked).rejects.toThrow(RangeError);
  });

  test("whatever a node sends in place of a marker, it is a length, foreign, nothing or no answer at all", async ({
    world,
  }) => {
    const { ledger, order, over, sponsor } = world;
    const owner = markerOwner(order.address);
    let account: AccountJson | null = null;
    const liar = over(telling(ledger.markerOf(order.address, "0"), () => account));
    const SYSTEM = SystemProgram.programId.toBase58();
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom<string>(owner, SYSTEM, sponsor.address),
        async (bytes, program) => {
          const data = [Buffer.from(bytes).toString("base64"), "base64"] as const;
          account = { owner: program, lamports: 5, data, executable: false, rentEpoch: 0 };
          const [told] = (await read(world, liar)).markers;
          const isNothing = program === SYSTEM && bytes.length === 0;
          expect(told).toBe(program === owner ? bytes.length : isNothing ? null : "foreign");
        },
      ),
      { numRuns: runsOf(30) },
    );
  });
});

describe("a provider that takes fewer accounts a call", () => {
  /** A ledger over one endpoint that takes 9 accounts, with this rule. */
  const small = ({ chain, ledgerOf }: World, rule?: OddRule): Ledger =>
    ledgerOf([{ ...oddEndpoint(chain, "small", rule).option, accountsPerCall: 9 }]);

  test("is asked several times, each with the clock, and shows the same", async ({ world }) => {
    const noted = noting("getMultipleAccounts");
    const ledger = small(world, noted);
    const [reading, whole] = [await read(world, ledger), await read(world, world.ledger)];
    expect(reading.told).toEqual(whole.told.map((told) => ({ ...told, endpoint: "small.example" })));
    const asked = noted.params.map(([keys]) => keys as readonly string[]).filter(({ length }) => length > 1);
    expect(asked.map(({ length }) => length)).toEqual([9, 3]);
    expect(asked.every(([clock]) => clock === CLOCK)).toBe(true);
    await ledger.close();
  });

  test("its calls that met two blocks are asked again, and are no answer while they do", async ({
    world,
  }) => {
    const { chain } = world;
    let torn = 1;
    const tearing: OddRule = ({ method, params: [keys] }) => {
      if (method === "getMultipleAccounts" && (keys as readonly string[]).length === 3 && torn > 0) {
        torn -= 1;
        return { kind: "lag", slots: 3 };
      }
      return undefined;
    };
    const ledger = small(world, tearing);
    expect((await read(world, ledger)).markers).toEqual([1, null, null]);
    expect(torn).toBe(0);
    torn = Infinity;
    await expect(read(world, ledger)).rejects.toThrow(LedgerUnavailable);
    expect(chain.slot()).toBeGreaterThan(0);
    await ledger.close();
  });

  test("accounts of another block than their clock are no answer", async ({ world }) => {
    const torn = lyingAbout("getMultipleAccounts", ({ context, ...rest }: AccountsAnswer) => ({
      ...rest,
      context: { slot: context.slot + 1 },
    }));
    await expect(read(world, world.over(undefined, torn))).rejects.toThrow(LedgerUnavailable);
    await expect(read(world, world.over(torn))).rejects.toThrow(LedgerUnavailable);
  });
});

describe("K10: markers are what as many as must agree say alike", () => {
  const lies: Readonly<Record<string, (account: AccountJson | null) => AccountJson | null>> = {
    "that it was not made": () => null,
    "that only lamports are there": (account) =>
      account && { ...account, owner: SystemProgram.programId.toBase58(), data: ["", "base64"] },
    "that it has another length": (account) =>
      account && { ...account, data: [Buffer.alloc(4).toString("base64"), "base64"] },
    "that it has another owner": (account) => account && { ...account, owner: RENT },
  };

  test.for(Object.keys(lies))(
    "one of two that says %s makes a dispute, of three it is outvoted, and of which only it tells",
    async (name, { world }) => {
      const { ledger, order, over } = world;
      const liar = telling(ledger.markerOf(order.address, "0"), lies[name] ?? ((account) => account));
      for (const rules of [
        [liar, undefined],
        [undefined, liar],
      ]) {
        const two = over(...rules);
        expect((await read(world, two)).markers).toEqual(["disputed", null, null]);
        const subjects = (await two.disputes()).map(({ subject }) => subject);
        expect(subjects).toEqual([`the markers of ${order.address}`]);
      }
      const three = over(undefined, liar, undefined);
      expect((await read(world, three)).markers).toEqual([1, null, null]);
    },
  );

  test("one that invents a marker makes a dispute of it, and of three is outvoted", async ({ world }) => {
    const { ledger, order, over } = world;
    const owner = markerOwner(order.address);
    const made = { owner, lamports: 9, data: ["", "base64"], executable: false, rentEpoch: 0 } as const;
    const liar = telling(ledger.markerOf(order.address, "r0"), () => made);
    expect((await read(world, over(liar, undefined))).markers).toEqual([1, null, "disputed"]);
    expect((await read(world, over(liar, undefined, undefined))).markers).toEqual([1, null, null]);
    // All witnesses may lie: then nothing here can know better.
    expect((await read(world, over(liar, liar))).markers).toEqual([1, null, 0]);
  });

  test("two of four against two are a dispute", async ({ world }) => {
    const { ledger, order, over } = world;
    const liar = telling(ledger.markerOf(order.address, "0"), () => null);
    expect((await read(world, over(liar, undefined, liar, undefined))).markers[0]).toBe("disputed");
  });

  test("lamports at a marker, which anybody may send at any time, dispute nothing", async ({ world }) => {
    const { ledger, order, over } = world;
    const richer = telling(ledger.markerOf(order.address, "0"), (account) => {
      return account && { ...account, lamports: account.lamports + 7 };
    });
    const two = over(richer, undefined);
    expect((await read(world, two)).markers).toEqual([1, null, null]);
    expect(await two.disputes()).toEqual([]);
  });

  test("balances may differ: each answer has its own, the newest slot first", async ({ world }) => {
    const { order, over, chain } = world;
    chain.advance(10);
    const poorer = telling(order.address, (account) => account && { ...account, lamports: 1 });
    const { told } = await read(world, over(poorer, undefined, behind(4)));
    expect(told.map(({ order: { lamports }, endpoint }) => [lamports, endpoint])).toEqual([
      [1n, "node0.example"],
      [10_000_000n, "node1.example"],
      [10_000_000n, "node2.example"],
    ]);
  });

  test("fewer answers than must agree are none", async ({ world }) => {
    const { over } = world;
    for (const rules of [
      [undefined, gone],
      [gone, undefined],
      [gone, gone],
    ]) {
      await expect(read(world, over(...rules))).rejects.toThrow(LedgerUnavailable);
    }
    expect((await read(world, over(undefined, gone, undefined))).told).toHaveLength(2);
  });
});

describe("endpoints at other ends of the chain", () => {
  test("one a few slots behind has not heard of a marker: nothing is told of it yet, and nobody is accused", async ({
    world,
  }) => {
    const { order, buy, must, over } = world;
    await must([buy(order, "1")], order);
    const two = over(undefined, behind(34));
    const reading = await read(world, two);
    expect(reading.markers).toEqual([1, "disputed", null]);
    expect(reading.told.map(({ markers }) => markers[1])).toEqual([0, null]);
    expect(await two.disputes()).toEqual([]);
    expect((await read(world, over(undefined, behind(34), undefined))).markers).toEqual([1, 0, null]);
  });

  test.for([
    ["is stuck far behind", behind(60)],
    ["claims to be far ahead", ahead(1_000_000)],
  ] as const)("one that %s is left out of three; of two both are told", async ([, rule], { world }) => {
    const { over } = world;
    const three = await read(world, over(rule, undefined, undefined));
    expect(three.told.map(({ endpoint }) => endpoint)).toEqual(["node1.example", "node2.example"]);
    const two = await read(world, over(rule, undefined));
    expect(two.told).toHaveLength(2);
    const [newest, other] = two.told.map(({ slot }) => slot);
    expect(newest).toBeGreaterThan(other ?? Infinity);
  });
});

describe("K2: the rent is what as many as must agree say alike", () => {
  test("C4: half or ten times of it, told by one of two, is a dispute; of three it is outvoted; by all it is believed", async ({
    world,
  }) => {
    const { over } = world;
    for (const perYear of [1_740n, 34_800n]) {
      const liar = rentOf(perYear);
      await expect(read(world, over(liar, undefined))).rejects.toThrow(EndpointsDifferError);
      expect((await read(world, over(liar, undefined, undefined))).rentPerByte).toBe(RATE);
      expect((await read(world, over(liar, liar))).rentPerByte).toBe(2n * perYear);
    }
  });

  test("C4: none at all, or what is no number, is no answer, whoever tells it", async ({ world }) => {
    const { over } = world;
    for (const liar of [rentOf(0n), rentOf(3_480n, 0), rentOf(3_480n, Number.NaN), rentOf(3_480n, -2)]) {
      await expect(read(world, over(liar))).rejects.toThrow(LedgerUnavailable);
      await expect(read(world, over(liar, undefined))).rejects.toThrow(LedgerUnavailable);
    }
    await expect(read(world, over(telling(RENT, () => null)))).rejects.toThrow(LedgerUnavailable);
    expect((await read(world, over(rentOf(5_081n, 0.5)))).rentPerByte).toBe(2_541n);
  });

  test("it is that of the block, after it has changed", async ({ world }) => {
    world.reprice(5_080n);
    expect((await read(world, world.ledger)).rentPerByte).toBe(5_080n);
    expect(await world.ledger.rentMinimum(TOKEN_ACCOUNT)).toBe(world.rent(TOKEN_ACCOUNT));
  });
});
