/** Computes the costs of a payment for its sender: network fee and rent, as the chain reports them. */
import {
  MessageV1,
  VersionedMessage,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  type Message,
} from "@solana/web3.js";
import { type Address, addressOf } from "../core/address.ts";
import type { Evidence } from "../ledger/belief.ts";
import { TOKEN_ACCOUNT_BYTES } from "../ledger/routing.ts";
import { agree, follows, unasked } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { serializeMessage, type ReadableMessage } from "./message-v1.ts";
import { MAX_ADDRESSES, MAX_COMPUTE_UNITS, priorityFeeOf } from "./compute-budget.ts";
import { COMPUTE_BUDGET_PROGRAM } from "./programs.ts";
import { tokenAccountStates } from "./accounts.ts";
import type { PaymentCost } from "../ledger/ledger.ts";
import { newestBlockhash } from "./blockhash-window.ts";
import { computeLimit, planInstructions, type StepOfTransaction } from "./routing/plan-instructions.ts";
import { unitPrice } from "./routing/unit-price.ts";

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

// The price of a signature and of a byte changes with a vote of the validators, if ever. A price of a moment ago is still
// tried before a signature.
const PRICES_FOR_MS = 10_000;

/** Lamports that the network charges for a message, priority fee included, as it did ten seconds ago at most. */
export async function feeOf(nodes: NodeContext, message: ReadableMessage): Promise<Evidence<bigint>> {
  return await nodes.remembered(`fee ${pricedParts(message)}`, PRICES_FOR_MS, () =>
    agree(nodes, {
      of: "feeOf",
      subject: "the fee of a transaction",
      question: async ({ rpc }) => {
        // A fee does not depend on the blockhash, and a node prices none that it has not seen. Every node behind one URL
        // knows a finalized blockhash.
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
  const [states, rent] = await Promise.all([
    recipients === null
      ? unasked(["absent"])
      : tokenAccountStates(
          nodes,
          recipients.map((owner) => ({ owner, mint })),
        ),
    rentMinimum(nodes, TOKEN_ACCOUNT_BYTES),
  ]);
  const missing = states.filter((state) => state === "absent");
  return follows([states, rent], () => BigInt(missing.length) * rent);
}

/** Wallets add assertions (Lighthouse) to what they are given, which compute within the limit that is set here. */
const UNITS_OF_ASSERTIONS = 50_000;

/** The compute limit of a payment, and its bid in millionths of a lamport per unit and in lamports. */
export interface PaymentBid {
  readonly units: number;
  readonly microLamports: bigint;
  readonly priorityFee: bigint;
}

/** The market's estimated price for a payment with room for the assertions of a wallet. */
export async function paymentBid(
  nodes: NodeContext,
  planned: readonly StepOfTransaction[],
): Promise<PaymentBid> {
  const units = Math.min(computeLimit(planned) + UNITS_OF_ASSERTIONS, MAX_COMPUTE_UNITS);
  const microLamports = await unitPrice(nodes, units, { from: "estimate" });
  return { units, microLamports, priorityFee: priorityFeeOf(units, microLamports) };
}

// The payer does not change the price of a signature; any key works that is not a program's.
const ANYBODY = addressOf(new Uint8Array(32).fill(1));

/**
 * Prices a payment that is not built yet: one signature, a bid, and an ATA for recipients without one. Throws `RangeError`
 * for more recipients than one transaction can ever hold.
 */
export async function paymentCost(
  nodes: NodeContext,
  mint: Address | null,
  recipients: readonly Address[] | null,
): Promise<PaymentCost> {
  expectFewRecipients(recipients ?? []);
  const accountPayer = mint === null ? null : ANYBODY;
  const toEach = { does: "transfer", from: ANYBODY, mint, decimals: 0, amount: 1n, accountPayer } as const;
  const planned = planInstructions((recipients ?? [ANYBODY]).map((to) => ({ ...toEach, to })));
  const { priorityFee } = await paymentBid(nodes, planned);
  const [networkFee, rent] = await Promise.all([
    feeOfPayment(nodes, priorityFee),
    rentForTokenAccounts(nodes, mint, recipients),
  ]);
  return { networkFee, rent };
}

/** The cost of a payment with this bid: its sender alone signs it. */
export async function feeOfPayment(nodes: NodeContext, bid: bigint): Promise<Evidence<bigint>> {
  const { blockhash } = await newestBlockhash(nodes);
  return await feeWithBid(nodes, messageOfOneSignature(blockhash), bid);
}

function messageOfOneSignature(blockhash: string): Message {
  const anybody = new PublicKey(ANYBODY);
  const transfer = SystemProgram.transfer({ fromPubkey: anybody, toPubkey: anybody, lamports: 1 });
  return new TransactionMessage({
    payerKey: anybody,
    recentBlockhash: blockhash,
    instructions: [transfer],
  }).compileToLegacyMessage();
}
