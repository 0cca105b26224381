/** Brings orders back of their lines in a recovery journal, where the database that knew them is lost. */
import { isDeepStrictEqual } from "node:util";
import type { Address } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { OrderStubRecord } from "../tables.ts";
import { privateModeIsOff } from "../private-routing.ts";
import { readActContext, OperatorRefused } from "../../frame/acts/act.ts";
import type { ActRunner } from "../../frame/acts/act-runner.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import { lineOf, type OrderLine, type RecoveryJournal } from "./journal.ts";
import { restoring, type RestoringParts } from "./restore-order.ts";

/** An order of a journal, and what became of it. */
export interface RecoveredOrder {
  readonly transactionId: string;
  readonly address: string;
  /**
   * `restored`: its money goes back to the sender, as soon as a service is at work. `known`: the database has the order, which
   * looks at its address now. `open`: its deposit window is not over. `empty`: nothing is there now, and nothing was kept: look
   * again by recovering it again.
   */
  readonly state: "restored" | "known" | "open" | "empty";
  /** The funds at the address on one endpoint's word; nothing unless the order was restored. */
  readonly holdings: readonly {
    /** The symbol, or the mint of what is none of the service's assets. */
    readonly asset: string;
    /** Whole units; raw units of what is none of the service's assets. */
    readonly amount: string;
  }[];
}

/** See `RecoveryCommands`. */
export type RecoverCommand = (
  orders: readonly (string | OrderLine)[],
  by: ActContext,
) => Promise<readonly RecoveredOrder[]>;

/** The operator's command that brings orders back. */
export interface RecoveryCommands {
  /**
   * Brings back orders that this database does not know, such as after it was lost: of lines of a `recovery` journal, or of
   * ids that the service's own journal has. Funds at an address go back to the order's sender, as after a window that is
   * over; recipients whom the chain does not show as paid are given up. Rejects with `OperatorRefused`, naming every id that
   * is none, that is in no journal, or whose master secret is missing: then nothing is restored. Rejects with
   * `LedgerUnavailable` when the chain cannot be read. A second call continues where the first stopped.
   */
  readonly recover: RecoverCommand;
}

/** The command while private mode is off. */
export const refuseRecovery: RecoverCommand = async () => {
  throw privateModeIsOff();
};

const ID_SHAPE = /^tx_[0-9a-f]{32}$/;

export interface RecoveryParts extends RestoringParts {
  readonly acts: ActRunner;
  /** Null where nothing is written down. */
  readonly journal: Pick<RecoveryJournal, "read"> | null;
  /** The versions of the master secret that are given, the newest first. */
  readonly masterVersions: readonly number[];
}

/** See `RecoveryCommands`. */
export function recoverCommand(parts: RecoveryParts): RecoverCommand {
  return async (given, by) => {
    const acted = readActContext(by);
    const lines = await linesOf(parts, given);
    const recovered: RecoveredOrder[] = [];
    for (const line of lines) recovered.push(await recoverOne(parts, line, acted));
    return recovered;
  };
}

/** The whole list is checked before anything is done for any of it. Throws `OperatorRefused` that names every wrong id. */
async function linesOf(
  { storage, journal, masterVersions }: RecoveryParts,
  given: readonly (string | OrderLine)[],
): Promise<readonly OrderLine[]> {
  const lines = new Map(
    given.flatMap((each) => (typeof each === "string" ? [] : [[each.id, each] as const])),
  );
  const ids = given.map((each) => (typeof each === "string" ? each : each.id));
  // The records name the owner of the money; a typed line does not.
  const recorded = new Map<string, OrderLine>();
  for (const id of ids) {
    const [order, stub] = await Promise.all([storage.order(id), storage.orderStub(id)]);
    if (order !== null) recorded.set(id, lineOf(order));
    if (stub !== null) recorded.set(id, lineOfStub(stub));
  }
  const wanted = new Set(ids.filter((id) => !recorded.has(id)));
  if (wanted.size > 0 && journal !== null) {
    for await (const line of journal.read()) {
      if ("layout" in line && wanted.has(line.id)) recorded.set(line.id, line);
    }
  }
  const problems = ids.flatMap((id) => {
    const record = recorded.get(id);
    const line = lines.get(id) ?? record;
    if (!ID_SHAPE.test(id)) return [`${id.slice(0, 64)} is no transaction's id`];
    if (line === undefined) return [`${id} is in no journal: give its line`];
    if (record !== undefined && !isDeepStrictEqual(line, record)) {
      return [`${id} is on record with another line: give its id alone`];
    }
    lines.set(id, line);
    const { masterVersion } = line;
    return masterVersions.includes(masterVersion)
      ? []
      : [`${id} needs version ${masterVersion} of the master secret, which is not given`];
  });
  if (problems.length > 0) throw new OperatorRefused(problems.join("; "));
  return [...lines.values()];
}

function lineOfStub({ rentPerByte, ...stub }: OrderStubRecord): OrderLine {
  const { id, masterVersion, createdAt, layout, sender, mint, chunks, windowEnds } = stub;
  const terms = { layout, sender, mint, chunks, rentPerByte: String(rentPerByte), windowEnds };
  return { id, masterVersion, createdAt, ...terms };
}

async function recoverOne(parts: RecoveryParts, line: OrderLine, by: ActContext): Promise<RecoveredOrder> {
  const { storage, clock, engine, routing } = parts;
  const { id: transactionId, masterVersion, windowEnds } = line;
  const address = routing.keys.address({ masterVersion, transactionId });
  const nothing = { transactionId, address, holdings: [] };
  const known = await storage.orderedTransaction(transactionId);
  if (known !== null) {
    if (known.order !== null) await engine.send(routing.orders, transactionId, { type: "LOOK" });
    return { ...nothing, state: "known" };
  }
  if (clock.now() <= windowEnds) return { ...nothing, state: "open" };
  const holdings = await holdingsOf(parts, address);
  if (holdings.length === 0) return { ...nothing, state: "empty" };
  await parts.acts.carryOut(restoring(parts), line, by);
  return { transactionId, address, state: "restored", holdings };
}

/** A hint is enough to know where to look: what is restored looks at the chain itself. */
async function holdingsOf(
  { ledger, assets }: RecoveryParts,
  address: Address,
): Promise<RecoveredOrder["holdings"]> {
  const { lamports, holdings } = await ledger.balances(address);
  const sol = assets.named("SOL");
  const found = holdings.map(({ mint, amount }) => {
    const asset = assets.ofMint(mint);
    return asset === null || asset === sol
      ? { asset: mint, amount: String(amount) }
      : { asset: asset.symbol, amount: formatAmount(amount, asset.decimals) };
  });
  return lamports === 0n
    ? found
    : [{ asset: sol.symbol, amount: formatAmount(lamports, sol.decimals) }, ...found];
}
