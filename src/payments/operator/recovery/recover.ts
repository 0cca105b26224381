/** Bringing deposit addresses back from the ids of their orders, where the database that knew them is lost. */
import type { DepositRecord, PaymentTables, ReservationRecord, TransactionRecord } from "../../records.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import type { Address } from "../../../address.ts";
import { SOL_MINT } from "../../../address.ts";
import { formatAmount, LARGEST_AMOUNT } from "../../../amount.ts";
import { startOf } from "../../../engine/index.ts";
import type { Engine } from "../../../engine/index.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock } from "../../../runtime.ts";
import { ledgerMint, smallestAmount } from "../../assets/assets.ts";
import type { Assets } from "../../assets/assets.ts";
import { AGING_MS, LINGER_MS, QUIET_MS, REFUND_PAUSE_MS, SLOW_MS } from "../../private/accept-order.ts";
import { strayDeposits } from "../../private/collect-strays.ts";
import { otherMints } from "../../outgoing/plans/other-mints.ts";
import type { PrivateRouting } from "../../private/private-routing.ts";
import { routingCost } from "../../outgoing/plans/routing-cost.ts";
import { shareOfDay } from "../../purses/sponsor-limit.ts";
import { sponsorPurse } from "../../spending.ts";
import { sponsorCap } from "../../purses/sponsor-allowance.ts";
import { UNKNOWN_SPENDING, unknownSpending } from "../../outgoing/unknown-spending.ts";
import { readActedBy } from "../act.ts";
import type { ActedBy } from "../../acted-by.ts";
import type { WriteAct } from "../act.ts";
import { RECOVERED } from "../attention/held-addresses.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { RecoveryEntry } from "./entry.ts";

/** What lies at a recovered address. */
export interface RecoveredHolding {
  /** The symbol, or the mint of what is none of the service's assets. */
  readonly asset: string;
  /** Whole units; raw units of what is none of the service's assets. */
  readonly amount: string;
}

/** One address that was derived again. */
export interface RecoveredAddress {
  readonly transactionId: string;
  readonly address: string;
  readonly masterVersion: number;
  /**
   * `restored`: money is there, and the address is held as a matter until an operator has said where it goes. `empty`:
   * nothing is there now and nothing was kept: look again by recovering it again.
   */
  readonly state: "restored" | "empty";
  /** Why it is held: `recovered`, or `unknown_spending` where it has paid already. Null where it is not held. */
  readonly heldReason: string | null;
  readonly holdings: readonly RecoveredHolding[];
}

/** See `Operator.recover`. */
export type Recover = (
  ids: readonly (string | RecoveryEntry)[],
  by: ActedBy,
) => Promise<readonly RecoveredAddress[]>;

/** Whose the recovered orders are: the journal does not say who ordered. */
const NOBODYS_ACCOUNT = "recovered";
const ID_SHAPE = /^tx_[0-9a-f]{32}$/;

interface Candidate {
  readonly transactionId: string;
  readonly address: Address;
  readonly masterVersion: number;
  readonly createdAt: number;
}

