/** Reads what transactions changed at an order: payers, payees of its own key, and markers. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import {
  rentOf,
  type OrderChange,
  type OrderHistory,
  type OrderHistoryQuery,
} from "../../ledger/order-reading.ts";
import { follows, weigh } from "../agree.ts";
import type { EndpointCall, NodeContext } from "../ask.ts";
import { associatedTokenAccount, markerOf } from "../derived-addresses.ts";
import { TOKEN_ACCOUNT_BYTES } from "../programs.ts";
import type { RpcNode } from "../rpc/rpc-node.ts";
import { inflowsIn, type Inflow } from "./attribute-inflows.ts";
import { landedChanges, type LandedChange } from "./landed-changes.ts";
import { inBatches, MAX_SIGNATURES } from "./signed-by.ts";

// Each is read from every endpoint. A flood costs its sender a fee for each transaction.
const MOST_READ = 1_000;
// A hundred thousand transactions of one account. Beyond it nothing is read, and payers stay unknown.
const MOST_PAGES = 100;

/** See `RoutingLedger.changesOfOrder`. Nodes have left entries out, so what any endpoint lists as successful is read. */
export async function changesOfOrder(
  nodes: NodeContext,
  query: OrderHistoryQuery,
  since: number,
): Promise<Evidence<OrderHistory>> {
  const order = new OrderAccounts(query);
  const listed = await weigh(
    nodes,
    { of: "changesOfOrder", question: listSince(order.accounts, since) },
    merged,
  );
  const more = listed.isWhole ? endOf(listed.transactions) : since;
  const due = listed.transactions.filter(({ slot }) => more === null || slot < more);
  const landed = await inBatches(due, (each) => landedChanges(nodes, each));
  return follows(listed, () => {
    const changes = landed.flatMap((each) => (each === null ? [] : [order.changeBy(each)]));
    return { changes: changes.filter(isTelling), more };
  });
}

interface Listed {
  readonly signature: string;
  readonly slot: number;
}

interface List {
  readonly transactions: readonly Listed[];
  readonly isWhole: boolean;
}

/** The successful transactions of these accounts of this slot or later, as one endpoint lists them. */
function listSince(accounts: readonly Address[], since: number): EndpointCall<List> {
  return async ({ rpc }) => merged(await Promise.all(accounts.map((each) => pagesOf(rpc, each, since))));
}

async function pagesOf(rpc: RpcNode, account: Address, since: number): Promise<List> {
  const transactions: Listed[] = [];
  let before = {};
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const listed = await rpc.getSignaturesForAddress(account, { ...before, limit: MAX_SIGNATURES });
    transactions.push(...listed.filter(({ slot, err }) => slot >= since && err === null));
    const last = listed.at(-1);
    if (last === undefined || last.slot < since || listed.length < MAX_SIGNATURES) {
      return { transactions, isWhole: true };
    }
    before = { before: last.signature };
  }
  return { transactions, isWhole: false };
}

/** The oldest slot first. It is a hint: the earliest counts, so that none makes the next look pass anything over. */
function merged(lists: readonly List[]): List {
  const latestFirst = lists.flatMap(({ transactions }) => transactions).toSorted((a, b) => b.slot - a.slot);
  const bySignature = new Map(latestFirst.map((each) => [each.signature, each]));
  return {
    transactions: [...bySignature.values()].toSorted((a, b) => a.slot - b.slot),
    isWhole: lists.every(({ isWhole }) => isWhole),
  };
}

/** The slot before which a look ends; whole slots are read, and one at least. Null where it reads all. */
function endOf(oldestFirst: readonly Listed[]): number | null {
  const [first] = oldestFirst;
  const over = oldestFirst[MOST_READ];
  return first === undefined || over === undefined ? null : Math.max(over.slot, first.slot + 1);
}

/** Whether it tells something: a stranger can name an order in any transaction. */
function isTelling({ changes, isOwn, received }: OrderChange): boolean {
  return changes.some((change) => change !== 0n) || (isOwn && received.length > 0);
}

