/** Whether instructions make exactly the declared transfers, and nothing else that costs the sender. Asks no node. */
import type { Address } from "../../address.ts";
import type { DeclaredPayment } from "../ledger.ts";
import { TOKEN_PROGRAM } from "./programs.ts";
import type { Meaning } from "./read-instruction.ts";
import { associatedTokenAccount } from "./token-accounts.ts";

/** What a message alone cannot prove: who owns the token accounts that pay and are paid. */
export interface UnprovenAccounts {
  /** Accounts that pay, other than the sender's ATA: somebody else may have made the sender a delegate of theirs. */
  readonly sources: ReadonlySet<string>;
  /**
   * ATAs that are paid, each with its recipient. An owner can give an ATA away; only an instruction that creates it
   * would notice on the chain, so those with one are left out.
   */
  readonly destinations: ReadonlyMap<string, Address>;
}

/**
 * Compares instructions that are all allowed with what was declared; null when they differ. They must hold each
 * declared (mint, recipient, amount) once and no other transfer, tokens going to the recipient's ATA; token accounts
 * may be created only for declared recipients and the declared mint; the sender pays it all.
 */
export function matchContent(
  meanings: readonly Meaning[],
  payment: DeclaredPayment,
): UnprovenAccounts | null {
  const { sender, mint, transfers } = payment;
  const owners = new Map<string, Address>();
  if (mint !== null) {
    for (const { recipient } of transfers) owners.set(associatedTokenAccount(recipient, mint), recipient);
  }
  const sources = new Set<string>();
  const created = new Set<string>();
  const made: string[] = [];
  for (const meaning of meanings) {
    switch (meaning.does) {
      case "transfer_sol":
        if (mint !== null || meaning.from !== sender) return null;
        made.push(entry(meaning.to, meaning.amount));
        break;
      case "transfer_token": {
        const recipient = owners.get(meaning.destination);
        if (recipient === undefined || meaning.mint !== mint || meaning.authority !== sender) return null;
        if (meaning.decimals !== payment.decimals) return null;
        sources.add(meaning.source);
        made.push(entry(recipient, meaning.amount));
        break;
      }
      case "create_token_account":
        if (meaning.payer !== sender || meaning.mint !== mint || meaning.tokenProgram !== TOKEN_PROGRAM) {
          return null;
        }
        if (owners.get(meaning.account) !== meaning.owner) return null;
        created.add(meaning.account);
        break;
      case "limit_compute":
      case "price_compute":
      case "nothing":
        break;
      case "use_nonce":
      case "something_else":
        return null;
    }
  }
  const declared = transfers.map(({ recipient, amount }) => entry(recipient, amount));
  if (!isSameMultiset(made, declared)) return null;
  if (mint !== null) sources.delete(associatedTokenAccount(sender, mint));
  for (const account of created) owners.delete(account);
  return { sources, destinations: owners };
}

function entry(recipient: string, amount: bigint): string {
  return `${recipient} ${amount}`;
}

function isSameMultiset(left: readonly string[], right: readonly string[]): boolean {
  const sorted = right.toSorted();
  return left.length === right.length && left.toSorted().every((each, index) => each === sorted[index]);
}
