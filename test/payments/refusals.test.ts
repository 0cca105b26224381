/** What POST /v1/transactions refuses, for each type in each mode: the code, its details, and that nothing was kept. */
import { describe, expect } from "vitest";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { QuoteRequest, TransactionRequest } from "../../src/payments/frame/requests.ts";
import { signPayment, type Wallet } from "../kit/chain-fixture.ts";
import { COMBINATIONS, TYPES, type Mode, type Type } from "../kit/modes.ts";
import { signAsFirst, type SwapFixture } from "../kit/swap-fixture.ts";
import { expectRefusal, refusal } from "./wallet/wallet-world.ts";
import { swapTest } from "../kit/swap-test.ts";
import { unreadable } from "../kit/unreadable.ts";

type Share = { address: string; amount: string };

const PRIVATE = COMBINATIONS.filter(({ mode }) => mode === "private");
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/** Alice, whose requests are refused, and those whom she would pay. */
interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly carol: Wallet;
  /** How often any node was asked to send a transaction. */
  readonly node: { sent: number };
}

const test = swapTest.extend("world", async ({ world }): Promise<Stage> => {
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 50_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  const carol = world.wallet("carol", { lamports: 1_000_000_000n, usdc: 1n });
  world.chain.advance(35);
  const node = { sent: 0 };
  world.chain.faults.add(({ method }) => {
    if (method === "sendTransaction") node.sent += 1;
    return undefined;
  });
  return { ...world, customer, alice, bob, carol, node };
});

/** Whom a good request pays: of a payroll the last of three is the one that a test makes wrong. */
function shares(world: Stage, type: Type, last?: Partial<Share>): Share[] {
  const { alice, bob, carol } = world;
  if (type === "swap") return [{ address: alice.address, amount: "5", ...last }];
  const bobs = { address: bob.address, amount: "2" };
  if (type === "send") return [{ ...bobs, ...last }];
  return [
    bobs,
    { address: carol.address, amount: "2" },
    { address: freshWallet(world), amount: "2", ...last },
  ];
}

let fresh = 0;
const freshWallet = (world: Stage): string =>
  world.wallet(`fresh ${(fresh += 1)}`, { lamports: 1_000_000_000n }).address;

const lastOf = (type: Type): number => (type === "payroll" ? 2 : 0);

interface Prepared {
  readonly quoteId: string;
  readonly body: TransactionRequest;
}

/** A request over a quote of its own: good, unless `last` or `sender` is not. */
async function prepared(
  world: Stage,
  { mode, type }: { readonly mode: Mode; readonly type: Type },
  { last, sender = world.alice.address }: { readonly last?: Partial<Share>; readonly sender?: string } = {},
  more: Partial<QuoteRequest> = {},
): Promise<Prepared> {
  const { alice } = world;
  world.chain.advance(2);
  const recipients = shares(world, type, last);
  const sum = recipients.reduce((total, { amount }) => total + Number(amount), 0);
  const { body: quote } = await world.service.createQuote(world.customer, {
    inputAsset: "USDC",
    outputAsset: type === "swap" ? "USDT" : "USDC",
    amount: String(sum),
    mode,
    sender,
    ...(type === "swap" ? {} : { recipients }),
    ...more,
  });
  const { quoteId, outputAmount, transaction } = quote;
  const bytes = transaction ?? "";
  const signed = (): string =>
    type === "swap" ? signAsFirst(bytes, alice) : signPayment(Buffer.from(bytes, "base64"), alice.secretKey);
  return {
    quoteId,
    body: {
      type,
      mode,
      quoteId,
      sender,
      recipients: type === "swap" ? [{ address: sender, amount: outputAmount, ...last }] : recipients,
      ...(mode === "wallet" ? { signedTransaction: bytes === "" ? "AAAA" : signed() } : {}),
    },
  };
}

/** The quote names the field that it was given: a swap has no recipient but its sender. */
const expectUnquoted = (quoted: Promise<unknown>, type: Type, details: object): Promise<void> =>
  type === "swap"
    ? expectRefusal(quoted, "VALIDATION_ERROR", { fields: [{ path: "sender" }] })
    : expectRefusal(quoted, "INVALID_RECIPIENT", details);

const post = (world: Stage, body: object, as = world.customer) =>
  world.service.createTransaction(as, body as TransactionRequest);

