/** Computes the costs of a payment for its sender: network fee and rent, as the chain reports them. */
import { MessageV1, VersionedMessage } from "@solana/web3.js";
import type { Address } from "../core/address.ts";
import type { Evidence } from "../ledger/belief.ts";
import { TOKEN_ACCOUNT_BYTES } from "../ledger/routing.ts";
import { agree, follows, unasked } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { serializeMessage, type ReadableMessage } from "./message-v1.ts";
import { MAX_ADDRESSES } from "./compute-budget.ts";
import { ACCOUNT_HEAD, COMPUTE_BUDGET_PROGRAM, isTokenProgram } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { associatedTokenAccount } from "./associated-token-account.ts";

/**
 * Throws `RangeError` for more recipients than one transaction can ever hold, before anything is derived for them: the
 * token accounts of 500 hold up everything else in this process for a tenth of a second.
 */
export function expectFewRecipients(recipients: readonly unknown[]): void {
  if (recipients.length > MAX_ADDRESSES) throw tooManyRecipients(recipients.length);
}

/** The error for a payment that does not fit one transaction. */
export function tooManyRecipients(recipients: number): RangeError {
  return new RangeError(`a payment to ${recipients} recipients does not fit in one transaction`);
}

// The price of a signature and of a byte changes with a vote of the validators, if ever. What was built with a price of a
// moment ago is still tried before it is signed.
const PRICES_FOR_MS = 10_000;

/** Lamports that the network charges for a message, priority fee included, as it did ten seconds ago at most. */
export async function feeOf(nodes: NodeContext, message: ReadableMessage): Promise<Evidence<bigint>> {
  return await nodes.remembered(`fee ${pricedParts(message)}`, PRICES_FOR_MS, () =>
    agree(nodes, {
      of: "feeOf",
      subject: "the fee of a transaction",
      question: async ({ rpc }) => {
        // A fee does not depend on the blockhash, and a node prices none that it has not seen. Of several nodes behind one URL
        // each knows a finalized one.
        const { value } = await rpc.getLatestBlockhash("finalized");
        return BigInt(await rpc.getFeeForMessage(over(message, value.blockhash), "confirmed"));
      },
      textOf: String,
    }),
  );
}

/**
 * The fee of a message with its bid, from the message without it: nodes tell what signatures cost, and one answer
 * serves all bids.
 */
export async function feeWithBid(
  nodes: NodeContext,
  withoutBid: ReadableMessage,
  bid: bigint,
): Promise<Evidence<bigint>> {
  const ofSignatures = await feeOf(nodes, withoutBid);
  return follows([ofSignatures], ([lamports]) => lamports + bid);
}

function over(message: ReadableMessage, blockhash: string): Uint8Array {
  const copy = VersionedMessage.deserialize(serializeMessage(message));
  copy.recentBlockhash = blockhash;
  return serializeMessage(copy);
}

/** All that a fee depends on: the signatures, and the instructions or the setting that bid for a place in a block. */
function pricedParts(message: ReadableMessage): string {
  const { header, staticAccountKeys, compiledInstructions } = message;
  const stated =
    message instanceof MessageV1 ? [`lamports ${message.transactionConfig.priorityFee ?? 0}`] : [];
  const bids = compiledInstructions
    .filter(({ programIdIndex }) => staticAccountKeys[programIdIndex]?.toBase58() === COMPUTE_BUDGET_PROGRAM)
    .map(({ data }) => Buffer.from(data).toString("hex"));
  return [header.numRequiredSignatures, compiledInstructions.length, ...stated, ...bids].join(" ");
}

/** Lamports that an account of `bytes` must hold to exist, as the chain priced it ten seconds ago at most. */
export async function rentMinimum(nodes: NodeContext, bytes: number): Promise<Evidence<bigint>> {
  return await nodes.remembered(`rent ${bytes}`, PRICES_FOR_MS, () =>
    agree(nodes, {
      of: "rentMinimum",
      subject: "the rent of an account",
      question: async ({ rpc }) => BigInt(await rpc.getMinimumBalanceForRentExemption(bytes, "confirmed")),
      textOf: String,
    }),
  );
}

/** Rent for the ATAs that have to be created. `recipients` null: an unknown recipient, who may need an ATA. */
export async function rentForTokenAccounts(
  nodes: NodeContext,
  mint: Address | null,
  recipients: readonly Address[] | null,
): Promise<Evidence<bigint>> {
  if (mint === null) return unasked(0n);
  const [missing, rent] = await Promise.all([
    recipients === null
      ? unasked(1)
      : countMissing(
          nodes,
          recipients.map((recipient) => associatedTokenAccount(recipient, mint)),
        ),
    rentMinimum(nodes, TOKEN_ACCOUNT_BYTES),
  ]);
  return follows([missing, rent], () => BigInt(missing) * rent);
}

/** An address that only holds lamports is no token account yet, so its rent is counted in full. */
async function countMissing(nodes: NodeContext, accounts: readonly Address[]): Promise<Evidence<number>> {
  const read = readAccounts(accounts, "confirmed", ACCOUNT_HEAD);
  return await agree(nodes, {
    of: "paymentCost",
    subject: "the token accounts of recipients",
    question: async (endpoint) =>
      (await read(endpoint)).filter((account) => account === null || !isTokenProgram(account.owner)).length,
    textOf: String,
  });
}
