/** Customers who pay all the while, and write down what they were told. */
import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { formatAmount } from "../../src/core/amount.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import { units } from "../kit/money.ts";
import type { Answered, Asked, CarefulApi } from "./careful-api.ts";
import type { Wish } from "./plan.ts";
import type { ChaosWallet } from "./processes/settings.ts";

/** An order that was taken, with what the customer knows of it. */
export interface Placed {
  readonly transactionId: string;
  /** How many orders were begun before it. */
  readonly number: number;
  readonly mode: Wish["mode"];
  /** Nobody else pays these addresses. */
  readonly recipients: readonly { readonly address: string; readonly units: bigint }[];
  /** Of a wallet's payment. */
  readonly signature: string | null;
  /** Of a private order: where its money goes, how much the customer sent there, and how much after its end. */
  readonly deposit: { readonly address: string; readonly sent: bigint; readonly late: bigint } | null;
  /** Whether the service said that it was cancelled. */
  readonly isCancelled: boolean;
  /** The request that placed it: the same answer comes however often it is repeated. */
  readonly asked: Asked;
}

/** What customers need. */
export interface CustomersParts {
  readonly api: CarefulApi;
  readonly alice: ChaosWallet;
  readonly wishes: readonly Wish[];
  /** Pays raw units of USDC from outside. */
  readonly give: (address: string, units: bigint) => void;
}

/** Between two looks at orders that are over. */
const LOOK_MS = 50;
const USDC_DECIMALS = 6;
/** A quote dies while the service is away; more of them than this mean something else. */
const MAX_QUOTES = 40;

const decimal = (value: bigint): string => formatAmount(value, USDC_DECIMALS);

export class Customers {
  readonly #parts: CustomersParts;
  readonly placed: Placed[] = [];
  #next = 0;

  constructor(parts: CustomersParts) {
    this.#parts = parts;
  }

  /** Places orders one by one until `signal` aborts; at least one, and the last one is still finished. */
  async shop(signal: AbortSignal): Promise<void> {
    do {
      const number = this.#next;
      this.#next += 1;
      const wish = this.#parts.wishes[number % this.#parts.wishes.length];
      if (wish !== undefined) this.placed.push(await this.#grant(wish, number));
    } while (!signal.aborted);
  }

  /** How many orders have been begun, those included that are not taken yet. */
  get begun(): number {
    return this.#next;
  }

  /** Sends what still comes when everything is over. */
  payLate(): void {
    for (const { deposit } of this.placed) {
      if (deposit !== null && deposit.late > 0n) this.#parts.give(deposit.address, deposit.late);
    }
  }

  /** Reads the orders in turn until `signal` aborts, as customers do who wait for a refund. */
  async look(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const order = this.placed[turn % this.placed.length];
      if (order === undefined) return;
      await this.#parts.api.ask({ method: "GET", path: `/transactions/${order.transactionId}` });
      await sleep(LOOK_MS);
    }
  }

  async #grant(wish: Wish, number: number): Promise<Placed> {
    const recipients = wish.shares.map((share) => ({ address: newAddress(), units: BigInt(share) }));
    const { asked, taken } = await this.#order(wish, recipients, number);
    const transactionId = String(taken["transactionId"]);
    const isCancelled = wish.isCancelled && (await this.#cancel(transactionId));
    const base = { transactionId, number, mode: wish.mode, recipients, isCancelled, asked };
    if (wish.mode === "wallet") return { ...base, signature: String(taken["signature"]), deposit: null };
    const address = String(taken["ephemeralAddress"]);
    const sent = isCancelled
      ? 0n
      : this.#pay(address, units(String(taken["depositAmount"]), USDC_DECIMALS), wish);
    return { ...base, signature: null, deposit: { address, sent, late: BigInt(wish.late) } };
  }

  /** Quotes until a quote lives long enough to be ordered by. */
  async #order(
    wish: Wish,
    recipients: Placed["recipients"],
    number: number,
  ): Promise<{ readonly asked: Asked; readonly taken: Answered["body"] }> {
    const refusals: unknown[] = [];
    const to = recipients.map(({ address, units: amount }) => ({ address, amount: decimal(amount) }));
    for (let count = 1; count <= MAX_QUOTES; count += 1) {
      const quote = await this.#post(
        wish,
        quoteOf(wish, to, this.#parts.alice.address),
        `q-${number}-${count}`,
      );
      const asked = this.#orderBy(wish, to, { quote: quote.body, key: `o-${number}-${count}` });
      const answer = await (wish.isImpatient ? this.#parts.api.askTwice(asked) : this.#parts.api.ask(asked));
      if (answer.status === 201) return { asked, taken: answer.body };
      refusals.push(answer.body);
    }
    throw new Error(`a ${wish.mode} order was never taken: ${JSON.stringify(refusals.slice(-3))}`);
  }

  #post({ isImpatient }: Wish, body: object, key: string): Promise<Answered> {
    const asked: Asked = { method: "POST", path: "/quotes", body, key };
    return isImpatient ? this.#parts.api.askTwice(asked) : this.#parts.api.ask(asked);
  }

  #orderBy(
    wish: Wish,
    recipients: object[],
    { quote, key }: { readonly quote: Answered["body"]; readonly key: string },
  ): Asked {
    const { alice } = this.#parts;
    const order = {
      type: recipients.length === 1 ? "send" : "payroll",
      quoteId: quote["quoteId"],
      sender: alice.address,
      recipients,
    };
    const post = { method: "POST", path: "/transactions", key } as const;
    if (wish.mode === "private") return { ...post, body: { ...order, mode: "private" } };
    const unsigned = Buffer.from(String(quote["transaction"]), "base64");
    const signedTransaction = signPayment(unsigned, Buffer.from(alice.secretKey, "base64"));
    return { ...post, body: { ...order, signedTransaction } };
  }

  async #cancel(transactionId: string): Promise<boolean> {
    const { status } = await this.#parts.api.ask({
      method: "DELETE",
      path: `/transactions/${transactionId}`,
    });
    if (status === 200) return true;
    // The first answer may have been lost.
    const { body } = await this.#parts.api.ask({ method: "GET", path: `/transactions/${transactionId}` });
    return body["status"] === "cancelled";
  }

  #pay(address: string, due: bigint, { pays }: Wish): bigint {
    const { give } = this.#parts;
    if (pays === "in parts") {
      give(address, due / 3n);
      give(address, due - due / 3n);
      return due;
    }
    const sent = pays === "too much" ? due + 5_000_000n : due;
    give(address, sent);
    return sent;
  }
}

function quoteOf(wish: Wish, recipients: object[], sender: string): object {
  const amount = decimal(wish.shares.reduce((sum, share) => sum + BigInt(share), 0n));
  const assets = { inputAsset: "USDC", outputAsset: "USDC", amount, recipients };
  return wish.mode === "private" ? { ...assets, mode: "private" } : { ...assets, sender };
}

/** The address of a key that nobody has used. */
function newAddress(): string {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return bs58.encode(Buffer.from(x ?? "", "base64url"));
}
