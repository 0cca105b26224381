/** One order as its rows, its transfers on a local chain, and nobody who looks at the order: what a transfer does by itself. */
// modules: private
import {
  createInitializeAccount3Instruction,
  createMintToCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { SOL_MINT, type Address } from "../../../src/core/address.ts";
import { order as orderChart } from "../../../machines/order.ts";
import { createEngine, startOf, workflow, type Engine } from "../../../src/engine/index.ts";
import type { Funds } from "../../../src/local/index.ts";
import type { Signer } from "../../../src/ledger/sign-transaction.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import {
  type PaymentStorage,
  type PaymentWrite,
  paymentTables,
  type PaymentTables,
} from "../../../src/payments/payment-storage.ts";
import { planTransfer, type WantedTransfer } from "../../../src/payments/private/plan-transfer.ts";
import type { ScreenVerdict } from "../../../src/payments/private/screen-order.ts";
import { transferWorkflow, type TransferWorkflow } from "../../../src/payments/private/transfer-workflow.ts";
import { watchAttempts } from "../../../src/payments/private/watch-attempts.ts";
import type { Swapper } from "../../../src/payments/frame/exchange/swap-provider.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { QuoteRecord, TransactionRecord } from "../../../src/payments/frame/tables/orders.ts";
import type { OrderRecord, TransferRecord } from "../../../src/payments/private/tables.ts";
import { silentLogger, systemRandom } from "../../../src/core/runtime.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { passTime } from "../../kit/pass-time.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { land } from "../../solana/signed-transaction.ts";
import { orderFixture, RATE, TOKEN_ACCOUNT, type OrderFixture } from "../../solana/routing/order-fixture.ts";
import type { Party } from "../../solana/routing/routing-fixture.ts";

const ID = "tx_000000000001aaaaaaaaaaaaaaaaaaaa";
const SLOT_MS = 400;
const INTERVAL_MS = 1_000;

/** What an order of the test is. */
export interface TransferOrder {
  readonly mint: "SOL" | "USDC";
  /** Base units of each recipient; the first ones fill chunk 0. */
  readonly shares: readonly bigint[];
  readonly cut: readonly number[];
  readonly fee: bigint;
  /** What lies at the address when the test begins. */
  readonly deposited: Funds;
  /** Recipients whose accounts the quote has priced. */
  readonly priced?: readonly number[];
  /** Recipients who have no token account. */
  readonly newcomers?: readonly number[];
  /** Of a swap into SOL: what the desk gives. The recipient's share is the least that was promised. */
  readonly swap?: { readonly output: bigint };
}