describe.each(COMBINATIONS)("$mode $type", ({ mode, type }) => {
  const combination = { mode, type };

  test("a good request is taken, and its quote is used: another over it is INVALID_QUOTE used", async ({
    world,
  }) => {
    const { body, quoteId } = await prepared(world, combination);
    expect((await post(world, body)).body).toMatchObject({ mode, status: "pending" });
    const [first, ...rest] = body.recipients;
    const other = { ...body, recipients: [{ ...first, amount: "1" }, ...rest] };
    const given = mode === "wallet" ? (await prepared(world, combination)).body.signedTransaction : undefined;
    await expectRefusal(post(world, { ...other, signedTransaction: given }), "INVALID_QUOTE", {
      quoteId,
      reason: "used",
    });
  });

  test("every way in which a quote does not fit has its reason, and leaves it as good as before", async ({
    world,
  }) => {
    const { bob, carol, alice } = world;
    const { body, quoteId } = await prepared(world, combination);
    const invalid = (given: Promise<unknown>, reason: string, id = quoteId): Promise<void> =>
      expectRefusal(given, "INVALID_QUOTE", { quoteId: id, reason });
    await invalid(post(world, { ...body, quoteId: "quote_0" }), "not_found", "quote_0");
    await invalid(post(world, body, await world.caller()), "not_found");
    const otherMode = mode === "wallet" ? "private" : "wallet";
    await invalid(post(world, { ...body, mode: otherMode, signedTransaction: "AAAA" }), "mode_mismatch");
    await invalid(
      post(world, {
        ...body,
        sender: type === "swap" ? bob.address : carol.address,
        recipients: type === "swap" ? [{ ...body.recipients[0], address: bob.address }] : body.recipients,
      }),
      "sender_mismatch",
    );
    if (type === "swap") {
      await invalid(post(world, { ...body, type: "send" }), "asset_mismatch");
      const [own] = body.recipients;
      await invalid(post(world, { ...body, recipients: [{ ...own, amount: "1" }] }), "amount_mismatch");
    } else {
      const [first, ...rest] = body.recipients;
      await invalid(
        post(world, { ...body, recipients: [{ ...first, amount: "3" }, ...rest] }),
        "recipients_mismatch",
      );
      const own = [{ address: alice.address, amount: "2" }];
      if (type === "send") {
        await invalid(post(world, { ...body, type: "swap", recipients: own }), "same_asset");
      }
      for (const other of TYPES.filter((each) => each === "swap")) {
        const swap = await prepared(world, { mode, type: other });
        await invalid(post(world, { ...body, quoteId: swap.quoteId }), "asset_mismatch", swap.quoteId);
      }
    }
    expect(world.node.sent).toBe(0);
    expect((await post(world, body)).body.status).toBe("pending");
    const late = await prepared(world, combination);
    world.clock.advance(61_000);
    await invalid(post(world, late.body), "expired", late.quoteId);
  });

  test("a wrong shape is VALIDATION_ERROR naming the field, of a payroll with its index", async ({
    world,
  }) => {
    const { body } = await prepared(world, combination);
    const at = lastOf(type);
    const recipients = (last: object): object[] => [
      ...body.recipients.slice(0, at),
      { ...body.recipients[at], ...last },
    ];
    const cases: readonly (readonly [change: object, path: string])[] = [
      [{ sender: undefined }, "sender"],
      [{ sender: "nobody" }, "sender"],
      [{ quoteId: "" }, "quoteId"],
      [{ type: "gift" }, "type"],
      [{ mode: "secret" }, "mode"],
      [{ recipients: [] }, "recipients"],
      [{ memo: "typo" }, "memo"],
      [{ recipients: recipients({ address: 7 }) }, `recipients.${at}.address`],
      [{ recipients: recipients({ note: "typo" }) }, `recipients.${at}.note`],
      ...["1e3", "1.", ".5", "-1", "0", " 1", "１", "1.0000001", "18446744073709551616"].map(
        (amount) => [{ recipients: recipients({ amount }) }, `recipients.${at}.amount`] as const,
      ),
      [
        {
          recipients:
            type === "payroll" ? body.recipients.slice(0, 1) : [...body.recipients, ...body.recipients],
        },
        "recipients",
      ],
      ...(mode === "wallet" ? [[{ signedTransaction: undefined }, "signedTransaction"] as const] : []),
    ];
    for (const [change, path] of cases) {
      const { code, details } = await refusal(post(world, { ...body, ...change }));
      const { fields = [] } = details as { fields?: readonly { path: string }[] };
      expect([code, ...new Set(fields.map((field) => field.path))], path).toEqual(["VALIDATION_ERROR", path]);
    }
    expect(world.node.sent).toBe(0);
    expect((await post(world, body)).body.status).toBe("pending");
  });

  test("an address that is none, or the wrong one, is INVALID_RECIPIENT with its index", async ({
    world,
  }) => {
    const { bob } = world;
    const { body } = await prepared(world, combination);
    const at = lastOf(type);
    const wrong: readonly (readonly [address: string, reason: string])[] = [
      ["0OIl", "not_base58"],
      ["abc", "wrong_length"],
      ...(type === "payroll" ? [[bob.address, "duplicate"] as const] : []),
      ...(type === "swap" ? [[bob.address, "not_sender"] as const] : []),
    ];
    for (const [address, reason] of wrong) {
      const recipients = [...body.recipients.slice(0, at), { ...body.recipients[at], address }];
      await expectRefusal(post(world, { ...body, recipients }), "INVALID_RECIPIENT", {
        index: at,
        address,
        reason,
      });
    }
    expect(world.node.sent).toBe(0);
    expect((await post(world, body)).body.status).toBe("pending");
  });
});

