/** Reads the balances of an owner over all its token accounts: some senders pay into an account of their own making. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { FirmCommitment } from "../../ledger/ledger.ts";
import type { OwnerHoldings, StrayAccount } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { associatedTokenAccount } from "../derived-addresses.ts";
import type { Endpoint } from "../endpoint.ts";
import { ACCOUNT_HEAD } from "../programs.ts";
import { programOf, readTokenAccount, isFrozen, lamportsIn } from "../token-accounts.ts";
import { agreedBalances, largestFirst } from "./funds.ts";

/** The owner, mints and commitment of the question. */
interface HoldingsQuery {
  readonly owner: Address;
  readonly mints: readonly Address[];
  readonly commitment: FirmCommitment;
}

/** See `RoutingLedger.holdingsOf`. */
export async function holdingsOf(nodes: NodeContext, asked: HoldingsQuery): Promise<Evidence<OwnerHoldings>> {
  const question = readHoldings(asked);
  return await weigh(nodes, { of: "holdingsOf", question }, (told) => vouchedFor(nodes, asked, told));
}

function vouchedFor(nodes: NodeContext, asked: HoldingsQuery, told: readonly OwnerHoldings[]): OwnerHoldings {
  // If two endpoints name one address with two mints, neither confirms the other.
  const known = new Map(told.flatMap(({ accounts }) => accounts.map((each) => [nameOf(each), each])));
  const strays = [...known.values()];
  const answers = told.map(({ accounts, ...reading }) => {
    const amounts = new Map(accounts.map((each) => [nameOf(each), each.amount]));
    const beside = strays.map((each) => amounts.get(nameOf(each)) ?? 0n);
    return { ...reading, amounts: [reading.lamports, ...reading.tokens, ...beside] };
  });
  const { oldest, amounts, most } = agreedBalances(answers, nodes.witnesses);
  const before = 1 + asked.mints.length;
  const agreed = strays.map((each, index) => ({ ...each, amount: amounts[before + index] ?? 0n }));
  const disputed = agreed.filter(({ amount }, index) => (most[before + index] ?? 0n) > amount);
  const endpoints = told.map(({ endpoint }) => endpoint);
  noteDisputed(nodes, asked, { mints: new Set(disputed.map(({ mint }) => mint)), endpoints });
  const [lamports = 0n, ...tokens] = amounts.slice(0, before);
  return {
    slot: oldest.slot,
    endpoint: oldest.endpoint,
    lamports,
    tokens,
    accounts: agreed
      .filter(({ amount }) => amount > 0n)
      .toSorted((one, other) => largestFirst(one.amount, other.amount)),
  };
}

function nameOf({ address, mint }: StrayAccount): string {
  return `${address} ${mint}`;
}

/** A dispute for each mint: mints are asked about at one moment, and agreement about one ends no dispute about another. */
function noteDisputed(
  { disputes }: NodeContext,
  { owner, mints }: HoldingsQuery,
  disputed: { readonly mints: ReadonlySet<Address>; readonly endpoints: readonly string[] },
): void {
  for (const mint of mints) {
    const subject = `the token accounts of ${owner} for ${mint}`;
    if (disputed.mints.has(mint)) disputes.note(subject, disputed.endpoints);
    else disputes.end(subject);
  }
}

/** One endpoint answers the whole question; the slot is the slot of its oldest answer. */
function readHoldings({ owner, mints, commitment }: HoldingsQuery): EndpointCall<OwnerHoldings> {
  return async (endpoint) => {
    const [wallet, ...held] = await Promise.all([
      endpoint.rpc.getAccountInfo(owner, { commitment, dataSlice: ACCOUNT_HEAD }),
      ...mints.map((mint) => heldIn(endpoint, mint, { owner, commitment })),
    ]);
    return {
      slot: Math.min(wallet.context.slot, ...held.map(({ slot }) => slot)),
      endpoint: endpoint.name,
      lamports: lamportsIn(wallet.value),
      tokens: held.map(({ units }) => units),
      accounts: held.flatMap(({ strays }) => strays),
    };
  };
}

async function heldIn(
  { rpc }: Endpoint,
  mint: Address,
  { owner, commitment }: Omit<HoldingsQuery, "mints">,
): Promise<{ readonly slot: number; readonly units: bigint; readonly strays: readonly StrayAccount[] }> {
  // By mint and not by program: a stranger can give an address thousands of accounts of worthless mints.
  const { slot, accounts } = await rpc.getTokenAccountsByOwner(owner, { mint }, commitment);
  const ours = accounts.flatMap(({ pubkey: address, account }) => {
    const program = programOf(account.owner);
    const held = readTokenAccount(account.data);
    if (program === null || held?.owner !== owner || held.mint !== mint) return [];
    const isStray = address !== associatedTokenAccount(owner, mint, program) && !isFrozen(account);
    return [{ address, mint, amount: held.amount, isStray }];
  });
  return {
    slot,
    units: ours.reduce((sum, { amount }) => sum + amount, 0n),
    strays: ours.flatMap(({ isStray, ...each }) => (isStray && each.amount > 0n ? [each] : [])),
  };
}
