/** Reading markers and heights from several endpoints, of which some lie, lag, have other nodes behind them or say nothing. */
import { TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { TOKEN_ACCOUNT_BYTES, type Marker } from "../../../src/ledger/routing.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import { blockClock } from "../../kit/chain-fixture.ts";
import { allOf, gone, lyingAbout, noting, oddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";
import { routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";
import { runsOf } from "../../kit/thorough.ts";

const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
const SOL = 1_000_000_000n;

let fixture: RoutingFixture;
let deposit: Party;
let rent: bigint;
const opened: Ledger[] = [];
beforeEach(async () => {
  fixture = await routingFixture();
  deposit = fixture.party({ lamports: 10n * SOL });
  rent = await fixture.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
});
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
  await fixture.close();
});

/** A ledger over endpoints that follow these rules, of which so many must agree. */
function ledgerOver(witnesses: number, ...rules: readonly OddRule[]): Ledger {
  const { chain, clock } = fixture;
  const endpoints = rules.map((rule, index) => oddEndpoint(chain, `node${index}`, rule).option);
  const ledger = solanaLedger({ endpoints, witnesses, clock: blockClock(chain, clock) });
  opened.push(ledger);
  return ledger;
}

const honest: OddRule = () => undefined;

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

/** A node that changes what it says of every account but the clock. */
const liar = (lie: (account: AccountJson | null) => AccountJson | null): OddRule =>
  lyingAbout("getMultipleAccounts", ({ value: [clock = null, ...accounts], ...rest }: AccountsAnswer) => ({
    ...rest,
    value: [clock, ...accounts.map(lie)],
  }));

/** A node that knows the chain as it was so many slots ago, in the answers to these methods. */
const late =
  (slots: number, ...methods: readonly string[]): OddRule =>
  ({ method }) =>
    methods.includes(method) ? { kind: "lag", slots } : undefined;

/** Somebody else's account as a node could make it up. */
function madeUp(change: (data: Buffer) => void, owner = TOKEN_PROGRAM_ID.toBase58()): AccountJson {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  data.set(new PublicKey(WRAPPED_SOL).toBytes(), 0);
  data.set(new PublicKey(deposit.address).toBytes(), 32);
  data[108] = 1;
  change(data);
  return {
    owner,
    lamports: 5_000_000,
    data: [data.toString("base64"), "base64"],
    executable: false,
    rentEpoch: 0,
  };
}

async function told(ledger: Ledger, ...seeds: readonly string[]): Promise<readonly Marker[]> {
  return (await ledger.markers(deposit.address, seeds)).markers;
}

async function replaceAndMark(): Promise<void> {
  const { plan, replace, mark, carryOut } = fixture;
  await carryOut(plan(replace(deposit, "plan"), mark(deposit, "paid")), deposit);
}

const truth = (): readonly Marker[] => [
  { delegate: fixture.ledger.markerAddress(deposit.address, "plan"), lamports: rent },
  { delegate: null, lamports: rent },
  "unmade",
];
const ALL = ["payout", "paid", "never"] as const;

describe("markers", () => {
  test("two endpoints that agree tell what stands there, the slot, the time and a height of before", async () => {
    await replaceAndMark();
    const { chain, ledger, clock } = fixture;
    const reading = await ledgerOver(2, honest, honest).markers(deposit.address, ALL);
    expect(reading.markers).toEqual(truth());
    expect(reading.slot).toBe(chain.slot() - 32);
    expect(reading.blockHeight).toBe((await ledger.heights("finalized")).lowest);
    expect(reading.blockTime).toBe(Math.floor(clock.now() / 1_000));
    expect(["node0.example", "node1.example"]).toContain(reading.endpoint);
  });

  test("M1: a marker is told by a node that knows no history and whatever was sent to its address", async () => {
    await replaceAndMark();
    const dust = await fixture.ledger.rentMinimum(0);
    fixture.chain.fund(fixture.ledger.markerAddress(deposit.address, "never"), { lamports: dust });
    fixture.chain.fund(fixture.ledger.markerAddress(deposit.address, "paid"), { lamports: 1n });
    fixture.chain.advance(33);
    const history = ["getSignaturesForAddress", "getTransaction", "getSignatureStatuses"];
    const forgetful = allOf(...history.map((method) => lyingAbout(method, () => null)));
    const [replaced, , never] = truth();
    const paid = { delegate: null, lamports: rent + 1n };
    expect(await told(ledgerOver(2, forgetful, forgetful), ...ALL)).toEqual([replaced, paid, never]);
  });

  test("M3: one endpoint of two that lies makes a dispute of what it lies about, and of nothing else", async () => {
    await replaceAndMark();
    const lies: Readonly<Record<string, (account: AccountJson | null) => AccountJson | null>> = {
      "it was not made": () => null,
      "there are lamports only": (account) =>
        account && { ...account, owner: SystemProgram.programId.toBase58(), data: ["", "base64"] },
      "it was made": (account) => account ?? madeUp(() => undefined),
      "it was not replaced": (account) => account && madeUp(() => undefined),
      "it was replaced": () =>
        madeUp((data) => {
          data[72] = 1;
          data.set(new PublicKey(fixture.sponsor.address).toBytes(), 76);
        }),
    };
    const disputes = {
      "it was not made": ["disputed", "disputed", "unmade"],
      "there are lamports only": ["disputed", "disputed", "unmade"],
      "it was made": [truth()[0], truth()[1], "disputed"],
      "it was not replaced": ["disputed", truth()[1], "unmade"],
      "it was replaced": ["disputed", "disputed", "disputed"],
    };
    for (const [name, lie] of Object.entries(lies)) {
      for (const fetches of [
        [honest, liar(lie)],
        [liar(lie), honest],
        // Two that agree do not outvote a third: nothing is concluded while anybody differs.
        [honest, honest, liar(lie)],
      ]) {
        expect(await told(ledgerOver(2, ...fetches), ...ALL), name).toEqual(
          disputes[name as keyof typeof disputes],
        );
      }
    }
  });

  test("what no chain can hold at a marker's address is disputed, though every endpoint tells it", async () => {
    const impossible: readonly AccountJson[] = [
      madeUp((data) => data.fill(1, 0, 32)),
      madeUp((data) => data.fill(1, 32, 64)),
      madeUp((data) => (data[108] = 0)),
      madeUp((data) => (data[108] = 2)),
      madeUp((data) => (data[72] = 2)),
      madeUp(() => undefined, fixture.sponsor.address),
      madeUp(() => undefined, SystemProgram.programId.toBase58()),
      { ...madeUp(() => undefined), data: [Buffer.alloc(166, 1).toString("base64"), "base64"] },
      { ...madeUp(() => undefined), data: ["", "base64"] },
    ];
    for (const [index, account] of impossible.entries()) {
      expect(
        await told(
          ledgerOver(
            1,
            liar(() => account),
          ),
          "any",
        ),
        String(index),
      ).toEqual(["disputed"]);
      expect(
        await told(
          ledgerOver(
            2,
            liar(() => account),
            liar(() => account),
          ),
          "any",
        ),
      ).toEqual(["disputed"]);
    }
    expect(
      await told(
        ledgerOver(
          1,
          liar(() => madeUp(() => undefined)),
        ),
        "any",
      ),
    ).toEqual([{ delegate: null, lamports: 5_000_000n }]);
  });

  test("whatever bytes a node sends, the answer is a marker, a dispute or no answer at all", async () => {
    let account: AccountJson | null = null;
    const ledger = ledgerOver(
      1,
      liar(() => account),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 165, maxLength: 165 })),
        fc.constantFrom(TOKEN_PROGRAM_ID.toBase58(), SystemProgram.programId.toBase58()),
        async (data, owner) => {
          account = {
            ...madeUp(() => undefined, owner),
            data: [Buffer.from(data).toString("base64"), "base64"],
          };
          const isPlain = owner === SystemProgram.programId.toBase58() && data.length === 0;
          expect(await told(ledger, "any")).toEqual([isPlain ? "unmade" : "disputed"]);
        },
      ),
      { numRuns: runsOf(100) },
    );
  });

  test("where only the lamports differ, the fewest are told: who sends one in every block disputes nothing", async () => {
    await replaceAndMark();
    const richer = liar((account) => account && { ...account, lamports: account.lamports + 7 });
    for (const fetches of [
      [honest, richer],
      [richer, honest],
    ]) {
      expect(await told(ledgerOver(2, ...fetches), ...ALL)).toEqual(truth());
    }
  });

  test("fewer answers than witnesses are none: LedgerUnavailable with one silent of two", async () => {
    for (const fetches of [
      [honest, gone],
      [gone, honest],
      [gone, gone],
    ]) {
      const work = ledgerOver(2, ...fetches).markers(deposit.address, ["any"]);
      await expect(patiently(work)).rejects.toBeInstanceOf(LedgerUnavailable);
    }
    expect(await patiently(told(ledgerOver(2, honest, gone, honest), "any"))).toEqual(["unmade"]);
    expect(await patiently(told(ledgerOver(1, gone, honest), "any"))).toEqual(["unmade"]);
    const disputing = told(
      ledgerOver(
        2,
        honest,
        gone,
        liar(() => madeUp(() => undefined)),
      ),
      "any",
    );
    expect(await patiently(disputing)).toEqual(["disputed"]);
  });

  test("an endpoint that lags disputes what it has not heard of yet, and the lowest height and slot are told", async () => {
    const before = (await fixture.ledger.heights("finalized")).lowest;
    await replaceAndMark();
    const lagging = late(34, "getEpochInfo", "getMultipleAccounts", "getSlot");
    const reading = await ledgerOver(2, honest, lagging).markers(deposit.address, ALL);
    expect(reading.markers).toEqual(["disputed", "disputed", "unmade"]);
    expect(reading.blockHeight).toBeLessThanOrEqual(before);
    expect(reading.endpoint).toBe("node1.example");
    const alone = await ledgerOver(1, lagging).markers(deposit.address, ALL);
    expect(alone.markers).toEqual(["unmade", "unmade", "unmade"]);
    expect([alone.slot, alone.blockHeight]).toEqual([reading.slot, reading.blockHeight]);
  });

  test("accounts of a node that is behind the height told by another of the same name are no answer", async () => {
    await replaceAndMark();
    // One that keeps to the minimum slot refuses, one that does not is caught by its slot.
    const refusing = late(5, "getMultipleAccounts");
    const ignoring = lyingAbout("getMultipleAccounts", ({ context, value }: AccountsAnswer) => {
      const [clock, ...accounts] = value;
      const data = Buffer.from(clock?.data[0] ?? "", "base64");
      const slot = context.slot - 5;
      data.writeBigUInt64LE(BigInt(slot), 0);
      return {
        context: { slot },
        value: [{ ...clock, data: [data.toString("base64"), "base64"] }, ...accounts],
      };
    });
    for (const behind of [refusing, ignoring]) {
      const work = ledgerOver(2, honest, behind).markers(deposit.address, ALL);
      await expect(patiently(work)).rejects.toBeInstanceOf(LedgerUnavailable);
    }
    // The next try meets a node that is not behind.
    let calls = 0;
    const balanced: OddRule = (request) =>
      request.method === "getMultipleAccounts" && (calls += 1) === 1 ? ignoring(request) : undefined;
    expect(await patiently(told(ledgerOver(2, honest, balanced), ...ALL))).toEqual(truth());
  });

  test("accounts of another block than their clock are no answer", async () => {
    const torn = lyingAbout("getMultipleAccounts", ({ context, ...rest }: AccountsAnswer) => ({
      ...rest,
      context: { ...context, slot: context.slot + 1 },
    }));
    const work = ledgerOver(2, honest, torn).markers(deposit.address, ALL);
    await expect(patiently(work)).rejects.toBeInstanceOf(LedgerUnavailable);
  });

  test("what has landed and is not finalized is unmade, and stays so when a fork takes it", async () => {
    const { ledger, plan, mark, sign, chain } = fixture;
    const { bytes, signature } = await sign(plan(mark(deposit)), deposit);
    await ledger.broadcast(bytes);
    chain.advance(31);
    expect((await ledger.statuses([signature]))[0]?.commitment).toBe("confirmed");
    expect(await told(ledger, "payout")).toEqual(["unmade"]);
    chain.rollback(chain.slot() - 32);
    chain.advance(40);
    expect(await told(ledger, "payout")).toEqual(["unmade"]);
  });

  test("P26: of more markers than a call takes, each in its place, in calls of 100 accounts or what the provider takes", async () => {
    await replaceAndMark();
    const [all, few] = [noting("getMultipleAccounts"), noting("getMultipleAccounts")];
    const sizes = ({ params }: typeof all) => params.map(([keys]) => (keys as readonly unknown[]).length);
    const seeds = Array.from({ length: 230 }, (_, index) => ["never", "paid", "payout"][index % 3] ?? "");
    const [replaced, paid, never] = truth();
    const expected = seeds.map((_, index) => [never, paid, replaced][index % 3]);
    expect(await told(ledgerOver(1, all), ...seeds)).toEqual(expected);
    expect(sizes(all)).toEqual([100, 100, 33]);
    const { chain, clock } = fixture;
    const small = solanaLedger({
      endpoints: [{ ...oddEndpoint(chain, "small", few).option, accountsPerCall: 50 }],
      clock: blockClock(chain, clock),
    });
    opened.push(small);
    expect(await told(small, ...seeds)).toEqual(expected);
    expect(Math.max(...sizes(few))).toBe(50);
    expect(await told(small)).toEqual([]);
  });

  test("a seed that no marker has is a RangeError, before any node is asked", async () => {
    for (const seed of ["", "x".repeat(33), "two words"]) {
      await expect(ledgerOver(1, gone).markers(deposit.address, ["good", seed])).rejects.toThrow(RangeError);
    }
  });
});