describe.each(COMBINATIONS.filter(({ mode, type }) => mode === "private" || type !== "swap"))(
  "$mode $type",
  ({ mode, type }) => {
    test("what is no wallet is told by the quote, and INVALID_RECIPIENT with its index where that could not look", async ({
      world,
    }) => {
      const { carol } = world;
      const stranger = world.wallet("stranger", { usdc: 1n });
      world.chain.advance(35);
      const at = lastOf(type);
      for (const [address, reason] of [
        [associatedTokenAddress(stranger.address, world.mints.USDC), "token_account"],
        [world.mints.USDC, "mint"],
        [TOKEN_PROGRAM, "program"],
        // Nobody has a key for it, and nothing is there yet.
        [associatedTokenAddress(carol.address, world.mints.USDT), "off_curve"],
      ] as const) {
        const given = type === "swap" ? { sender: address } : { last: { address } };
        await expectUnquoted(prepared(world, { mode, type }, given), type, { index: at, address, reason });
        const lift = world.chain.faults.add(unreadable(address));
        const { body } = await prepared(world, { mode, type }, given);
        lift();
        await expectRefusal(post(world, body), "INVALID_RECIPIENT", { index: at, address, reason });
      }
      await world.settle(2);
      expect(world.node.sent).toBe(0);
    });
  },
);

// modules: private
describe.each(PRIVATE)("$mode $type", ({ mode, type }) => {
  test("P27: one of the service's own addresses is INVALID_RECIPIENT own_address with its index", async ({
    world,
  }) => {
    const order = (await post(world, (await prepared(world, { mode, type: "send" })).body)).body as {
      ephemeralAddress?: string;
    };
    const at = lastOf(type);
    for (const address of [
      ...[order.ephemeralAddress ?? "", world.sponsor.address, world.treasury.address, world.desk],
    ]) {
      const given = type === "swap" ? { sender: address } : { last: { address } };
      const own = { index: at, address, reason: "own_address" };
      await expectUnquoted(prepared(world, { mode, type }, given), type, own);
      // A payroll is only taken over a quote that names its recipients.
      if (type === "payroll") continue;
      const open = { sender: undefined, recipients: undefined };
      const { body } = await prepared(world, { mode, type }, given, open);
      await expectRefusal(post(world, body), "INVALID_RECIPIENT", own);
    }
    expect(world.node.sent).toBe(0);
  });

  test("ROUTING_UNAVAILABLE says why: private mode is off, the chain is silent, the sponsor is empty", async ({
    world,
  }) => {
    const { body } = await prepared(world, { mode, type });
    const wallet = world.another({ privateRouting: undefined, swap: undefined });
    await expectRefusal(wallet.createTransaction(world.customer, body), "ROUTING_UNAVAILABLE", {
      reason: "off",
    });
    const [lamports] = await world.held(world.sponsor.address);
    await world.move(world.sponsor, {
      does: "transfer",
      mint: null,
      decimals: 9,
      from: world.sponsor.address,
      to: world.treasury.address,
      amount: lamports - 5_000_000n,
      accountPayer: null,
    });
    const later = await prepared(world, { mode, type });
    await expectRefusal(post(world, later.body), "ROUTING_UNAVAILABLE", { reason: "capacity" });
  });

  test("Q14: who is screened is not served, a recipient by its index and a sender by its field; a silent screen is upstream", async ({
    world,
  }) => {
    const { alice, bob } = world;
    const refused = type === "swap" ? alice.address : bob.address;
    let isDown = true;
    const screened = world.another({
      privateRouting: {
        sponsor: { address: world.sponsor.address, sign: async () => new Uint8Array(64) },
        treasury: world.treasury.address,
        prices: { rate: async () => ({ give: 1n, get: 1n }) },
        screen: async (address: string) => {
          if (isDown) throw new Error("the list is out of reach");
          return address === refused ? "refused" : "ok";
        },
      },
    });
    const { body } = await prepared(world, { mode, type });
    await screened.start();
    await expectRefusal(screened.createTransaction(world.customer, body), "ROUTING_UNAVAILABLE", {
      reason: "upstream",
    });
    isDown = false;
    const taken = screened.createTransaction(world.customer, body);
    if (type === "swap") {
      const fields = [{ path: "sender", message: "this address is not served", reason: "not_served" }];
      await expectRefusal(taken, "VALIDATION_ERROR", { fields });
    } else {
      const details = { index: 0, address: refused, reason: "not_served" };
      await expectRefusal(taken, "INVALID_RECIPIENT", details);
    }
    await screened.stop();
  });
});

