/** Swaps of wallets through Jupiter: what its transactions must be, whoever has built them. */
// modules: swap/jupiter
import {
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createApproveInstruction,
  createCloseAccountInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import {
  MessageV1,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from "@solana/web3.js";
import { describe, expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { jupiterProvider } from "../../../src/payments/swap/jupiter/jupiter-provider.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../../src/ledger/routing.ts";
import type { ForeignSwapFault } from "../../../src/ledger/foreign-swap.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { elapsed } from "../../solana/scripted-node.ts";
import { keyOf, land } from "../../solana/signed-transaction.ts";
import { type Asked, type Lie, lyingNode, type LyingNode } from "../private/lying-nodes.ts";
import { joinTransaction } from "../../../src/ledger/wire-format.ts";
import { serializeMessage } from "../../../src/solana/message-v1.ts";
import { ENOUGH } from "../../kit/version-1.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { type Draft, jupiterMarket, type JupiterMarket } from "./jupiter-market.ts";

interface Scene {
  readonly world: SwapFixture;
  readonly jupiter: JupiterMarket;
  readonly caller: Caller;
  readonly alice: Wallet;
  /** Why orders were refused, as the log tells it. */
  readonly faults: unknown[];
  readonly nodes: readonly [LyingNode, LyingNode];
}

const test = swapTest.extend<{ scene: Scene }>({
  scene: async ({ open }, use) => {
    const jupiter = await jupiterMarket();
    const nodes: LyingNode[] = [];
    const faults: unknown[] = [];
    const warn = (facts: object): void => void ("fault" in facts && faults.push(facts.fault));
    const silent = (): void => {};
    const world = await open({
      provider: () => jupiterProvider({ apiKey: "a-key", url: jupiter.url }),
      options: { logger: { debug: silent, info: silent, warn, error: silent } },
      ledgerOn: ({ chain, ledgerOf }) => {
        nodes.push(lyingNode(chain, "preferred"), lyingNode(chain, "other"));
        return ledgerOf(nodes.map(({ endpoint }) => endpoint));
      },
    });
    const [preferred, other] = nodes;
    if (preferred === undefined || other === undefined) throw new Error("a world is opened with its nodes");
    const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
    await jupiter.trade(world, alice);
    await use({ world, jupiter, caller: await world.caller(), alice, faults, nodes: [preferred, other] });
    await jupiter.close();
  },
});

const NONE = { available: "0" };

describe("a swap with Jupiter", () => {
  for (const [give, get, amount] of [
    ["SOL", "USDC", "1"],
    ["USDC", "SOL", "150"],
    ["USDC", "USDT", "100"],
  ] as const) {
    test(`${give} for ${get}: the quote tells at least, Jupiter is told, and the chain settles it`, async ({
      scene,
    }) => {
      const { world, jupiter, caller, alice } = scene;
      const before = await world.service.balances(alice.address);
      const { quote, body } = await world.swap(caller, { sender: alice, give, get, amount, slippageBps: 30 });
      expect(quote).toMatchObject({ minOutputAmount: quote.outputAmount, priceImpact: 0.02 });
      const [{ query, key } = { query: {}, key: "" }] = jupiter.orders;
      expect(query).toMatchObject({
        taker: alice.address,
        slippageBps: "30",
        excludeRouters: "jupiterz,dflow,okx",
      });
      expect([key, jupiter.orders.length]).toEqual(["a-key", 1]);
      await world.service.settled();
      expect(jupiter.executions).toMatchObject([{ requestId: "5421e18f-9d12-4709-8f5a-6c79c1032203" }]);
      await world.finalize();
      expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({
        status: "completed",
        recipients: [{ address: alice.address, amount: quote.outputAmount, status: "paid" }],
      });
      const gained = await gainOf(world, alice, before, get);
      expect(gained).toBeGreaterThanOrEqual(Number(quote.outputAmount) - 0.003);
    });
  }

  test("a tip is told with the fee, and the rent of a new token account with the rent", async ({ scene }) => {
    const { world, jupiter, caller, alice } = scene;
    jupiter.twist = (draft) => {
      draft.more.push(
        SystemProgram.transfer({ fromPubkey: draft.taker, toPubkey: draft.market, lamports: 1_000_000 }),
      );
    };
    const rent = formatAmount(await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES), 9);
    const { fees } = await world.quote(caller, { sender: alice, give: "USDC", get: "USDT", amount: "100" });
    // One signature, and 400,000 units at 5,000 µlamports.
    expect(fees).toEqual({ network: "0.001007", routing: "0", rent });
  });

  test("without a sender a quote is an indication, and has no transaction", async ({ scene }) => {
    const { world, jupiter, caller } = scene;
    const pair = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", slippageBps: 100 };
    const { body } = await world.service.createQuote(caller, pair);
    expect(body).toMatchObject({ outputAmount: "148.5" });
    expect(body).not.toHaveProperty("transaction");
    expect(jupiter.orders[0]?.query).not.toHaveProperty("taker");
    await expectRefusal(
      world.service.createQuote(caller, { ...pair, mode: "private" }),
      "ROUTING_UNAVAILABLE",
      { reason: "off" },
    );
  });

  test("an execution that Jupiter refuses or fails is no end: the service sends the bytes itself", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice } = scene;
    jupiter.status.execute = 500;
    const { body } = await world.swap(caller, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    await world.service.settled();
    await world.finalize();
    expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({
      status: "completed",
    });
  });

  test("a Jupiter that is out of reach is an upstream error, and no order is INSUFFICIENT_LIQUIDITY", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice } = scene;
    const wanted = { sender: alice, give: "SOL", get: "USDC", amount: "1" };
    for (const status of [429, 500, 401]) {
      jupiter.status.order = status;
      await expectRefusal(world.quote(caller, wanted), "UPSTREAM_ERROR", {});
    }
    jupiter.status.order = 400;
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    jupiter.status.order = 200;
    jupiter.answer = (order) => ({ ...order, inAmount: "2000000000" });
    await expectRefusal(world.quote(caller, wanted), "UPSTREAM_ERROR", {});
  });
});

