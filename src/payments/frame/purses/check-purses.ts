/** Refuses one wallet for two purses, and warns at the start of what purses lack: they can be topped up at any time. */
import type { Address } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Logger } from "../../../core/runtime.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { warnOfUnusableAccounts } from "../assets/check-mints.ts";
import { SPONSOR_ORDERS } from "./sponsor-limit.ts";
import { InvalidOptions } from "../../../core/options.ts";

/** A sponsor that holds less than so many sends may take has no room for one send of a `free` account. */
export const SENDS = SPONSOR_ORDERS;
const SOL_DECIMALS = 9;

/** The two purses that private mode needs, and where they are looked at. */
interface PurseCheck {
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly log: Logger;
  readonly sponsor: Address;
  readonly treasury: Address;
  /** Lamports, null without a limit. */
  readonly mostSpentPerDay: bigint | null;
  /** The sponsor's reserve for a send, in lamports. */
  readonly dearestSend: () => Promise<bigint>;
}

/**
 * Warns of a sponsor with too little, naming what is missing; of one that cannot take costs in a token as its account stands;
 * and of a treasury
 * that cannot be paid as it stands: no wallet, or with a token account that is frozen or belongs to another owner by now.
 */
export async function checkPurses(check: PurseCheck): Promise<void> {
  const { ledger, assets, log, sponsor, treasury, mostSpentPerDay } = check;
  const [needed, { funds }, [kind]] = await Promise.all([
    check.dearestSend(),
    ledger.funds([sponsor], [], "confirmed"),
    ledger.accountKinds([treasury]),
  ]);
  if (mostSpentPerDay !== null && mostSpentPerDay < needed) {
    log.warn(
      { limit: formatAmount(mostSpentPerDay, SOL_DECIMALS), needed: formatAmount(needed, SOL_DECIMALS) },
      "privateRouting.maxSponsorSpendPerDay is less than one send may take: some orders are always refused",
    );
  }
  const missing = needed * SENDS - (funds[0]?.lamports ?? 0n);
  if (missing > 0n) {
    log.warn(
      { sponsor, missing: formatAmount(missing, SOL_DECIMALS), asset: "SOL", sends: Number(SENDS) },
      "the sponsor of private mode has too little for so many sends at once",
    );
  }
  if (kind !== "wallet") {
    log.warn(
      { treasury, found: kind },
      "the treasury of private mode is no wallet on the chain: fees that are due to it wait until it is one",
    );
  }
  for (const [owner, purse] of [
    [treasury, "treasury"],
    [sponsor, "sponsor"],
  ] as const) {
    await warnOfUnusableAccounts({ ledger, log, assets: assets.tokens }, owner, purse);
  }
  await warnOfMissingAccounts(check);
}

/** A fee in tokens is left out if the treasury has no account for it: nobody else pays for the making of one. */
async function warnOfMissingAccounts({ ledger, assets, log, treasury }: PurseCheck): Promise<void> {
  for (const asset of assets.tokens) {
    const mint = ledgerMint(asset);
    if (mint === null) continue;
    const [state] = await ledger.tokenAccountStates([{ owner: treasury, mint }]);
    if (state !== "absent") continue;
    log.warn(
      { purse: "treasury", owner: treasury, asset: asset.symbol },
      "a token account of private mode is missing: make it, or what is due to it in this asset is left out",
    );
  }
}

interface Purses {
  readonly sponsor: Address;
  readonly treasury: Address;
  /** Null while no provider swaps within transactions of ours. */
  readonly desk: Address | null;
}

/** Throws `InvalidOptions` with a sentence for every two purses in one wallet: nobody could tell whose money is missing. */
export function refuseSharedPurses({ sponsor, treasury, desk }: Purses): void {
  const problems = [
    ...(sponsor === treasury
      ? [
          "privateRouting.treasury: it is the sponsor; fees would be spent as they come in; give it its own wallet",
        ]
      : []),
    ...(desk === sponsor
      ? [
          "swap.provider: its signer is the sponsor; network fees would come out of the inventory; give it its own wallet",
        ]
      : []),
    ...(desk === treasury
      ? ["swap.provider: its signer is the treasury; fees would be sold as inventory; give it its own wallet"]
      : []),
  ];
  if (problems.length > 0) throw new InvalidOptions("createPaymentService", problems);
}
