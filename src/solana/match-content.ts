/** Checks that instructions make exactly the declared transfers, and nothing else that costs the sender. Asks no node. */
import type { Address } from "../core/address.ts";
import type { DeclaredPayment } from "../ledger/ledger.ts";
import { TOKEN_PROGRAM } from "./programs.ts";
import type { DecodedInstruction } from "./read-instruction.ts";
import { associatedTokenAccount } from "./derived-addresses.ts";

/** Facts that a message alone cannot prove: the owners of the paying and paid token accounts. */
export interface UnprovenAccountSet {
  /** Accounts that pay, other than the sender's ATA: another owner may have made the sender a delegate. */
  readonly sources: ReadonlySet<string>;
  /**
   * ATAs that pay or are paid, with the required owner. An owner can give an ATA away. An instruction that creates an
   * ATA fails for the wrong owner, so an ATA with such an instruction is left out.
   */
  readonly associated: ReadonlyMap<string, Address>;
}

/**
 * Compares allowed instructions with the declared payment; null when they differ. They must hold each declared (mint,
 * recipient, amount) once and no other transfer, tokens going to the recipient's ATA; token accounts may be created
 * only for declared recipients and the declared mint; the sender pays it all.
 */
export async function matchContent(
  meanings: readonly DecodedInstruction[],
  payment: DeclaredPayment,
): Promise<UnprovenAccountSet | null> {
  const { sender, mint, transfers } = payment;
  // Counted first: the token accounts of hundreds of declared recipients are not derived for a transaction of a few.
  const moving = meanings.filter(({ does }) => does === "transfer_sol" || does === "transfer_token");
  if (moving.length !== transfers.length) return null;
  const owners = await tokenAccountsOf(payment);
  const sources = new Set<string>();
  const created = new Set<string>();
  const settings = new Set<string>();
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
        // The chain takes each once; which of two holds would be its choice, and the priority fee hangs on it.
        if (settings.has(meaning.does)) return null;
        settings.add(meaning.does);
        break;
      case "nothing":
        break;
      case "use_nonce":
      case "something_else":
        return null;
    }
  }
  const declared = transfers.map(({ recipient, amount }) => entry(recipient, amount));
  if (!isSameMultiset(made, declared)) return null;
  if (mint !== null) {
    const own = associatedTokenAccount(sender, mint);
    if (sources.delete(own)) owners.set(own, sender);
  }
  for (const account of created) owners.delete(account);
  return { sources, associated: owners };
}

// Deriving an address takes half a millisecond, and lookup tables make room for sixty of them in one transaction.
const DERIVED_PER_TURN = 8;

/** The declared recipients by their ATAs, none for SOL. Lets others have their turn while it derives many. */
async function tokenAccountsOf({ mint, transfers }: DeclaredPayment): Promise<Map<string, Address>> {
  const owners = new Map<string, Address>();
  if (mint === null) return owners;
  for (const [index, { recipient }] of transfers.entries()) {
    if (index % DERIVED_PER_TURN === 0 && index > 0) await new Promise((resolve) => setImmediate(resolve));
    owners.set(associatedTokenAccount(recipient, mint), recipient);
  }
  return owners;
}

function entry(recipient: string, amount: bigint): string {
  return `${recipient} ${amount}`;
}

function isSameMultiset(left: readonly string[], right: readonly string[]): boolean {
  const sorted = right.toSorted();
  return left.length === right.length && left.toSorted().every((each, index) => each === sorted[index]);
}