describe("an order that is refused before its taker sees it", () => {
  const stranger = new PublicKey(new Uint8Array(32).fill(3));
  const usdcOf = (world: SwapFixture, owner: PublicKey): PublicKey =>
    new PublicKey(associatedTokenAddress(owner.toBase58(), world.mints.USDC));
  const usdtOf = (world: SwapFixture, owner: PublicKey): PublicKey =>
    new PublicKey(associatedTokenAddress(owner.toBase58(), world.mints.USDT));
  const wrappedOf = (owner: PublicKey): PublicKey =>
    new PublicKey(associatedTokenAddress(owner.toBase58(), SOL_MINT));
  const twists: Record<string, [ForeignSwapFault, (draft: Draft, world: SwapFixture) => void]> = {
    "another fee payer": [
      "fee_payer",
      (draft) => {
        draft.feePayer = draft.market;
      },
    ],
    "a second signer": [
      "signers",
      (draft) => {
        draft.more.push(
          SystemProgram.transfer({ fromPubkey: draft.market, toPubkey: draft.taker, lamports: 1 }),
        );
      },
    ],
    "another payee in the route": [
      "terms",
      (draft, world) => {
        draft.route.destination = usdtOf(world, stranger);
      },
    ],
    "an account beside the payee's in the route": [
      "terms",
      (draft, world) => {
        draft.route.payee = usdtOf(world, stranger);
      },
    ],
    "less out than quoted": [
      "terms",
      (draft) => {
        draft.route.slippageBps = 5_000;
      },
    ],
    "more in than quoted": [
      "terms",
      (draft) => {
        draft.route.inputAmount += 1n;
      },
    ],
    "an unknown program": [
      "program",
      (draft) => {
        draft.more.push(new TransactionInstruction({ programId: stranger, keys: [], data: Buffer.alloc(0) }));
      },
    ],
    "a durable nonce": [
      "program",
      (draft) => {
        draft.more.push(SystemProgram.nonceAdvance({ noncePubkey: stranger, authorizedPubkey: draft.taker }));
      },
    ],
    "a leg that pays less than the route states": [
      "takes_more",
      (draft) => {
        draft.legs.paid = 1n;
      },
    ],
    "a leg that pays another": [
      "takes_more",
      (draft, world) => {
        draft.legs.paidTo = usdtOf(world, draft.market);
      },
    ],
    "a leg that takes more": [
      "takes_more",
      (draft) => {
        draft.legs.given += 1n;
      },
    ],
    "SOL to a stranger": [
      "takes_more",
      (draft) => {
        draft.more.push(
          SystemProgram.transfer({ fromPubkey: draft.taker, toPubkey: stranger, lamports: 60_000_000 }),
        );
      },
    ],
    "SOL that is left in a token account of the taker": [
      "takes_more",
      (draft, world) => {
        const account = usdcOf(world, draft.taker);
        draft.more.push(
          SystemProgram.transfer({ fromPubkey: draft.taker, toPubkey: account, lamports: 60_000_000 }),
        );
      },
    ],
    "a delegate of the taker's account": [
      "takes_more",
      (draft, world) => {
        draft.more.push(createApproveInstruction(usdcOf(world, draft.taker), stranger, draft.taker, 1n));
      },
    ],
    "another owner of the taker's account": [
      "takes_more",
      (draft, world) => {
        draft.more.push(ownedBy(usdtOf(world, draft.taker), draft.taker, AuthorityType.AccountOwner));
      },
    ],
    "a close authority of the taker's account": [
      "takes_more",
      (draft, world) => {
        draft.more.push(ownedBy(usdcOf(world, draft.taker), draft.taker, AuthorityType.CloseAccount));
      },
    ],
    "another owner of an account that is made for the taker": [
      "takes_more",
      (draft) => {
        const { taker } = draft;
        const sol = new PublicKey(SOL_MINT);
        const made = createAssociatedTokenAccountIdempotentInstruction(taker, wrappedOf(taker), taker, sol);
        draft.more.push(made, ownedBy(wrappedOf(taker), taker, AuthorityType.AccountOwner));
      },
    ],
    "tokens that the taker may mint": [
      "program",
      (draft, world) => {
        const mint = new PublicKey(world.mints.USDC);
        draft.more.push(createMintToInstruction(mint, usdcOf(world, stranger), draft.taker, 1n));
      },
    ],
    "tokens of a multisig that the taker may sign for": [
      "program",
      (draft, world) => {
        const mint = new PublicKey(world.mints.USDC);
        const [from, to] = [usdcOf(world, stranger), usdcOf(world, draft.market)];
        draft.more.push(createTransferCheckedInstruction(from, mint, to, stranger, 1n, 6, [draft.taker]));
      },
    ],
    "a mint of the taker's given to another": [
      "program",
      (draft, world) => {
        const mint = new PublicKey(world.mints.USDC);
        draft.more.push(ownedBy(mint, draft.taker, AuthorityType.MintTokens));
      },
    ],
    "an account of another thawed by the taker": [
      "program",
      (draft, world) => {
        const mint = new PublicKey(world.mints.USDC);
        draft.more.push(createThawAccountInstruction(usdcOf(world, stranger), mint, draft.taker));
      },
    ],
    "wrapped SOL of the taker, whatever is left of it, to a stranger": [
      "terms",
      (draft) => {
        const { taker } = draft;
        const sol = new PublicKey(SOL_MINT);
        const made = createAssociatedTokenAccountIdempotentInstruction(taker, wrappedOf(taker), taker, sol);
        draft.more.push(made, createCloseAccountInstruction(wrappedOf(taker), stranger, taker));
      },
    ],
    "the SOL of the taker's nonce account": [
      "program",
      (draft) => {
        const withdrawal = {
          noncePubkey: stranger,
          authorizedPubkey: draft.taker,
          toPubkey: draft.market,
          lamports: 1,
        };
        draft.more.push(SystemProgram.nonceWithdraw(withdrawal));
      },
    ],
    "the SOL of an address that is derived from the taker": [
      "program",
      (draft) => {
        const derived = {
          fromPubkey: stranger,
          basePubkey: draft.taker,
          toPubkey: draft.market,
          lamports: 1n,
          seed: "savings",
          programId: SystemProgram.programId,
        };
        draft.more.push(SystemProgram.transfer(derived));
      },
    ],
    "a wallet given to a program": [
      "takes_more",
      (draft) => {
        draft.more.push(SystemProgram.assign({ accountPubkey: draft.taker, programId: stranger }));
      },
    ],
    "a run that fails": [
      "run",
      (draft, world) => {
        const mint = new PublicKey(world.mints.USDC);
        const account = usdcOf(world, draft.taker);
        draft.more.push(createTransferCheckedInstruction(account, mint, account, draft.taker, 10n ** 15n, 6));
      },
    ],
  };
  const ownedBy = (account: PublicKey, by: PublicKey, authority: AuthorityType): TransactionInstruction =>
    createSetAuthorityInstruction(account, by, authority, stranger);

  for (const [words, [fault, twist]] of Object.entries(twists)) {
    test(`N10: ${words}`, async ({ scene }) => {
      const { world, jupiter, caller, alice, faults } = scene;
      jupiter.twist = (draft) => twist(draft, world);
      const wanted = { sender: alice, give: "USDC", get: "USDT", amount: "100" };
      await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
      expect(faults).toEqual([fault]);
      jupiter.twist = () => {};
      expect(await world.quote(caller, wanted)).toHaveProperty("transaction");
    });
  }

  test("N10: an order in version 1, whose bids and sizes nobody here compares with its terms", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice, faults } = scene;
    const wanted = { sender: alice, give: "USDC", get: "USDT", amount: "100" };
    jupiter.answer = (order) => ({ ...order, transaction: asVersion1(String(order["transaction"])) });
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    expect(faults).toEqual(["undecodable"]);
  });

  test("N10: SOL that is less than the least, by a lamport or by a tip", async ({ scene }) => {
    const { world, jupiter, caller, alice, faults } = scene;
    const wanted = { sender: alice, give: "USDC", get: "SOL", amount: "150" };
    const least = (quoted: bigint): bigint => quoted - quoted / 100n;
    const tip = (draft: Draft, lamports: number): TransactionInstruction =>
      SystemProgram.transfer({ fromPubkey: draft.taker, toPubkey: draft.market, lamports });
    jupiter.twist = (draft) => {
      draft.legs.paid = least(draft.route.quoted) - 1n;
    };
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", { available: "0" });
    jupiter.twist = (draft) => {
      draft.legs.paid = least(draft.route.quoted);
      draft.more.push(tip(draft, 1));
    };
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", { available: "0" });
    expect(faults).toEqual(["takes_more", "takes_more"]);
    jupiter.twist = (draft) => {
      draft.legs.paid = least(draft.route.quoted);
    };
    expect(await world.quote(caller, wanted)).toMatchObject({ outputAmount: "0.99" });
  });

  test("N10: SOL into an account of the aggregator's own, but for one that is the taker's and closed to the taker", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice, faults } = scene;
    const wanted = { sender: alice, give: "USDC", get: "SOL", amount: "150" };
    const bad = [
      { owner: stranger, closesTo: stranger },
      { owner: keyOf(alice), closesTo: stranger },
    ];
    for (const madeFor of bad) {
      jupiter.twist = (draft) => {
        draft.madeFor = madeFor;
      };
      await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    }
    expect(faults).toEqual(["terms", "terms"]);
    jupiter.twist = (draft) => {
      draft.madeFor = { owner: draft.taker, closesTo: draft.taker };
    };
    const { body } = await world.swap(caller, wanted);
    await world.service.settled();
    await world.finalize();
    expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({
      status: "completed",
    });
  });

  test("an order over a blockhash that no endpoint knows yet is an upstream error: the next one may do", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice, faults } = scene;
    jupiter.twist = (draft) => {
      draft.blockhash = stranger.toBase58();
    };
    const wanted = { sender: alice, give: "USDC", get: "USDT", amount: "100" };
    // Two seconds long a node of a pool may still catch up.
    const refused = expectRefusal(world.quote(caller, wanted), "UPSTREAM_ERROR", { retryAfter: 2 });
    await elapsed(world.clock, refused);
    await refused;
    expect(faults).toEqual(["blockhash"]);
  });

  test("N10: what two endpoints' runs do not show alike is not handed on", async ({ scene }) => {
    const { world, jupiter, caller, alice, faults, nodes } = scene;
    const wanted = { sender: alice, give: "USDC", get: "USDT", amount: "100" };
    jupiter.twist = (draft) => {
      draft.legs.given += 1n;
    };
    for (const node of nodes) {
      const end = node.tell(leaves(usdcOf(world, keyOf(alice)), 900_000_000n));
      await expect(world.quote(caller, wanted)).rejects.toThrow(
        "nodes differ about the run of a market's swap",
      );
      end();
    }
    expect(faults).toEqual([]);
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    expect(faults).toEqual(["takes_more"]);
  });

  test("N10: another owner of wrapped SOL that the taker has kept", async ({ scene }) => {
    const { world, jupiter, caller, alice, faults } = scene;
    const taker = keyOf(alice);
    const sol = new PublicKey(SOL_MINT);
    await land(world, {
      signers: [alice],
      instructions: [createAssociatedTokenAccountIdempotentInstruction(taker, wrappedOf(taker), taker, sol)],
    });
    jupiter.twist = (draft) => {
      draft.more.push(ownedBy(wrappedOf(taker), taker, AuthorityType.AccountOwner));
    };
    const wanted = { sender: alice, give: "USDC", get: "USDT", amount: "100" };
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    expect(faults).toEqual(["takes_more"]);
  });

  test("N10: money that came to the taker a moment ago, and that one node of a pool does not know yet", async ({
    scene,
  }) => {
    const { world, jupiter, caller, alice, faults, nodes } = scene;
    const account = usdcOf(world, keyOf(alice));
    const mint = new PublicKey(world.mints.USDC);
    jupiter.twist = ({ taker, market, more }) => {
      const stolen = usdcOf(world, market);
      more.push(createTransferCheckedInstruction(account, mint, stolen, taker, 1_000_000_000n, 6));
    };
    for (const node of nodes) node.tell(wasEmpty(account));
    const wanted = { sender: alice, give: "SOL", get: "USDT", amount: "1" };
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_LIQUIDITY", NONE);
    expect(faults).toEqual(["takes_more"]);
  });

  test("N3: nodes of a pool that are behind the run are given two seconds to catch up", async ({ scene }) => {
    const { world, caller, alice, nodes } = scene;
    for (const node of nodes) {
      let met = 0;
      node.tell(({ method, params, truth }) => {
        const asksSince = method === "getMultipleAccounts" && "minContextSlot" in (params[1] as object);
        if (!asksSince || (met += 1) > 3) return undefined;
        return truth().then((told) => ({ ...(told as object), context: { slot: 1 } }));
      });
    }
    const quoted = world.quote(caller, { sender: alice, give: "USDC", get: "USDT", amount: "100" });
    expect(await elapsed(world.clock, quoted)).toBeGreaterThanOrEqual(2_000);
    expect(await quoted).toHaveProperty("transaction");
  });

  test("N10: without any transaction, or with one that is none", async ({ scene }) => {
    const { world, jupiter, caller, alice } = scene;
    for (const transaction of [null, "", "AAAA", "no base64"]) {
      jupiter.answer = (order) => ({ ...order, transaction });
      const quoted = world.quote(caller, { sender: alice, give: "USDC", get: "USDT", amount: "100" });
      await expectRefusal(quoted, "INSUFFICIENT_LIQUIDITY", NONE);
    }
  });

  test("N10: for a taker below 0.01 SOL, whose fee Jupiter would pay: INSUFFICIENT_BALANCE", async ({
    scene,
  }) => {
    const { world, jupiter, caller } = scene;
    const poor = world.wallet("poor", { lamports: 9_999_999n, usdc: 1_000_000_000n });
    world.chain.advance(35);
    jupiter.twist = (draft) => {
      draft.feePayer = draft.market;
    };
    const wanted = { sender: poor, give: "USDC", get: "USDT", amount: "100" };
    await expectRefusal(world.quote(caller, wanted), "INSUFFICIENT_BALANCE", {
      asset: "SOL",
      component: "fee",
      required: "0.01",
      available: "0.009999999",
    });
    await expectRefusal(world.quote(caller, { ...wanted, amount: "1001" }), "INSUFFICIENT_BALANCE", {
      asset: "USDC",
      component: "amount",
    });
  });
});

