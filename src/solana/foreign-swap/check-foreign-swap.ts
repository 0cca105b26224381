/** Checks a swap that a stranger has built, before its taker sees it. */
import { type Address, SOL_MINT } from "../../core/address.ts";
import type { ForeignSwap, ForeignSwapFault } from "../../ledger/foreign-swap.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import { agree, follows } from "../agree.ts";
import type { EndpointCall, NodeContext } from "../ask.ts";
import { associatedTokenAccount } from "../derived-addresses.ts";
import { landingWindow } from "../blockhash-window.ts";
import { decodeTransaction, type DecodedTransaction } from "../decode-transaction.ts";
import {
  ACCOUNT_HEAD,
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  JUPITER_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../programs.ts";
import { feeOf } from "../payment-cost.ts";
import { readAccounts } from "../accounts.ts";
import { priorityFee, readInstruction } from "../read-instruction.ts";
import { resolveInstructions, type ResolvedInstruction } from "../resolve-instructions.ts";
import { type MadeAccount, readRoute, type Route } from "./read-route.ts";
import { costOf, isWatched, type PricedSwap, type SwapCost } from "./taker-accounts.ts";

/** Programs that a stranger's transaction may call itself. */
const PROGRAMS: ReadonlySet<string> = new Set([
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  JUPITER_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  ...MEMO_PROGRAMS,
]);

/** See `RoutingLedger.checkForeignSwap`. Checks without a node come first. */
export async function checkForeignSwap(
  nodes: NodeContext,
  putativeTransaction: string,
  swap: ForeignSwap,
): ReturnType<RoutingLedger["checkForeignSwap"]> {
  const decoding = decodeTransaction(putativeTransaction);
  if ("refused" in decoding) return { refused: "undecodable" };
  const { decoded } = decoding;
  const { message, messageBytes } = decoded;
  if (message.version === 1) return { refused: "undecodable" };
  if (message.staticAccountKeys[0]?.toBase58() !== swap.taker) return { refused: "fee_payer" };
  if (message.header.numRequiredSignatures !== 1) return { refused: "signers" };
  const instructions = await resolveInstructions(nodes, decoded);
  if (instructions === null) return { refused: "undecodable" };
  const fault = faultOf(instructions, swap);
  if (fault !== null) return { refused: fault };
  const window = await landingWindow(nodes, message.recentBlockhash);
  if (window === null) return { refused: "blockhash" };
  const fee = await feeOf(nodes, message);
  const run = await agree(nodes, {
    of: "checkForeignSwap",
    subject: "the run of a market's swap",
    question: runOf({ decoded, instructions, swap: { ...swap, fee } }),
    textOf: (told) => (typeof told === "string" ? told : `${told.spent} ${told.rent}`),
  });
  if (typeof run === "string") return { refused: run };
  const unsigned = {
    message: messageBytes,
    signers: [swap.taker],
    blockhash: message.recentBlockhash,
    lastValidBlockHeight: window.lastValidBlockHeight,
    firstSlot: window.firstSlot,
    // Any other departure beside the fee, such as a tip, is a cost to the taker all the same.
    networkFee: run.spent > fee ? run.spent : fee,
    priorityFee: priorityFee(message, instructions.map(readInstruction)),
  };
  return { checked: follows([run, fee, instructions], () => ({ unsigned, rent: run.rent })) };
}

const CLOSE_ACCOUNT = 9;
// From a wallet, and not from a nonce account or an address that is derived from a wallet.
const SYSTEM_ASSIGN = 1;
const SYSTEM_TRANSFER = 2;
const SYSTEM_CREATE_WITH_SEED = 3;
const SYSTEM_KINDS = new Set([SYSTEM_ASSIGN, SYSTEM_TRANSFER, SYSTEM_CREATE_WITH_SEED]);
const SET_AUTHORITY = 6;
/** Instructions of token accounts, and not of mints, each with the place of the account that has to sign. */
const SIGNER_OF_TOKEN_KINDS: ReadonlyMap<number, number> = new Map([
  // Transfer, approve, and both of them checked.
  [3, 2],
  [4, 2],
  [12, 3],
  [13, 3],
  [SET_AUTHORITY, 1],
  [CLOSE_ACCOUNT, 2],
]);
/** Initialize and sync: nobody signs. */
const UNSIGNED_TOKEN_KINDS = new Set([1, 16, 17, 18]);
/** The owner of a token account, and who may close it; the first two authorities are of mints. */
const AUTHORITIES_OF_ACCOUNTS = new Set([2, 3]);

/**
 * Whether all that an instruction can do to a taker shows after the run in the accounts that are looked at. With the same
 * signature a taker may also be the authority of mints, nonce accounts and addresses derived from the wallet; and one of the
 * signers of a multisig.
 */
function showsAfterRun({ program, accounts, data }: ResolvedInstruction, taker: Address): boolean {
  const [kind = -1, argument = -1] = data;
  if (program === SYSTEM_PROGRAM) return SYSTEM_KINDS.has(kind);
  if (program !== TOKEN_PROGRAM) return PROGRAMS.has(program);
  if (UNSIGNED_TOKEN_KINDS.has(kind)) return true;
  if (kind === SET_AUTHORITY && !AUTHORITIES_OF_ACCOUNTS.has(argument)) return false;
  const signer = SIGNER_OF_TOKEN_KINDS.get(kind);
  return signer !== undefined && accounts[signer] === taker;
}

/** Statements of the instructions that the terms do not allow. */
function faultOf(instructions: readonly ResolvedInstruction[], swap: ForeignSwap): ForeignSwapFault | null {
  if (!instructions.every((each) => showsAfterRun(each, swap.taker))) return "program";
  // The balance of an account at its closing is known only then.
  if (instructions.some((each) => closes(each) && each.accounts[1] !== swap.taker)) return "terms";
  const read = instructions.filter(({ program }) => program === JUPITER_PROGRAM).map(readRoute);
  const routes = read.flatMap((each) => (each?.does === "swap" ? each : []));
  const [route] = routes;
  if (route === undefined || routes.length > 1 || read.includes(null)) return "terms";
  const made = read.flatMap((each) => (each?.does === "make_account" ? each : []));
  return keepsTerms(route, swap, unwrapped(made, instructions, swap.taker)) ? null : "terms";
}

function closes({ program, data }: ResolvedInstruction): boolean {
  return program === TOKEN_PROGRAM && data[0] === CLOSE_ACCOUNT;
}

/** Accounts of wrapped SOL that the aggregator makes, and that are closed to the taker in the same transaction. */
function unwrapped(
  made: readonly MadeAccount[],
  instructions: readonly ResolvedInstruction[],
  taker: Address,
): ReadonlySet<string | undefined> {
  const closed = new Set(
    instructions
      .filter((each) => closes(each) && each.accounts[1] === taker && each.accounts[2] === taker)
      .map(({ accounts: [account] }) => account),
  );
  const ofTaker = made.filter(({ owner, mint }) => owner === taker && mint === SOL_MINT);
  return new Set(ofTaker.flatMap(({ account }) => (closed.has(account) ? [account] : [])));
}

function keepsTerms(
  route: Route,
  { taker, give, get, inputAmount, leastAmount }: ForeignSwap,
  unwrappedAccounts: ReadonlySet<string | undefined>,
): boolean {
  // Programs that swap know no SOL: it is wrapped before, and unwrapped after.
  const isOwn = (account: string | undefined, mint: Address | null): boolean =>
    account === associatedTokenAccount(taker, mint ?? SOL_MINT) ||
    (mint === null && unwrappedAccounts.has(account));
  return (
    route.taker === taker &&
    isOwn(route.source, give) &&
    isOwn(route.destination, get) &&
    (route.payee === null || route.payee === route.destination) &&
    route.inputAmount <= inputAmount &&
    route.leastAmount >= leastAmount
  );
}

/**
 * One endpoint's run. The accounts in the instructions are compared if they belong to the taker or do not exist. Their
 * earlier balance is read after the run, at its slot or later: behind one URL stand nodes that are some slots apart, and
 * money that came to the taker between two of them could be taken unseen.
 */
function runOf({
  decoded: { bytes },
  instructions,
  swap,
}: PricedRun): EndpointCall<SwapCost | "run" | "takes_more"> {
  const named = [...new Set([swap.taker, ...instructions.flatMap(({ accounts }) => accounts)])];
  const read = readAccounts(named, "confirmed", ACCOUNT_HEAD);
  return async (endpoint) => {
    const found = await read(endpoint);
    const watched = named.filter((address, index) =>
      isWatched({ address, before: found[index] ?? null }, swap),
    );
    const { err, accounts, slot } = await endpoint.rpc.simulateAccounts(bytes, watched);
    if (err !== null || accounts === null) return "run";
    const since = { commitment: "confirmed", minContextSlot: slot } as const;
    const before = await readAccounts(watched, since, ACCOUNT_HEAD)(endpoint);
    const changes = watched.map((address, index) => ({
      address,
      before: before[index] ?? null,
      after: accounts[index] ?? null,
    }));
    return costOf(changes, swap) ?? "takes_more";
  };
}

/** A decoded transaction, and the terms with its fee. */
interface PricedRun {
  readonly decoded: DecodedTransaction;
  readonly instructions: readonly ResolvedInstruction[];
  readonly swap: PricedSwap;
}
