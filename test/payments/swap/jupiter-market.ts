/**
 * Jupiter's Swap API on loopback, in the shapes of its documentation (GET /order and POST /execute of version 2), with a
 * market on the local chain behind it. The aggregator's program does nothing here: the legs are token transfers beside
 * its instruction, the market's by a taker whom the market has made its delegate.
 */
// modules: swap/jupiter
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { SOL_MINT } from "../../../src/core/address.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../../src/ledger/routing.ts";
import { JUPITER_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { keyOf, land, newestBlockhash } from "../../solana/signed-transaction.ts";
import { installIdleProgram } from "./idle-program.ts";

/** An order before its transaction is built; a test changes what it likes. */
export interface Draft {
  readonly taker: PublicKey;
  readonly market: PublicKey;
  feePayer: PublicKey;
  /** What the instruction of the route states. */
  readonly route: {
    taker: PublicKey;
    destination: PublicKey;
    /** Null where the output stays in `destination`. */
    payee: PublicKey | null;
    inputAmount: bigint;
    quoted: bigint;
    slippageBps: number;
  };
  /** What really moves. */
  readonly legs: { given: bigint; paid: bigint; paidTo: PublicKey };
  readonly more: TransactionInstruction[];
  blockhash: string;
  /** Wrapped SOL comes into an account that is made for it, and not into the taker's associated one. */
  madeFor: { owner: PublicKey; closesTo: PublicKey } | null;
}

/** The server and its market. */
export interface JupiterMarket {
  readonly url: string;
  /** Queries of orders, headers included, and bodies of executions. */
  readonly orders: { readonly query: Record<string, string>; readonly key: string | undefined }[];
  readonly executions: { readonly signedTransaction: string; readonly requestId: string }[];
  /** Changes each order before it is built. */
  twist: (draft: Draft) => void;
  /** Changes each answer about an order. */
  answer: (order: Record<string, unknown>) => Record<string, unknown>;
  /** HTTP status of the two calls. */
  status: { order: number; execute: number };
  /** Opens the market on this chain, for this taker. */
  trade(world: SwapFixture, taker: Wallet): Promise<void>;
  close(): Promise<void>;
}

const SOL = new PublicKey(SOL_MINT);
const TOKEN = new PublicKey(TOKEN_PROGRAM);
/** Units of the stablecoins for a SOL. */
const PRICE = 150n;
const RESERVES = { lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n, usdt: 1_000_000_000_000n };

export async function jupiterMarket(): Promise<JupiterMarket> {
  installIdleProgram(JUPITER_PROGRAM);
  let open: { readonly world: SwapFixture; readonly market: Wallet } | null = null;
  const server = createServer((request, response) => {
    void answered(request).then(({ status, body }) => response.writeHead(status).end(JSON.stringify(body)));
  });
  const answered = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://jupiter");
    if (pathname === "/swap/v2/execute") {
      const body: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
      jupiter.executions.push(body as JupiterMarket["executions"][number]);
      return {
        status: jupiter.status.execute,
        body: { status: "Failed", code: -1000, error: "failed to land" },
      };
    }
    const query = Object.fromEntries(searchParams);
    jupiter.orders.push({ query, key: request.headers["x-api-key"]?.toString() });
    if (open === null || jupiter.status.order !== 200) {
      return { status: jupiter.status.order, body: NO_ROUTE };
    }
    return { status: 200, body: jupiter.answer(await orderFor(open, jupiter.twist, query)) };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const jupiter: JupiterMarket = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/swap/v2`,
    orders: [],
    executions: [],
    twist: () => {},
    answer: (order) => order,
    status: { order: 200, execute: 200 },
    async trade(world, taker) {
      const market = world.wallet("market", RESERVES);
      open = { world, market };
      await openMarket(world, market, taker);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return jupiter;
}

const NO_ROUTE = {
  errorCode: 3,
  errorMessage: "Could not find any route",
  error: "Could not find any route",
};

/** The market's token accounts, wrapped SOL among them, which the taker may draw from. */
async function openMarket(world: SwapFixture, market: Wallet, taker: Wallet): Promise<void> {
  const owner = keyOf(market);
  const wrapped = ata(owner, SOL);
  const mints = [SOL, new PublicKey(world.mints.USDC), new PublicKey(world.mints.USDT)];
  await land(world, {
    signers: [market],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(owner, wrapped, owner, SOL),
      SystemProgram.transfer({ fromPubkey: owner, toPubkey: wrapped, lamports: 500_000_000_000n }),
      createSyncNativeInstruction(wrapped),
      ...mints.map((mint) => createApproveInstruction(ata(owner, mint), keyOf(taker), owner, 10n ** 12n)),
    ],
  });
  world.chain.advance(35);
}

async function orderFor(
  { world, market }: { readonly world: SwapFixture; readonly market: Wallet },
  twist: (draft: Draft) => void,
  query: Record<string, string>,
): Promise<Record<string, unknown>> {
  const { inputMint = "", outputMint = "", amount = "0", taker, slippageBps = "50" } = query;
  const inAmount = BigInt(amount);
  const quoted =
    inputMint === SOL_MINT
      ? (inAmount * PRICE) / 1_000n
      : outputMint === SOL_MINT
        ? (inAmount * 1_000n) / PRICE
        : inAmount;
  const least = quoted - (quoted * BigInt(slippageBps)) / 10_000n;
  const order = {
    mode: "manual",
    inputMint,
    outputMint,
    inAmount: amount,
    outAmount: String(quoted),
    otherAmountThreshold: String(least),
    swapMode: "ExactIn",
    slippageBps: Number(slippageBps),
    priceImpactPct: "-0.0002",
    routePlan: [{ swapInfo: { label: "Meteora DLMM", inputMint, outputMint }, percent: 100, bps: 10_000 }],
    feeMint: outputMint,
    feeBps: 2,
    signatureFeeLamports: 5_000,
    router: "iris",
    gasless: false,
    requestId: "5421e18f-9d12-4709-8f5a-6c79c1032203",
    totalTime: 320,
    transaction: null,
    taker: taker ?? null,
  };
  if (taker === undefined) return order;
  const mints = { give: new PublicKey(inputMint), get: new PublicKey(outputMint) };
  const [from, by] = [new PublicKey(taker), keyOf(market)];
  const draft: Draft = {
    taker: from,
    market: by,
    feePayer: from,
    route: {
      taker: from,
      destination: ata(from, mints.get),
      payee: null,
      inputAmount: inAmount,
      quoted,
      slippageBps: Number(slippageBps),
    },
    legs: { given: inAmount, paid: quoted, paidTo: ata(from, mints.get) },
    more: [],
    blockhash: await newestBlockhash(world.chain),
    madeFor: null,
  };
  twist(draft);
  return { ...order, transaction: await transactionOf(world, draft, mints) };
}

async function transactionOf(world: SwapFixture, draft: Draft, pair: Pair): Promise<string> {
  const { taker, market, feePayer, legs, more } = draft;
  const { give, get } = pair;
  const decimals = (mint: PublicKey): number => (mint.equals(SOL) ? 9 : 6);
  const source = ata(taker, give);
  const { first, last } =
    draft.madeFor === null ? around(draft, pair) : await aroundMade(world, draft, draft.madeFor);
  const message = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: draft.blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 5_000 }),
      ...first,
      routeInstruction(draft, source, pair),
      createTransferCheckedInstruction(source, give, ata(market, give), taker, legs.given, decimals(give)),
      createTransferCheckedInstruction(ata(market, get), get, legs.paidTo, taker, legs.paid, decimals(get)),
      ...last,
      ...more,
    ],
  }).compileToV0Message();
  return Buffer.from(new VersionedTransaction(message).serialize()).toString("base64");
}

interface Pair {
  readonly give: PublicKey;
  readonly get: PublicKey;
}

/** What stands before the route and after it. */
interface Around {
  readonly first: readonly TransactionInstruction[];
  readonly last: readonly TransactionInstruction[];
}

/** Makes the taker's associated accounts, wraps what SOL is given, and unwraps what is left of it. */
function around({ taker, legs }: Draft, { give, get }: Pair): Around {
  const source = ata(taker, give);
  const wrap = [
    createAssociatedTokenAccountIdempotentInstruction(taker, source, taker, give),
    SystemProgram.transfer({ fromPubkey: taker, toPubkey: source, lamports: legs.given }),
    createSyncNativeInstruction(source),
  ];
  const unwrap = createCloseAccountInstruction(ata(taker, SOL), taker, taker);
  return {
    first: [
      ...(give.equals(SOL) ? wrap : []),
      createAssociatedTokenAccountIdempotentInstruction(taker, ata(taker, get), taker, get),
    ],
    last: give.equals(SOL) || get.equals(SOL) ? [unwrap] : [],
  };
}

const SEED = "wrapped";
const CREATE_TOKEN_ACCOUNT = Buffer.from("93f17b64f484ae76ff", "hex");

/** Has an account made for the wrapped SOL that comes out. The aggregator does nothing here, so it is made beside it. */
async function aroundMade(
  world: SwapFixture,
  draft: Draft,
  { owner, closesTo }: NonNullable<Draft["madeFor"]>,
): Promise<Around> {
  const { taker, route, legs } = draft;
  const account = await PublicKey.createWithSeed(taker, SEED, TOKEN);
  route.destination = account;
  legs.paidTo = account;
  const made = [account, taker, SOL, TOKEN, SystemProgram.programId];
  return {
    first: [
      SystemProgram.createAccountWithSeed({
        fromPubkey: taker,
        newAccountPubkey: account,
        basePubkey: taker,
        seed: SEED,
        lamports: Number(await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES)),
        space: TOKEN_ACCOUNT_BYTES,
        programId: TOKEN,
      }),
      createInitializeAccount3Instruction(account, SOL, owner),
      new TransactionInstruction({
        programId: new PublicKey(JUPITER_PROGRAM),
        keys: made.map((pubkey) => ({ pubkey, isSigner: false, isWritable: pubkey.equals(account) })),
        data: CREATE_TOKEN_ACCOUNT,
      }),
    ],
    last: owner.equals(taker) ? [createCloseAccountInstruction(account, closesTo, taker)] : [],
  };
}

/** An instruction `route_v2` of the aggregator, with a plan of one market. */
function routeInstruction({ route }: Draft, source: PublicKey, { give, get }: Pair): TransactionInstruction {
  const data = Buffer.alloc(39);
  data.set(Buffer.from("bb64facc31c4af14", "hex"));
  data.writeBigUInt64LE(route.inputAmount, 8);
  data.writeBigUInt64LE(route.quoted, 16);
  data.writeUInt16LE(route.slippageBps, 24);
  data.writeUInt32LE(1, 30);
  const program = new PublicKey(JUPITER_PROGRAM);
  const named = [
    source,
    route.destination,
    give,
    get,
    TOKEN,
    TOKEN,
    route.payee ?? program,
    program,
    program,
  ];
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: route.taker, isSigner: route.taker.equals(source), isWritable: false },
      ...named.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    ],
    data,
  });
}

function ata(owner: PublicKey, mint: PublicKey): PublicKey {
  return new PublicKey(associatedTokenAddress(owner.toBase58(), mint.toBase58()));
}
