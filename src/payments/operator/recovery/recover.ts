/** Brings deposit addresses back from the ids of their orders, where the database that knew them is lost. */
import type { Address } from "../../../address.ts";
import { formatAmount } from "../../../amount.ts";
import { ledgerMint } from "../../assets/assets.ts";
import { strayDeposits } from "../../private/collect-strays.ts";
import { otherMints } from "../../outgoing/plans/other-mints.ts";
import { readActContext, OperatorRefused } from "../act.ts";
import type { ActContext } from "../../intake/rules.ts";
import { RECOVERED } from "../attention/held-addresses.ts";
import type { RecoveryEntry } from "./journal.ts";
import {
  RECOVERED_ACCOUNT,
  restoreAddress,
  type DerivedAddress,
  type RestoringParts,
} from "./restore-address.ts";

/** An address that was derived again. */
export interface RecoveredAddress {
  readonly transactionId: string;
  readonly address: string;
  readonly masterVersion: number;
  /**
   * `restored`: money is there, and the address is held as a matter until an operator has said where it goes. `empty`:
   * nothing is there now and nothing was kept: look again by recovering it again.
   */
  readonly state: "restored" | "empty";
  /**
   * The reason why the address is held: `recovered`, or `unknown_spending` for an address that has paid already. Null
   * for an address that is not held.
   */
  readonly heldReason: string | null;
  /** The balances of the address. */
  readonly holdings: readonly {
    /** The symbol, or the mint of what is none of the service's assets. */
    readonly asset: string;
    /** Whole units; raw units of what is none of the service's assets. */
    readonly amount: string;
  }[];
}

/** See `Operator.recover`. */
export type RecoverCommand = (
  ids: readonly (string | RecoveryEntry)[],
  by: ActContext,
) => Promise<readonly RecoveredAddress[]>;

const ID_SHAPE = /^tx_[0-9a-f]{32}$/;

interface RecoveryServiceParts extends RestoringParts {
  /** The versions of the master secret that are given, the newest first. */
  readonly masterVersions: readonly number[];
}

/** A derived address, and what it holds of SOL and of each token of the service, in base units. */
interface Candidate extends DerivedAddress {
  readonly amounts: readonly bigint[];
}

/** Derives addresses again, and restores those where money is. */
export class RecoveryService {
  readonly #parts: RecoveryServiceParts;

  constructor(parts: RecoveryServiceParts) {
    this.#parts = parts;
  }

  /** See `Operator.recover`. */
  async recover(
    ids: readonly (string | RecoveryEntry)[],
    by: ActContext,
  ): Promise<readonly RecoveredAddress[]> {
    const acted = readActContext(by);
    await this.#refuseForeign(ids);
    const unique = new Map(ids.map((given) => [typeof given === "string" ? given : given.id, given]));
    const found: RecoveredAddress[] = [];
    for (const candidates of await this.#candidates([...unique.values()])) {
      found.push(await this.#recoverOne(candidates, acted));
    }
    return found;
  }

  /** Checks the whole list before anything is done for any of it. Throws `OperatorRefused` that names every wrong id. */
  async #refuseForeign(ids: readonly (string | RecoveryEntry)[]): Promise<void> {
    const { storage, masterVersions } = this.#parts;
    const problems: string[] = [];
    for (const given of ids) {
      const { id, masterVersion = null } = typeof given === "string" ? { id: given } : given;
      const known = ID_SHAPE.test(id) ? await storage.transaction(id) : null;
      if (!ID_SHAPE.test(id)) problems.push(`${id.slice(0, 64)} is no transaction's id`);
      else if (known !== null && known.transaction.accountId !== RECOVERED_ACCOUNT) {
        problems.push(`${id} is known to this database: it needs no recovery`);
      } else if (masterVersion !== null && !masterVersions.includes(masterVersion)) {
        problems.push(`${id} needs version ${masterVersion} of the master secret, which is not given`);
      }
    }
    if (problems.length > 0) throw new OperatorRefused(problems.join("; "));
  }

  /**
   * For each id, the addresses that may belong to the order, with their balances. Reads the chain once for all ids.
   */
  async #candidates(all: readonly (string | RecoveryEntry)[]): Promise<readonly (readonly Candidate[])[]> {
    const { ledger, assets } = this.#parts;
    const perId = all.map((given) => this.#derived(given));
    const addresses = perId.flat().map(({ address }) => address);
    const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
    const { funds } = await ledger.funds(addresses, mints, "finalized");
    const amounts = new Map(
      funds.map(({ lamports, tokens }, index) => [addresses[index], [lamports, ...tokens]]),
    );
    return perId.map((derived) =>
      derived.map((each) => ({ ...each, amounts: amounts.get(each.address) ?? [] })),
    );
  }

  /** Derives an address for each version of the master secret, unless the journal has recorded the version. */
  #derived(given: string | RecoveryEntry): readonly DerivedAddress[] {
    const { clock, masterVersions, routing } = this.#parts;
    const { id, createdAt } = typeof given === "string" ? { id: given, createdAt: clock.now() } : given;
    const versions = typeof given === "string" ? masterVersions : [given.masterVersion];
    return versions.map((masterVersion) => {
      const address = routing.keys.address({ masterVersion, transactionId: id });
      return { transactionId: id, address, masterVersion, createdAt };
    });
  }

  async #recoverOne(candidates: readonly Candidate[], by: ActContext): Promise<RecoveredAddress> {
    for (const { amounts, ...derived } of candidates) {
      const { transactionId, address, masterVersion } = derived;
      const holdings = await this.#holdings(address, amounts);
      const [restored] = await this.#parts.storage.deposits([address]);
      if (holdings.length === 0 && restored === undefined) continue;
      const heldReason =
        restored === undefined ? await restoreAddress(this.#parts, derived, by) : restored.heldReason;
      await this.#endOrder(transactionId);
      return { transactionId, address, masterVersion, state: "restored", heldReason, holdings };
    }
    const [first] = candidates;
    if (first === undefined) throw new Error("a service has at least one version of the master secret");
    const { transactionId, address, masterVersion } = first;
    return { transactionId, address, masterVersion, state: "empty", heldReason: null, holdings: [] };
  }

  /** All finalized money at the address: money for a refund, and foreign tokens, which only an operator moves. */
  async #holdings(address: Address, amounts: readonly bigint[]): Promise<RecoveredAddress["holdings"]> {
    const { assets } = this.#parts;
    const [strays, others] = await Promise.all([
      strayDeposits(this.#parts, address, { among: assets.tokens, commitment: "finalized" }),
      otherMints(this.#parts, address),
    ]);
    const own = assets.tokens.flatMap(({ symbol, mint, decimals }, index) => {
      const beside = strays.deposits.filter((each) => each.mint === mint);
      const sum = beside.reduce((total, { amount }) => total + amount, amounts[index] ?? 0n);
      return sum === 0n ? [] : [{ asset: symbol, amount: formatAmount(sum, decimals) }];
    });
    return [...own, ...Object.entries(others.balances).map(([asset, amount]) => ({ asset, amount }))];
  }

  /** Ends the order of a restored address, which is over. Repeated, it changes nothing. */
  async #endOrder(transactionId: string): Promise<void> {
    const { engine, routing } = this.#parts;
    const declined = { type: "DECLINED", reason: RECOVERED.toUpperCase() } as const;
    await engine.send(routing.orders, transactionId, declined);
    await engine.send(routing.orders, transactionId, { type: "SETTLED" });
  }
}