export interface TransferWorld extends OrderFixture {
  readonly storage: PaymentStorage;
  readonly order: OrderRecord;
  readonly engine: Engine<PaymentTables>;
  readonly transfers: TransferWorkflow;
  readonly sender: Party;
  readonly treasury: Party;
  readonly recipients: readonly Party[];
  /** The key of the order's address, for those who have got hold of it. */
  readonly key: Signer;
  /** What the host says of everybody. */
  screening: ScreenVerdict;
  /** Plans a transfer; gives its id. */
  sendOut(wanted: Pick<WantedTransfer, "kind" | "n"> & Partial<WantedTransfer>): Promise<string>;
  /** Lets so many slots pass, and everything that falls due in them. */
  pass(slots: number): Promise<void>;
  /** Lets so many slots pass at once, and only then what has fallen due. */
  skip(slots: number): Promise<void>;
  /** Lets time pass that the chain knows nothing of. */
  wait(ms: number): Promise<void>;
  /** Opens a token account of this owner that is not its associated one, with so much USDC in it. */
  stray(owner: Address, amount: bigint): Promise<Address>;
  /** The same of wrapped SOL. */
  strayWrapped(owner: Address, lamports: bigint): Promise<Address>;
  write(...writes: readonly PaymentWrite[]): Promise<void>;
  transfer(id: string): Promise<TransferRecord>;
  stateOf(id: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** The order is `paying` in its row where it has several chunks, and whatever the test makes of it. */
export async function transferWorld(wanted: TransferOrder): Promise<TransferWorld> {
  const fixture = await orderFixture();
  const { chain, clock, ledger, mints, sponsor } = fixture;
  const storage = await memoryStorage();
  const assets = assetsWith(mints);
  const keys = depositKeys([{ version: 1, secret: new Uint8Array(32).fill(7) }], () => "genesis");
  const key = keys.signer({ masterVersion: 1, transactionId: ID });
  const sender = fixture.party({ lamports: 9_000_000n, usdc: 1n });
  const treasury = fixture.party({ lamports: 9_000_000n, usdc: 1n });
  const recipients = wanted.shares.map((_, index) =>
    fixture.party({
      lamports: 9_000_000n,
      ...(wanted.newcomers?.includes(index) === true ? {} : { usdc: 1n }),
    }),
  );
  fixture.give(sponsor.address, { usdc: 1n });
  fixture.give(key.address, wanted.deposited);
  const world: { screening: ScreenVerdict } = { screening: "clear" };
  const shared = { storage, ledger, assets, clock, log: silentLogger, random: systemRandom };
  const desk = fixture.party({ lamports: 9_000_000_000n, usdc: 1n });
  const price = { give: 5n, get: 1n };
  const transfers = transferWorkflow({
    ...shared,
    keys,
    sponsor,
    swapper: wanted.swap === undefined ? null : deskOf(wanted.swap.output, desk),
    prices: { rate: async () => price },
    mostRaisedPerDay: 0n,
    screenOrder: async () => world.screening,
  });
  const orders = workflow(orderChart)<PaymentTables>({
    version: 1,
    effects: {
      look: async () => undefined,
      writeLine: async () => undefined,
      announce: async () => undefined,
    },
    watches: {
      orders: () => ID,
      activeOrders: () => ID,
      lateOrders: () => ID,
      slowOrders: () => ID,
    },
    project: () => [],
  });
  const deaf = { intervalMs: INTERVAL_MS, batchSize: 1, poll: async () => [] };
  const engine = createEngine<PaymentTables>({
    storage,
    tables: paymentTables,
    workflows: [transfers, orders],
    watchers: {
      attempts: watchAttempts({ ...shared, intervalMs: INTERVAL_MS }),
      orders: deaf,
      activeOrders: deaf,
      lateOrders: deaf,
      slowOrders: deaf,
    },
    clock,
    logger: silentLogger,
  });
  const order = orderRow(wanted, {
    key: key.address,
    fixture,
    sender: sender.address,
    treasury: treasury.address,
  });
  const began = await engine.commit({
    starts: [startOf(orders, ID, { order: ID })],
    writes: [...rowsOf(wanted, order, recipients), { table: "orders", insert: order }],
  });
  if (!began.ok) throw new Error(`the order was not stored: ${JSON.stringify(began)}`);
  engine.run();
  const planned = planTransfer(() => transfers, clock);
  const wait = (ms: number): Promise<void> =>
    passTime({ clock, engine, storage, workflows: [transfers, orders] }, clock.now() + ms);
  const pass = async (slots: number): Promise<void> => {
    for (let slot = 0; slot < slots; slot += 1) {
      chain.advance(1);
      await wait(SLOT_MS);
    }
  };
  const transfer = async (id: string): Promise<TransferRecord> => {
    const row = await storage.transfer(id);
    if (row === null) throw new Error(`transfer ${id} is not stored`);
    return row;
  };
  return Object.assign(world, fixture, {
    storage,
    order,
    engine,
    transfers,
    sender,
    treasury,
    recipients,
    key,
    sendOut: async (some: Pick<WantedTransfer, "kind" | "n"> & Partial<WantedTransfer>) => {
      const { start, write } = planned({ order: ID, mint: null, to: null, subjects: [], ...some });
      const result = await engine.commit({ starts: [start], writes: [write] });
      if (!result.ok) throw new Error(`the transfer was not planned: ${JSON.stringify(result)}`);
      return start.id;
    },
    stray: (owner: Address, amount: bigint) => openStray(fixture, mints.USDC, { owner, amount }),
    strayWrapped: (owner: Address, amount: bigint) => openStray(fixture, SOL_MINT, { owner, amount }),
    pass,
    skip: async (slots: number) => {
      chain.advance(slots);
      await wait(slots * SLOT_MS);
    },
    wait,
    write: async (...writes: readonly PaymentWrite[]) => {
      const result = await engine.commit({ writes });
      if (!result.ok) throw new Error(`refused: ${JSON.stringify(result)}`);
    },
    transfer,
    stateOf: async (id: string) => (await engine.read(transfers, id))?.value,
    stop: async () => {
      await engine.stop();
      await fixture.close();
    },
  });
}

/** Of wrapped SOL the amount lies on the account as lamports when it is opened. */
async function openStray(
  fixture: OrderFixture,
  mint: Address,
  { owner, amount }: { readonly owner: Address; readonly amount: bigint },
): Promise<Address> {
  const { chain, rich } = fixture;
  const [account, payer] = [Keypair.generate(), new PublicKey(rich.address)];
  const isSol = mint === SOL_MINT;
  const faucet = new PublicKey(chain.faucet.address);
  await land(fixture, {
    signers: [rich, account, ...(isSol ? [] : [chain.faucet])],
    instructions: [
      SystemProgram.createAccount({
        fromPubkey: payer,
        newAccountPubkey: account.publicKey,
        lamports: Number(fixture.rent(TOKEN_ACCOUNT) + (isSol ? amount : 0n)),
        space: TOKEN_ACCOUNT,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccount3Instruction(account.publicKey, new PublicKey(mint), new PublicKey(owner)),
      ...(isSol
        ? []
        : [createMintToCheckedInstruction(new PublicKey(mint), account.publicKey, faucet, amount, 6)]),
    ],
  });
  chain.advance(SLOTS_TO_FINALITY);
  return account.publicKey.toBase58() as Address;
}

/** A desk that gives the same for everything, and sets it aside. */
function deskOf(outputAmount: bigint, signer: Party): Swapper {
  const reservations = [{ resource: "desk", amount: outputAmount, most: null }];
  return {
    check: async () => {},
    queueOf: () => null,
    offer: async () => ({ outputAmount, priceImpact: 0, reservations }),
    build: async () => Promise.reject(new Error("wallet mode is not asked for")),
    complete: async () => null,
    direct: { signer },
  };
}

interface Placed {
  readonly key: Address;
  readonly fixture: OrderFixture;
  readonly sender: Address;
  readonly treasury: Address;
}

function orderRow(
  { mint, shares, cut, fee, priced = [], swap }: TransferOrder,
  { key, fixture, sender, treasury }: Placed,
): OrderRecord {
  const { mints, ledger, clock, sponsor } = fixture;
  return {
    id: ID,
    version: 1,
    layout: 1,
    accountId: "acct",
    address: key,
    masterVersion: 1,
    accounts: Object.fromEntries(
      Object.values(mints).map((each) => [each, ledger.tokenAccountOf(key, each)]),
    ),
    referenceKey: key,
    type: swap !== undefined ? "swap" : shares.length === 1 ? "send" : "payroll",
    sender,
    sponsor: sponsor.address,
    treasury,
    mint: mint === "SOL" ? SOL_MINT : mints.USDC,
    required: swap === undefined ? shares.reduce((sum, share) => sum + share, fee) : 5_000_000n,
    fee,
    paidBid: 1_000n,
    cut,
    priced,
    rentPerByte: RATE,
    rentTaken: RATE,
    loanBack: null,
    listedTo: 0,
    windowEnds: clock.now() + 3_600_000,
    waitEndedAt: clock.now(),
    state: "paying",
    overState: null,
    reason: null,
    lastGoHeight: null,
    ends: null,
    createdAt: clock.now(),
  };
}

function rowsOf(
  { shares, cut, swap }: TransferOrder,
  { id: order, mint, sender, required, createdAt, type }: OrderRecord,
  recipients: readonly Party[],
): readonly PaymentWrite[] {
  const transaction: TransactionRecord = {
    id: order,
    accountId: "acct",
    quoteId: "quote",
    type,
    mode: "private",
    sender,
    senderAllowOffCurve: false,
    inputMint: mint,
    inputAmount: required,
    outputMint: swap === undefined ? mint : SOL_MINT,
    outputAmount: required,
    feeMint: mint,
    reference: null,
    refundOf: null,
    requestHash: "",
    status: "processing",
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    landedAfterCancel: false,
    attention: null,
    landedSignature: null,
    broadcastAt: null,
    cancelledAt: null,
    finalAt: null,
    createdAt,
  };
  const untold = { length: null, slot: null, signature: null, blockTime: null, paid: null };
  const quote: QuoteRecord = {
    id: "quote",
    version: 1,
    accountId: "acct",
    mode: "private",
    inputMint: mint,
    outputMint: transaction.outputMint,
    inputAmount: required,
    outputAmount: required,
    minOutputAmount: shares[0] ?? 0n,
    feeMint: mint,
    networkFee: 0n,
    routingFee: 0n,
    rent: 0n,
    pricedAccounts: 0,
    slippageBps: 0,
    priceImpact: "0",
    transactionVersion: null,
    sender,
    senderAllowOffCurve: false,
    recipients: null,
    swap: null,
    createdAt,
    expiresAt: createdAt,
    closedAt: null,
    usedBy: order,
  };
  return [
    { table: "quotes", insert: quote },
    { table: "transactions", insert: transaction },
    ...recipients.map(({ address }, index) => ({
      table: "recipients" as const,
      insert: {
        id: `${order}:${index}`,
        transactionId: order,
        accountId: "acct",
        createdAt,
        index,
        address,
        allowOffCurve: false,
        amount: shares[index] ?? 0n,
        status: "unpaid" as const,
        signature: null,
      },
    })),
    ...cut.map((_, k) => ({
      table: "chunks" as const,
      insert: {
        id: `${order}:${k}`,
        order,
        k,
        wanted: 0,
        ...untold,
        isOwn: false,
        isLent: false,
        opened: 0n,
        goneAt: null,
      },
    })),
    ...[SOL_MINT, mint]
      .filter((each, index, all) => all.indexOf(each) === index)
      .map((each) => ({
        table: "levels" as const,
        insert: {
          id: `${order}:${each}`,
          order,
          mint: each,
          received: each === mint ? required : 0n,
          out: 0n,
          writtenOff: 0n,
          slot: 0,
          short: false,
          missing: 0n,
        },
      })),
  ];
}