describe.each(PRIVATE.filter(({ type }) => type !== "swap"))("$mode $type", ({ mode, type }) => {
  test("a sender that could take no refund is VALIDATION_ERROR of sender, also one of the service's own", async ({
    world,
  }) => {
    for (const sender of [TOKEN_PROGRAM, world.mints.USDC, world.sponsor.address, world.desk]) {
      const fields = [{ path: "sender" }];
      await expectRefusal(prepared(world, { mode, type }, { sender }), "VALIDATION_ERROR", { fields });
      const { body } = await prepared(world, { mode, type }, { sender }, { sender: undefined });
      await expectRefusal(post(world, body), "VALIDATION_ERROR", { fields });
    }
  });
});

// modules: private
describe("private payroll", () => {
  test("C36: SOL below the rent minimum is AMOUNT_TOO_SMALL with its index, whatever the wallet holds", async ({
    world,
  }) => {
    const { bob, carol, alice } = world;
    const empty = world.wallet("empty").address;
    const recipients = [
      { address: bob.address, amount: "1" },
      { address: carol.address, amount: "0.0001" },
      { address: empty, amount: "0.0005" },
    ];
    const lift = world.chain.faults.add(unreadable(empty));
    const { body: quote } = await world.service.createQuote(world.customer, {
      inputAsset: "SOL",
      outputAsset: "SOL",
      amount: "1.0006",
      mode: "private",
      recipients,
    });
    lift();
    const body = {
      type: "payroll",
      mode: "private",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
    };
    // What a wallet holds now may be gone when it is paid.
    await expectRefusal(post(world, body), "AMOUNT_TOO_SMALL", {
      index: 1,
      minimum: expect.stringMatching(/^0\.000\d+$/) as string,
    });
  });

  test("K2: while a byte of rent costs more than the host takes, ROUTING_UNAVAILABLE says upstream", async ({
    world,
  }) => {
    const combination = { mode: "private", type: "payroll" } as const;
    const reprice = (perByte: bigint): void => {
      world.chain.setRent(perByte);
      // What rent costs is remembered for ten seconds.
      world.chain.advance(30);
    };
    reprice(20_880n);
    const { body } = await prepared(world, combination);
    reprice(20_881n);
    const details = { reason: "upstream", retryAfter: 30 };
    await expectRefusal(post(world, body), "ROUTING_UNAVAILABLE", details);
    await expectRefusal(prepared(world, combination), "ROUTING_UNAVAILABLE", details);
    reprice(20_880n);
    expect((await post(world, body)).body).toMatchObject({ status: "pending" });
  });

  test("more recipients than the host takes, and more than the quote was priced for", async ({ world }) => {
    const { alice } = world;
    const many = Array.from({ length: 101 }, () => ({ address: freshWallet(world), amount: "0.01" }));
    const words = { inputAsset: "USDC", outputAsset: "USDC", mode: "private" } as const;
    await expectRefusal(
      world.service.createQuote(world.customer, { ...words, amount: "1.01", recipients: many }),
      "VALIDATION_ERROR",
      { fields: [{ path: "recipients", message: "at most 100 recipients" }] },
    );
    const { body: open } = await world.service.createQuote(world.customer, { ...words, amount: "0.02" });
    const body = { type: "payroll", mode: "private", sender: alice.address };
    await expectRefusal(
      post(world, { ...body, quoteId: open.quoteId, recipients: many.slice(0, 2) }),
      "INVALID_QUOTE",
      { reason: "recipients_mismatch" },
    );
  });
});
