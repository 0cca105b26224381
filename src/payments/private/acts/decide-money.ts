/** Acts on money at an order's address: to somebody else than the sender, to where it counts, and tokens of foreign mints. */
import { parseAddress, type Address } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import { ledgerMint, type Token } from "../../frame/assets/assets.ts";
import type { PrivateWrite } from "../private-storage.ts";
import { timeOf } from "../judged-rows.ts";
import { MOST_REDIRECTS } from "../protocol/cut.ts";
import { freeRedirect } from "../protocol/redirect.ts";
import type { ActRecord, TransferRecord } from "../tables.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { OrderCommand } from "../../frame/acts/command.ts";
import { refusal, type Acting, type CommandOf, type OrderAct } from "./acting.ts";
import { checkReceiver } from "./check-receiver.ts";

/** Transfers of which one at a time is out at an address. */
const ONE_AT_A_TIME: ReadonlySet<string> = new Set(["rest", "redirect", "collect", "foreign"]);

/** The most token accounts that one act empties, each by a transaction of its own. */
const MAX_COLLECTED = 10;

/** Sends what is there of an asset to another address: at most what is there when it is asked for. */
export async function refundTo(acting: Acting<CommandOf<"refundTo">>): Promise<OrderAct> {
  const { parts, command, look, standing, confirmed } = acting;
  if (!standing.isDecided) {
    throw refusal(acting, "is not decided: decline it, or foreclose its open chunks, first");
  }
  refuseWhileOut(acting);
  const to = await checkReceiver(parts, command.address, look.terms.id);
  const asset = assetOf(acting, command.asset ?? look.terms.mint);
  const sum = confirmed ?? standing.held(asset.mint);
  if (sum <= 0n) throw refusal(acting, `holds no ${asset.symbol}`);
  const allowed = { [asset.symbol]: formatAmount(sum, asset.decimals) };
  const n = nextRedirect(acting);
  const write = approvedAct(acting, { n, mint: asset.mint, sum, to });
  const planned = plan(acting, { kind: "redirect", n, mint: asset.mint, to, subjects: [] });
  return {
    act: "refund_to",
    what: { n, address: to, allowed },
    event: null,
    writes: [write, planned.write],
    starts: [planned.start],
    confirmation: { by: "any", address: to, sum, allowed },
  };
}

/** Brings strays of one asset to the order's own account, from where they go back like all that comes late. */
export function collect(acting: Acting<CommandOf<"collect">>): OrderAct {
  const { parts, look } = acting;
  refuseUnlessOver(acting);
  refuseWhileOut(acting);
  const strays = look.view.deposits.filter(
    ({ account, leftAt, mint }) => account !== null && leftAt === null && parts.assets.ofMint(mint) !== null,
  );
  const mints = new Map(strays.map(({ account, mint }) => [account ?? "", mint]));
  const collected = [...mints].slice(0, MAX_COLLECTED);
  if (collected.length === 0) throw refusal(acting, "has nothing of the service's assets in other accounts");
  const first = countOf(acting, "collect");
  const to = look.terms.address;
  const planned = collected.map(([account, mint], index) =>
    plan(acting, { kind: "collect", n: first + index, mint, to, subjects: [account] }),
  );
  return {
    act: "collect",
    what: { accounts: collected.map(([account]) => account) },
    event: null,
    writes: planned.map(({ write }) => write),
    starts: planned.map(({ start }) => start),
    confirmation: null,
  };
}

/** Sends tokens of a foreign mint to the sender, or elsewhere. Two people decide it: what a mint does is its maker's. */
export async function foreign(acting: Acting<CommandOf<"foreign">>): Promise<OrderAct> {
  const { parts, command, look, confirmed } = acting;
  refuseUnlessOver(acting);
  refuseWhileOut(acting);
  const mint = foreignMint(acting);
  const { address, sender, id } = look.terms;
  const to = command.address === undefined ? sender : await checkReceiver(parts, command.address, id);
  const [metadata = null] = await parts.ledger.mints([mint]);
  const sum = confirmed ?? (metadata === null ? 0n : await heldOf(acting, mint));
  if (metadata === null || sum === 0n) throw refusal(acting, `holds nothing of ${mint}`);
  const isElsewhere = to !== sender;
  // Beyond the redirects' numbers: what goes to the sender buys no marker.
  const n = isElsewhere ? nextRedirect(acting) : MOST_REDIRECTS + countOf(acting, "foreign");
  const seen = look.view.deposits.find((each) => each.mint === mint && each.leftAt === null);
  // The associated account if nobody has looked yet.
  const account = seen?.account ?? parts.ledger.tokenAccountOf(address, mint, metadata.program);
  const planned = plan(acting, { kind: "foreign", n, mint, to, subjects: [account] });
  const allowed = { [mint]: String(sum) };
  return {
    act: "foreign",
    what: { mint, address: to, allowed },
    event: null,
    writes: [...(isElsewhere ? [approvedAct(acting, { n, mint, sum, to })] : []), planned.write],
    starts: [planned.start],
    confirmation: { by: "another", address: to, sum, allowed },
  };
}