/** Every run leaves this amount in a token account. */
function leaves(account: PublicKey, amount: bigint): Lie {
  const retold = async ({ params, truth }: Asked): Promise<unknown> => {
    const { accounts: asked } = params[1] as { accounts: { addresses: string[] } };
    const told = (await truth()) as { value: { accounts: ({ data: string[] } | null)[] } };
    const accounts = told.value.accounts.map((each, index) => {
      if (each === null || asked.addresses[index] !== account.toBase58()) return each;
      const data = Buffer.from(each.data[0] ?? "", "base64");
      data.writeBigUInt64LE(amount, 64);
      return { ...each, data: [data.toString("base64"), "base64"] };
    });
    return { ...told, value: { ...told.value, accounts } };
  };
  return (asked) =>
    asked.method === "simulateTransaction" && "accounts" in (asked.params[1] as object)
      ? retold(asked)
      : undefined;
}

/** Reads that any node may answer find nothing in a token account yet. */
function wasEmpty(account: PublicKey): Lie {
  const retold = async ({ params, truth }: Asked): Promise<unknown> => {
    const told = (await truth()) as { value: ({ data: string[] } | null)[] };
    const value = told.value.map((each, index) => {
      if (each === null || (params[0] as string[])[index] !== account.toBase58()) return each;
      const data = Buffer.from(each.data[0] ?? "", "base64");
      data.writeBigUInt64LE(0n, 64);
      return { ...each, data: [data.toString("base64"), "base64"] };
    });
    return { ...told, value };
  };
  return (asked) =>
    asked.method === "getMultipleAccounts" && !("minContextSlot" in (asked.params[1] as object))
      ? retold(asked)
      : undefined;
}

/** What an asset's balance has grown by. */
async function gainOf(
  world: SwapFixture,
  { address }: Wallet,
  before: Awaited<ReturnType<SwapFixture["service"]["balances"]>>,
  asset: string,
): Promise<number> {
  const after = await world.service.balances(address);
  const of = ({ sol, tokens }: typeof before): number =>
    Number(asset === "SOL" ? sol : (tokens.find(({ symbol }) => symbol === asset)?.balance ?? 0));
  return of(after) - of(before);
}

/** The same message in version 1, unsigned. */
function asVersion1(transaction: string): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"));
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions } = message;
  const transactionConfig = { ...ENOUGH, priorityFee: 2_000, heapSize: null };
  const parts = { header, staticAccountKeys, recentBlockhash, compiledInstructions, transactionConfig };
  const written = joinTransaction(serializeMessage(new MessageV1(parts)), [null]);
  return Buffer.from(written).toString("base64");
}
