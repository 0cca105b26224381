/** Compares stablecoins and the accounts of purses with the chain at start: else a wrong one is found after a deposit. */
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Logger } from "../../../core/runtime.ts";
import { ledgerMint, type Assets, type Token } from "./assets.ts";
import { StartRefused } from "../secrets/bind-database.ts";
import type { Address } from "../../../core/address.ts";

/**
 * Throws `StartRefused` with a sentence for every stablecoin that is not a mint of the Token program with the decimals
 * of the token list. Where the mints are mainnet's because none were configured (`areConfigured` is false), and the
 * chain has neither, it only warns: such a service moves SOL.
 */
export async function checkMints(
  { ledger, log }: { readonly ledger: Ledger; readonly log: Logger },
  assets: Assets,
  { areConfigured }: { readonly areConfigured: boolean },
): Promise<void> {
  const stablecoins = assets.tokens.filter((asset) => ledgerMint(asset) !== null);
  const problems = await problemsOf(ledger, stablecoins);
  if (problems.length === 0) return;
  const isNoneThere = !areConfigured && problems.every(({ isAbsent }) => isAbsent);
  if (isNoneThere && problems.length === stablecoins.length) {
    log.warn(
      { mints: stablecoins.map(({ mint }) => mint) },
      "this chain has no mints of the stablecoins: only SOL can be moved until `stablecoins` names those of this chain",
    );
    return;
  }
  throw new StartRefused(problems.map(({ sentence }) => sentence).join("\n"));
}

interface Problem {
  readonly sentence: string;
  readonly isAbsent: boolean;
}

async function problemsOf(ledger: Ledger, stablecoins: readonly Token[]): Promise<readonly Problem[]> {
  const addresses = stablecoins.map(({ mint }) => mint);
  const facts = await ledger.mints(addresses);
  // The account at a wrong mint is read only after a fault.
  const kinds = facts.includes(null) ? await ledger.accountKinds(addresses) : [];
  return stablecoins.flatMap(({ symbol, mint, decimals }, index): Problem[] => {
    const found = facts[index] ?? null;
    const option = `stablecoins.${symbol}`;
    const wrong = (words: string, isAbsent = false): Problem[] => [
      { sentence: `${option}: ${words}`, isAbsent },
    ];
    if (found === null) {
      const kind = kinds[index] ?? "absent";
      return kind === "absent"
        ? wrong(
            `there is no account at ${mint} on this chain; name the mint of ${symbol} on this chain`,
            true,
          )
        : wrong(`${mint} is no mint on this chain (found: ${kind.replace("_", " ")})`);
    }
    if (found.program !== "token") {
      return wrong(`${mint} is a mint of Token-2022, and the service takes mints of the Token program only`);
    }
    return found.decimals === decimals
      ? []
      : wrong(`the mint has ${found.decimals} decimals on this chain, the service takes ${decimals}`);
  });
}

/** Warns of each token account of an owner in which nothing can be received or paid from. */
export async function warnOfUnusableAccounts(
  {
    ledger,
    assets,
    log,
  }: { readonly ledger: Ledger; readonly assets: readonly Token[]; readonly log: Logger },
  owner: Address,
  purse: string,
): Promise<void> {
  const owned = assets.flatMap((asset) => {
    const mint = ledgerMint(asset);
    return mint === null ? [] : [{ owner, mint, asset: asset.symbol }];
  });
  const states = await ledger.tokenAccountStates(owned);
  owned.forEach(({ asset }, index) => {
    const state = states[index];
    if (state !== "frozen" && state !== "handed_over") return;
    log.warn(
      { purse, owner, asset, found: state },
      "a token account of the service is frozen or belongs to another owner: nothing of this asset moves in or out of it",
    );
  });
}