async function heldOf({ look, parts }: Acting, mint: Address): Promise<bigint> {
  const { tokens } = await parts.ledger.holdingsOf(look.terms.address, [mint], "finalized");
  return tokens[0] ?? 0n;
}

function plan(
  { parts, look }: Acting,
  wanted: Omit<Parameters<Acting["parts"]["control"]["planTransfer"]>[0], "order">,
): ReturnType<Acting["parts"]["control"]["planTransfer"]> {
  return parts.control.planTransfer({ order: look.terms.id, ...wanted });
}

function refuseUnlessOver(acting: Acting): void {
  if (acting.look.view.order.state !== "over") throw refusal(acting, "is not over: wait until it is");
}

/** One rest, redirect or the like is out at a time; of approved sums one at a time is open; nothing is ordered twice. */
function refuseWhileOut(acting: Acting): void {
  const { acts, transfers } = acting.look.view;
  const { command } = acting;
  if (transfers.some((each) => each.state === "planned" && isOrderedBy(command, each))) {
    throw refusal(acting, `has not yet carried out the last ${command.action}: wait until that is done`);
  }
  const open = acts.find(({ state }) => state === "open");
  if (open !== undefined) throw refusal(acting, `still sends money to ${open.to}: wait until that is done`);
  if (transfers.some(({ kind, state }) => state === "out" && ONE_AT_A_TIME.has(kind))) {
    throw refusal(acting, "is sending money back at this moment: try again in a minute");
  }
}

/** Whether the same words have planned it: whoever does not know whether they were heard says them again. */
function isOrderedBy(command: OrderCommand, { kind, mint }: Pick<TransferRecord, "kind" | "mint">): boolean {
  return kind === command.action && (command.action !== "foreign" || command.mint === mint);
}

function assetOf(acting: Acting, named: string): Token {
  const asset = acting.parts.assets.tokens.find(({ symbol, mint }) => symbol === named || mint === named);
  if (asset !== undefined) return asset;
  throw refusal(
    acting,
    `cannot send ${named}: expected one of the service's assets; other mints go by foreign`,
  );
}

function foreignMint(acting: Acting<CommandOf<"foreign">>): Address {
  const { command, parts } = acting;
  const parsed = parseAddress(command.mint);
  if ("fault" in parsed) throw new OperatorRefused(`mint: ${command.mint} is no address of a mint`);
  const own = parts.assets.tokens.find(
    (each) => each.symbol === command.mint || each.mint === parsed.address,
  );
  if (own === undefined) return parsed.address;
  const way = ledgerMint(own) === null ? "wrapped, collect brings it back" : "it goes back by itself";
  throw refusal(acting, `sends no ${own.symbol} in this way: ${way}`);
}

function nextRedirect(acting: Acting): number {
  const { view, judged } = acting.look;
  const n = freeRedirect(judged.look, new Set(view.acts.map((act) => act.n)));
  if (n !== null) return n;
  if (judged.look.reading.markers.includes("disputed")) {
    throw refusal(acting, "has markers about which endpoints differ: look again in a minute");
  }
  throw refusal(acting, `has sent money elsewhere ${MOST_REDIRECTS} times: no more is possible`);
}

function countOf({ look }: Acting, kind: string): number {
  return look.view.transfers.filter((each) => each.kind === kind).length;
}

function approvedAct(
  { look, actors }: Acting,
  { n, mint, sum, to }: Pick<ActRecord, "n" | "mint" | "sum" | "to">,
): PrivateWrite {
  const id = `${look.terms.id}:r${n}`;
  const approved = { approvedBy: actors, approvedAt: timeOf(look.reading), state: "open" as const };
  return { table: "acts", insert: { id, order: look.terms.id, n, mint, sum, to, ...approved } };
}
