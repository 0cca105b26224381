/** Orders, rows and looks for tests of the protocol: what a test does not name is as in an honest life. */
// modules: private
import { addressOf, SOL_MINT, type Address } from "../../../../src/core/address.ts";
import {
  rentOf,
  type MarkerTold,
  type OrderTold,
  type TokenAccountTold,
  type WalletTold,
} from "../../../../src/ledger/order-reading.ts";
import { MAINNET_STABLECOINS } from "../../../../src/payments/frame/assets/assets.ts";
import { cutOf } from "../../../../src/payments/private/protocol/cut.ts";
import { Look, queryOf } from "../../../../src/payments/private/protocol/look.ts";
import type {
  ChunkRow,
  LevelRow,
  OrderRows,
  OrderView,
} from "../../../../src/payments/private/protocol/rows.ts";
import type { Member, OrderTerms } from "../../../../src/payments/private/protocol/terms.ts";

export const { USDC, USDT } = MAINNET_STABLECOINS;
export const RATE = 6_960n;
export const FEE = 10_000n;
/** Rent at the usual rate. */
export const rent = (bytes: number): bigint => rentOf(RATE, bytes);
/** The loan of an order in SOL. */
export const LOAN = 2n * rent(0);

const keyOf = (number: number): Address =>
  addressOf(Uint8Array.from({ length: 32 }, (_, i) => (i ? number : 9)));
export const [ORDER, SPONSOR, TREASURY, SENDER, DESK, OTHER] = [1, 2, 3, 4, 5, 6].map(keyOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
/** The address of a recipient. */
export const payee = (index: number): Address => {
  const bytes = new Uint8Array(32).fill(7);
  new DataView(bytes.buffer).setUint32(0, index);
  return addressOf(bytes);
};

/** What a test says of an order. */
export interface Told extends Partial<Omit<OrderTerms, "members">> {
  readonly recipients?: number;
  /** Of every recipient. */
  readonly amount?: bigint;
  readonly isPriced?: boolean;
}

/** An order in USDC to one recipient who gets 4.9, with a fee of 0.1. */
export function termsOf({
  recipients = 1,
  amount = 4_900_000n,
  isPriced = false,
  ...told
}: Told = {}): OrderTerms {
  const mint = told.mint ?? USDC;
  const type = told.type ?? (recipients > 1 ? "payroll" : "send");
  const members = Array.from({ length: recipients }, (_, index): Member => ({
    index,
    address: payee(index),
    amount,
    isPriced,
  }));
  const fee = told.fee ?? 100_000n;
  return {
    id: "order",
    layout: 1,
    type,
    address: ORDER,
    sender: SENDER,
    sponsor: SPONSOR,
    treasury: TREASURY,
    mint,
    payMint: mint,
    required: amount * BigInt(recipients) + fee,
    fee,
    members,
    cut: cutOf({ type, mint }, recipients),
    rentPerByte: RATE,
    rentTaken: told.rentPerByte ?? RATE,
    windowEnds: 1_000_000,
    ...told,
  };
}

/** A wallet; tokens as their units, or as an account. */
export interface Wallet {
  readonly lamports?: bigint;
  readonly usdc?: bigint | TokenAccountTold;
  readonly usdt?: bigint | TokenAccountTold;
}

/** What an endpoint shows, by names. */
export interface Shown {
  readonly slot?: number;
  readonly blockTime?: number;
  readonly order?: Wallet;
  /** Others than the sponsor and the treasury, who have all accounts, show nothing unless it is said. */
  readonly wallets?: Readonly<Record<Address, Wallet>>;
  readonly markers?: Readonly<Record<string, MarkerTold>>;
}

const usable = (amount: bigint): TokenAccountTold => ({ amount, lamports: rent(165), state: "usable" });

function walletOf({ lamports = 0n, usdc, usdt }: Wallet): WalletTold {
  const account = (told: bigint | TokenAccountTold | undefined): TokenAccountTold | null =>
    typeof told === "bigint" ? usable(told) : (told ?? null);
  return { lamports, accounts: [account(usdc), account(usdt)] };
}

const RICH: Wallet = { lamports: 9_000_000_000n, usdc: 0n, usdt: 0n };

/** What a test says of a view. */
export interface Seen {
  readonly terms?: OrderTerms;
  readonly rows?: Partial<OrderRows>;
  /** One for each endpoint. */
  readonly shown: readonly Shown[];
  readonly witnesses?: number;
  readonly rentPerByte?: bigint;
  /** Lamports for one base unit of a token; null: no price. */
  readonly lamportsAUnit?: bigint | null;
}

/** A view of an order. Two endpoints that show the same are asked for where one is named. */
export function viewOf({ terms = termsOf(), rows = {}, shown, witnesses = 2, ...seen }: Seen): OrderView {
  const { rentPerByte = RATE, lamportsAUnit = 5n } = seen;
  const payees = terms.members.slice(0, 30).map(({ address }) => address);
  const query = queryOf(terms, { mints: [USDC, USDT], redirects: 3, others: [...payees, OTHER] });
  const told = (shown.length === 1 ? [...shown, ...shown] : shown).map(
    ({ slot = 100, blockTime = 900, order = {}, wallets = {}, markers = {} }, index): OrderTold => ({
      slot,
      endpoint: `endpoint ${index}`,
      blockTime,
      rentPerByte,
      order: walletOf(order),
      owners: query.owners.map((owner) => {
        const isOurs = owner === SPONSOR || owner === TREASURY;
        return walletOf(wallets[owner] ?? (isOurs ? RICH : {}));
      }),
      markers: query.seeds.map((seed) => markers[seed] ?? null),
    }),
  );
  const markers = query.seeds.map((_, index) => {
    const said = told.map((each) => each.markers[index] ?? null);
    const agreed = said.filter((marker) => said.filter((other) => other === marker).length >= witnesses);
    return agreed.length === 0 ? "disputed" : (agreed[0] ?? null);
  });
  const newestFirst = told.toSorted((one, other) => other.slot - one.slot);
  return {
    terms,
    rows: rowsOf(terms, rows),
    look: new Look(query, { witnesses, told: newestFirst, rentPerByte, markers }),
    tokens: [
      { mint: USDC, decimals: 6 },
      { mint: USDT, decimals: 6 },
    ],
    fee: FEE,
    priceOf: () =>
      lamportsAUnit === null ? null : (lamports) => (lamports + lamportsAUnit - 1n) / lamportsAUnit,
  };
}

/** The rows of an order of which nothing has happened. */
export function rowsOf(terms: OrderTerms, rows: Partial<OrderRows> = {}): OrderRows {
  return {
    chunks: terms.cut.map((_, k) => chunkRow(k)),
    levels: [],
    transfers: [],
    holds: [],
    acts: [],
    listed: [],
    isLoanBack: false,
    uncharged: 0n,
    isGoDead: false,
    ...rows,
  };
}

export function chunkRow(k: number, row: Partial<ChunkRow> = {}): ChunkRow {
  return { k, wanted: 0, length: null, slot: 0, isMissed: false, story: "length", opened: 0n, ...row };
}

export function levelRow(row: Partial<LevelRow> = {}): LevelRow {
  return { mint: USDC, received: 0n, out: 0n, writtenOff: 0n, slot: 0, short: false, missing: 0n, ...row };
}

export { SOL_MINT };
