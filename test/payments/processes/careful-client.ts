/** A client that keeps asking, with the same keys and bytes, until it is answered: the other half of paying once. */
import { generateKeyPairSync } from "node:crypto";
import bs58 from "bs58";
import { signPayment } from "../../kit/chain-fixture.ts";
import type { ChainReady, ServiceReady } from "./settings.ts";

/** A payment that was acknowledged. */
export interface Acknowledged {
  readonly transactionId: string;
  readonly signature: string;
  readonly recipient: string;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What every payment is worth, in whole USDC. */
const AMOUNT = "1";
const PAUSE_MS = 100;
// A quote dies when the service is away for too long; more quotes than this mean something else.
const MAX_QUOTES = 10;

/** Asks the service that runs just then; `onAnswer` is told of every answer, whatever it is. */
export function carefulClient({
  service,
  chain,
  apiKey,
  onAnswer,
}: {
  readonly service: () => Promise<ServiceReady>;
  readonly chain: ChainReady;
  readonly apiKey: string;
  readonly onAnswer: () => void;
}): {
  post(path: string, body: unknown, key: string): Promise<Answer>;
  pay(name: string): Promise<Acknowledged>;
} {
  /** Every answer of 500 and above, and none at all, is no answer. */
  const post = async (path: string, body: unknown, key: string): Promise<Answer> => {
    for (;;) {
      const { baseUrl } = await service();
      const answer = await fetch(`${baseUrl}/v1${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${apiKey}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: JSON.stringify(body),
      })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as Answer["body"],
        }))
        .catch(() => null);
      onAnswer();
      if (answer !== null && answer.status < 500) return answer;
      await new Promise((resolve) => {
        setTimeout(resolve, PAUSE_MS);
      });
    }
  };

  return {
    post,
    async pay(name) {
      const recipient = newAddress();
      const recipients = [{ address: recipient, amount: AMOUNT }];
      const sender = chain.alice.address;
      const refusals: unknown[] = [];
      for (let count = 1; count <= MAX_QUOTES; count++) {
        const request = { inputAsset: "USDC", outputAsset: "USDC", amount: AMOUNT, sender, recipients };
        const quote = await post("/quotes", request, `${name}-quote-${count}`);
        const unsigned = Buffer.from(String(quote.body["transaction"]), "base64");
        const signedTransaction = signPayment(unsigned, Buffer.from(chain.alice.secretKey, "base64"));
        const { quoteId } = quote.body;
        const order = { type: "send", quoteId, sender, recipients, signedTransaction };
        const { status, body } = await post("/transactions", order, `${name}-post-${count}`);
        if (status === 201) {
          const { transactionId, signature } = body;
          return { transactionId: String(transactionId), signature: String(signature), recipient };
        }
        refusals.push(body);
      }
      throw new Error(`${name} was never taken: ${JSON.stringify(refusals)}`);
    },
  };
}

/** The address of a key that nobody has used. */
function newAddress(): string {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return bs58.encode(Buffer.from(x ?? "", "base64url"));
}