describe("heights", () => {
  test("the lowest and the highest finalized height of all that answer, and nobody's when too few do", async () => {
    const lagging = late(20, "getEpochInfo");
    const finalized = (await fixture.ledger.heights("finalized")).highest;
    expect(await fixture.ledger.heights("finalized")).toEqual({
      lowest: finalized,
      agreed: finalized,
      highest: finalized,
    });
    expect(fixture.chain.blockHeight() - finalized).toBe(32);
    expect(await ledgerOver(2, lagging, honest).heights("finalized")).toEqual({
      lowest: finalized - 20,
      agreed: finalized - 20,
      highest: finalized,
    });
    expect(await ledgerOver(2, lagging, honest, honest).heights("finalized")).toEqual({
      lowest: finalized - 20,
      agreed: finalized,
      highest: finalized,
    });
    expect(await patiently(ledgerOver(2, lagging, gone, honest).heights("finalized"))).toEqual({
      lowest: finalized - 20,
      agreed: finalized - 20,
      highest: finalized,
    });
    await expect(patiently(ledgerOver(2, gone, honest).heights("finalized"))).rejects.toBeInstanceOf(
      LedgerUnavailable,
    );
  });

  test("a height that is none is no answer", async () => {
    for (const blockHeight of [undefined, -1, 1.5, "7"]) {
      const garbling = lyingAbout("getEpochInfo", (honestly: object) => ({ ...honestly, blockHeight }));
      await expect(patiently(ledgerOver(1, garbling).heights("finalized"))).rejects.toBeInstanceOf(
        LedgerUnavailable,
      );
    }
  });
});

/** Lets the ledger's time pass until the work is done: endpoints that fail are asked again after pauses. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  work.then(end, end);
  while (!hasEnded) {
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    fixture.clock.advance(50);
  }
  return await work;
}