type Received = OrderChange["received"][number];

/** The accounts of an order, and what a transaction changed there. */
class OrderAccounts {
  /** The wallet first, then the associated accounts in the order of the mints. */
  readonly accounts: readonly Address[];
  readonly #of: OrderHistoryQuery;
  readonly #markers: readonly Address[];

  constructor(query: OrderHistoryQuery) {
    const { address, mints, seeds } = query;
    this.accounts = [address, ...mints.map((mint) => associatedTokenAccount(address, mint))];
    this.#of = query;
    this.#markers = seeds.map((seed) => markerOf(address, seed));
  }

  changeBy(landed: LandedChange): OrderChange {
    const { address, mints } = this.#of;
    const { signature, slot, signers, lamports } = landed;
    const changes = [this.#lamportsOf(landed), ...mints.map((_, index) => this.#unitsOf(landed, index))];
    const atWallet = lamports.map((each) =>
      this.#isOwn(each.account) ? { ...each, account: address } : each,
    );
    const inflows = inflowsIn(address, [null, ...mints], { ...landed, lamports: atWallet });
    const giverOf = (mint: Address | null): Address | null =>
      giverIn(inflows.find((each) => each.mint === mint));
    const named = new Set(lamports.map(({ account }) => account));
    return {
      signature,
      slot,
      isOwn: signers.includes(address),
      changes,
      payers: [null, ...mints].map((mint, index) => ((changes[index] ?? 0n) > 0n ? giverOf(mint) : null)),
      markers: this.#markers.filter((marker) => named.has(marker)),
      received: this.#receivedOf(landed),
    };
  }

  #isOwn(account: Address): boolean {
    return this.accounts.includes(account);
  }

  #lamportsOf({ lamports, tokens }: LandedChange): bigint {
    const rent = rentOf(this.#of.rentPerByte, TOKEN_ACCOUNT_BYTES);
    const above = (held: bigint): bigint => (held > rent ? held - rent : 0n);
    return sumOf(
      lamports
        .filter(({ account }) => this.#isOwn(account))
        .map(({ account, before, change }) => {
          if (account === this.#of.address) return change;
          const after = before + change;
          // A transaction lists a token account as it was before and as it is behind: once, where it made or closed the account.
          // Lamports at an address without a token account cannot move: they count once the account is made.
          const times = tokens.filter((each) => each.account === account).length;
          if (times === 0) return 0n;
          const isMade = times === 1 && after > 0n;
          return above(after) - (isMade ? 0n : above(before));
        }),
    );
  }

  #unitsOf({ tokens }: LandedChange, index: number): bigint {
    const account = this.accounts[1 + index];
    // The new owner of a handed-over account owns its tokens.
    const own = tokens.filter((each) => each.account === account && each.owner === this.#of.address);
    return sumOf(own.map(({ change }) => change));
  }

  #receivedOf({ lamports, tokens }: LandedChange): readonly Received[] {
    const { address, mints } = this.#of;
    const coins = lamports.map(({ account, change }) => ({ owner: account, mint: null, amount: change }));
    const sums = new Map<string, Received>();
    for (const { owner, mint, change } of tokens) {
      if (owner === null || owner === address || !mints.includes(mint)) continue;
      const key = `${owner} ${mint}`;
      sums.set(key, { owner, mint, amount: (sums.get(key)?.amount ?? 0n) + change });
    }
    return [...coins.filter(({ owner }) => !this.#isOwn(owner)), ...sums.values()].filter(
      ({ amount }) => amount > 0n,
    );
  }
}

/** The owner who gave the whole inflow; null where another owner, or one without a name, may have given a part. */
function giverIn(inflow: Inflow | undefined): Address | null {
  if (inflow === undefined || inflow.unattributed > 0n) return null;
  const [giver, another] = inflow.from;
  return giver !== undefined && another === undefined && giver.amount === inflow.amount ? giver.payer : null;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
