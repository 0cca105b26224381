/** Keys that a key service holds: its signatures are used, its own ideas about a transaction are not. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createSignatureDictionary, fetchSignerJson, type SolanaSigner } from "@solana/keychain-core";
import { createMemorySignerFromBytes } from "@solana/keychain-memory";
import { address, signatureBytes } from "@solana/kit";
import { describe, expect, test as base } from "vitest";
import { keychainSigner, type KeychainBackend } from "../../src/ledger/keychain-signer.ts";
import { keypairSigner, SigningFailed, signTransaction } from "../../src/ledger/sign-transaction.ts";
import { routingFixture } from "./routing/routing-fixture.ts";

const seed = new Uint8Array(32).fill(7);
const local = keypairSigner(seed);
const message = Uint8Array.from({ length: 300 }, (_, index) => index);

/** A transit engine on loopback, in the shape of Vault's: it signs the base64 `input`, as `tamper` leaves it. */
const test = base.extend<{
  transit: {
    readonly url: string;
    readonly asked: unknown[];
    tamper: (bytes: Buffer) => Buffer;
    status: number;
  };
}>({
  transit: async ({}, use) => {
    const transit = { url: "", asked: [] as unknown[], tamper: (bytes: Buffer) => bytes, status: 200 };
    const answer = async (request: IncomingMessage): Promise<string> => {
      const body: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
      transit.asked.push(body);
      const { input } = body as { input: string };
      const signature = await local.sign(transit.tamper(Buffer.from(input, "base64")));
      return JSON.stringify({ data: { signature: `vault:v1:${Buffer.from(signature).toString("base64")}` } });
    };
    const server = createServer((request, response) => {
      void answer(request).then((text) => response.writeHead(transit.status).end(text));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    transit.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/transit/sign/sponsor`;
    await use(transit);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

/** A remote signer of the parts that every backend of keychain-core 1.x is made of. */
class TransitSigner implements SolanaSigner {
  readonly address = address(local.address);
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  isAvailable = async (): Promise<boolean> => true;
  signTransactions = (): never => {
    throw new Error("the bytes of the service are signed, not a transaction");
  };

  async signMessages(
    messages: Parameters<SolanaSigner["signMessages"]>[0],
  ): ReturnType<SolanaSigner["signMessages"]> {
    return Promise.all(
      messages.map(async ({ content }) => {
        const { data } = await fetchSignerJson<{ data: { signature: string } }>({
          init: { method: "POST", body: JSON.stringify({ input: Buffer.from(content).toString("base64") }) },
          providerName: "Transit",
          url: this.#url,
        });
        const bytes = Buffer.from(data.signature.replace("vault:v1:", ""), "base64");
        return createSignatureDictionary({
          signature: signatureBytes(Uint8Array.from(bytes)),
          signerAddress: this.address,
        });
      }),
    );
  }
}

describe("keychainSigner", () => {
  test("a signer of keychain-memory has the address and the signature of the key itself", async () => {
    const signer = keychainSigner(await createMemorySignerFromBytes(seed));
    expect(signer.address).toBe(local.address);
    expect(await signer.sign(message)).toEqual(await local.sign(message));
  });

  test("a transaction that a keychain signer has signed is taken by the chain", async () => {
    const fixture = await routingFixture();
    fixture.chain.fund(local.address, { lamports: 10_000_000_000n });
    fixture.chain.advance(2);
    const sol = { does: "transfer", mint: null, decimals: 9, accountPayer: null } as const;
    const unsigned = await fixture.ledger.buildTransaction({
      feePayer: local.address,
      moves: [{ ...sol, from: local.address, to: fixture.nobody(), amount: 1_000_000_000n }],
    });
    const signed = await signTransaction(unsigned, [keychainSigner(await createMemorySignerFromBytes(seed))]);
    await fixture.ledger.broadcast(signed.bytes);
    expect(await fixture.ledger.statuses([signed.signature])).toMatchObject([{ error: null }]);
    await fixture.close();
  });

  test("a signer behind HTTP is given the very bytes, and its outage is told unchanged", async ({
    transit,
  }) => {
    const signer = keychainSigner(new TransitSigner(transit.url));
    expect(await signer.sign(message)).toEqual(await local.sign(message));
    expect(transit.asked).toEqual([{ input: Buffer.from(message).toString("base64") }]);
    transit.status = 503;
    await expect(signer.sign(message)).rejects.toThrow("Transit API error: 503");
  });

  test("N19: a key service that signs other bytes than it was given is caught and named", async ({
    transit,
  }) => {
    transit.tamper = (bytes) => Buffer.concat([bytes, Buffer.from([0])]);
    const outcome = keychainSigner(new TransitSigner(transit.url)).sign(message);
    await expect(outcome).rejects.toBeInstanceOf(SigningFailed);
    await expect(outcome).rejects.toThrow(
      `TransitSigner signed other bytes than those that ${local.address}`,
    );
  });

  test("N19: a backend that rewrites or sends by itself is refused by name, before it is asked to sign", () => {
    const never = async (): Promise<never> => {
      throw new Error("asked to sign");
    };
    const partial = { address: local.address, signMessages: never };
    class CrossmintSigner implements KeychainBackend {
      readonly address = local.address;
      readonly signMessages = never;
    }
    class FireblocksSigner extends CrossmintSigner {
      readonly useProgramCall: boolean;
      constructor(useProgramCall: boolean) {
        super();
        this.useProgramCall = useProgramCall;
      }
    }
    class ParaSigner extends CrossmintSigner {
      readonly signAndSendTransactions = never;
    }
    expect(() => keychainSigner(new CrossmintSigner())).toThrow(/^CrossmintSigner rewrites .* sends/);
    expect(() => keychainSigner(new FireblocksSigner(true))).toThrow(
      /^FireblocksSigner sends .*useProgramCall/,
    );
    expect(() => keychainSigner(new ParaSigner())).toThrow(/^ParaSigner sends transactions by itself/);
    for (const method of ["modifyAndSignTransactions", "modifyAndSignMessages"]) {
      expect(() => keychainSigner({ ...partial, [method]: never })).toThrow(/^the keychain signer rewrites/);
    }
    expect(keychainSigner(new FireblocksSigner(false)).address).toBe(local.address);
    expect(() => keychainSigner({ ...partial, address: "sponsor" })).toThrow("wrong_length");
  });

  test("an answer without the signer's own signature, or with several, is none", async () => {
    const own = await local.sign(message);
    const answers = [[], [{}], [{ [local.address]: own }, { [local.address]: own }]];
    for (const answer of answers) {
      const signer = keychainSigner({ address: local.address, signMessages: async () => answer });
      await expect(signer.sign(message)).rejects.toBeInstanceOf(SigningFailed);
    }
  });

  test("a backend that writes into the message, or is not waited for any more, does no harm", async () => {
    const given = Uint8Array.from(message);
    const ended = new AbortController();
    let heard: AbortSignal | undefined;
    const signer = keychainSigner({
      address: local.address,
      async signMessages([first], config) {
        heard = config?.abortSignal;
        const content = first?.content ?? new Uint8Array();
        const signature = await local.sign(content);
        content.fill(0);
        return [{ [local.address]: signature }];
      },
    });
    await signer.sign(given, ended.signal);
    expect([given, heard]).toEqual([message, ended.signal]);
  });
});