export function createRecover({
  storage,
  ledger,
  engine,
  clock,
  assets,
  routing,
  masterVersions,
  writeAct,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly engine: Engine<PaymentTables>;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly routing: PrivateRouting;
  /** The versions of the master secret that are given, the newest first. */
  readonly masterVersions: readonly number[];
  readonly writeAct: WriteAct;
}): Recover {
  const { keys, terms, orders, addresses } = routing;
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);

  /** The addresses that an id may have had: one for each version, unless the journal says which. */
  const candidatesOf = (given: string | RecoveryEntry): readonly Candidate[] => {
    const { id, createdAt } = typeof given === "string" ? { id: given, createdAt: clock.now() } : given;
    const versions = typeof given === "string" ? masterVersions : [given.masterVersion];
    return versions.map((masterVersion) => {
      const address = keys.address({ masterVersion, transactionId: id });
      return { transactionId: id, address, masterVersion, createdAt };
    });
  };

  /** Everything there is, finalized: what the refund machinery would find, and what only an operator moves. */
  const holdingsOf = async (
    address: Address,
    amounts: readonly bigint[],
  ): Promise<readonly RecoveredHolding[]> => {
    const [strays, others] = await Promise.all([
      strayDeposits({ ledger, assets }, address, { among: assets.tokens, commitment: "finalized" }),
      otherMints({ ledger, assets }, address),
    ]);
    const own = assets.tokens.flatMap(({ symbol, mint, decimals }, index) => {
      const beside = strays.deposits.filter((each) => each.mint === mint);
      const sum = beside.reduce((total, { amount }) => total + amount, amounts[index] ?? 0n);
      return sum === 0n ? [] : [{ asset: symbol, amount: formatAmount(sum, decimals) }];
    });
    return [...own, ...Object.entries(others).map(([asset, amount]) => ({ asset, amount }))];
  };

  /** Refuses the whole list by name before anything is done for any of it. */
  const refuseForeign = async (ids: readonly (string | RecoveryEntry)[]): Promise<void> => {
    const problems: string[] = [];
    for (const given of ids) {
      const { id, masterVersion = null } = typeof given === "string" ? { id: given } : given;
      const known = ID_SHAPE.test(id) ? await storage.transaction(id) : null;
      if (!ID_SHAPE.test(id)) problems.push(`${id.slice(0, 64)} is no transaction's id`);
      else if (known !== null && known.transaction.accountId !== NOBODYS_ACCOUNT) {
        problems.push(`${id} is known to this database: it needs no recovery`);
      } else if (masterVersion !== null && !masterVersions.includes(masterVersion)) {
        problems.push(`${id} needs version ${masterVersion} of the master secret, which is not given`);
      }
    }
    if (problems.length > 0) throw new OperatorRefused(problems.join("; "));
  };

  /** Restores it, and returns what it is held for: one that has paid already waits until that is explained. */
  const restore = async (
    { transactionId, address, masterVersion, createdAt }: Candidate,
    by: ActedBy,
  ): Promise<string> => {
    const spent = await unknownSpending({ storage, ledger }, address);
    const heldReason = spent.length > 0 ? UNKNOWN_SPENDING : RECOVERED;
    const { depositWindowMs } = terms;
    const sponsor = terms.sponsor.address;
    const cost = await routingCost(
      ledger,
      { sponsor, treasury: terms.treasury },
      {
        asset: assets.named(SOL_MINT),
        recipients: 1,
        pricedAccounts: 0,
      },
    );
    const now = clock.now();
    const transaction: TransactionRecord = {
      ...{ id: transactionId, accountId: NOBODYS_ACCOUNT, quoteId: "", type: "send", mode: "private" },
      // Who sent the money is not known: it goes where an operator says, and nowhere else.
      ...{ sender: "", mint: SOL_MINT, feeMint: SOL_MINT, depositAddress: address, requestHash: "" },
      ...{ status: "failed", reason: "RECOVERED", signature: null, blockTime: null, fee: 0n },
      ...{ landedAfterCancel: false, broadcastAt: null, cancelledAt: null, createdAt },
      ...{ reference: null, attention: null, landedSignature: null },
    };
    const deposit: DepositRecord = {
      ...{ id: address, transactionId, accountId: NOBODYS_ACCOUNT, masterVersion, mint: SOL_MINT },
      ...{ amount: 0n, expiresAt: createdAt, waitEndedAt: now, heldReason, createdAt },
    };
    // What sending the money on may cost the sponsor is reserved like any order's, and ends as an order's does.
    const reservation: ReservationRecord = {
      ...{ id: transactionId, version: 1, resource: sponsorPurse(sponsor), amount: sponsorCap(cost) },
      ...{ createdAt: now, lapsesAt: null, releasedAt: null },
    };
    const share = await shareOfDay(
      storage,
      { transactionId, sponsor, cost, depositWindowMs },
      { mostPerDay: null, now },
    );
    const audit = writeAct({ by, act: "recover", what: { transactionId, address, heldReason } });
    const writes: PaymentWrite[] = [
      { table: "transactions", insert: transaction },
      { table: "deposits", insert: deposit },
      { table: "reservations", insert: reservation },
      share.take,
      audit,
    ];
    const starts = [
      startOf(orders, transactionId, { depositAddress: address, fee: "0" }),
      startOf(addresses, address, {
        ...{ address, order: transactionId, mint: SOL_MINT, required: String(LARGEST_AMOUNT) },
        smallest: Object.fromEntries(assets.tokens.map((each) => [each.mint, String(smallestAmount(each))])),
        ...{ rentMint: SOL_MINT, expiresAt: createdAt, lingerMs: LINGER_MS, agingMs: AGING_MS },
        ...{ quietMs: QUIET_MS, slowMs: SLOW_MS, refundPauseMs: REFUND_PAUSE_MS },
        sponsorCap: String(reservation.amount),
        ...{ isScreened: terms.screen !== null, isRecovered: true },
      }),
    ];
    const result = await engine.commit({ starts, writes });
    // Refused: another operator has restored it meanwhile, and that is as good.
    if (!result.ok && (await storage.transaction(transactionId)) === null) {
      throw new Error(`deposit address ${address} could not be restored`);
    }
    return heldReason;
  };

  /** The order of a restored address has ended long ago. Done again, it changes nothing. */
  const endOrder = async (transactionId: string): Promise<void> => {
    await engine.send(orders, transactionId, { type: "DECLINED", reason: RECOVERED.toUpperCase() });
    await engine.send(orders, transactionId, { type: "SETTLED" });
  };

  const recoverOne = async (
    candidates: readonly (Candidate & { readonly amounts: readonly bigint[] })[],
    by: ActedBy,
  ): Promise<RecoveredAddress> => {
    for (const { amounts, ...candidate } of candidates) {
      const { transactionId, address, masterVersion } = candidate;
      const holdings = await holdingsOf(address, amounts);
      const [restored] = await storage.deposits([address]);
      if (holdings.length === 0 && restored === undefined) continue;
      const heldReason = restored === undefined ? await restore(candidate, by) : restored.heldReason;
      await endOrder(transactionId);
      return { transactionId, address, masterVersion, state: "restored", heldReason, holdings };
    }
    const [first] = candidates;
    if (first === undefined) throw new Error("a service has at least one version of the master secret");
    const { transactionId, address, masterVersion } = first;
    return { transactionId, address, masterVersion, state: "empty", heldReason: null, holdings: [] };
  };

  return async (ids, by) => {
    const acted = readActedBy(by);
    await refuseForeign(ids);
    const unique = new Map(ids.map((given) => [typeof given === "string" ? given : given.id, given]));
    const perId = [...unique.values()].map(candidatesOf);
    const { funds } = await ledger.funds(
      perId.flat().map(({ address }) => address),
      mints,
      "finalized",
    );
    const amounts = funds.map(({ lamports, tokens }) => [lamports, ...tokens]);
    let place = 0;
    const found: RecoveredAddress[] = [];
    for (const candidates of perId) {
      const withAmounts = candidates.map((each) => ({ ...each, amounts: amounts[place++] ?? [] }));
      found.push(await recoverOne(withAmounts, acted));
    }
    return found;
  };
}
