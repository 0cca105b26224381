/** Makes the sponsor's token accounts at the start: what rests cost in tokens goes there. */
import type { Address } from "../../../core/address.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../../ledger/routing.ts";
import { signTransaction, type Signer } from "../../../ledger/sign-transaction.ts";
import { commitOne } from "../../../../storage/decided.ts";
import { ledgerMint } from "../assets/assets.ts";
import type { ServiceContext } from "../service-context.ts";
import { spend, spentInADay, sponsorPurse } from "../spending.ts";

interface OpeningParts extends Pick<ServiceContext, "storage" | "ledger" | "assets" | "clock" | "log"> {
  readonly sponsor: Signer;
  /** Lamports, null without a limit. */
  readonly mostSpentPerDay: bigint | null;
}

/**
 * Opens those that are missing, in one transaction, if the day's limit and the sponsor's balance allow it; without them what
 * is due in these tokens is left out. It is stored as spent before it leaves, and sent once: a start that finds them missing
 * sends another, and what is there already is not made again. Throws `LedgerUnavailable`.
 */
export async function openSponsorAccounts(parts: OpeningParts): Promise<void> {
  const { ledger, storage, clock, log, sponsor, mostSpentPerDay } = parts;
  const mints = await missingOf(parts);
  if (mints.length === 0) return;
  const plan = {
    feePayer: sponsor.address,
    moves: mints.map((mint) => {
      return { does: "open", mint, owner: sponsor.address, payer: sponsor.address } as const;
    }),
  };
  const unsigned = await ledger.buildTransaction(plan);
  const amount = unsigned.networkFee + BigInt(mints.length) * (await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES));
  const purse = sponsorPurse(sponsor.address);
  const spent = await spentInADay(storage, purse, clock.now());
  const isAllowed = mostSpentPerDay === null || spent + amount <= mostSpentPerDay;
  const fault = isAllowed ? ((await ledger.tryOrder(plan, unsigned))?.text ?? null) : "maxSponsorSpendPerDay";
  if (fault !== null) {
    const missing = { sponsor: sponsor.address, mints, fault };
    log.warn(
      missing,
      "token accounts of the sponsor are missing: what is due to it in these tokens is left out",
    );
    return;
  }
  const { signature, bytes } = await signTransaction(unsigned, [sponsor]);
  const stored = await commitOne(storage, { writes: spend({ signature, purse, amount }, clock.now()) });
  if (!stored.ok) return;
  await ledger.broadcast(bytes);
  log.info({ sponsor: sponsor.address, mints, signature }, "token accounts of the sponsor are being made");
}

async function missingOf({ ledger, assets, sponsor }: OpeningParts): Promise<readonly Address[]> {
  const mints = assets.tokens.flatMap((token) => ledgerMint(token) ?? []);
  const states = await ledger.tokenAccountStates(mints.map((mint) => ({ owner: sponsor.address, mint })));
  return mints.filter((_, index) => states[index] === "absent");
}
