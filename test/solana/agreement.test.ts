/** Facts that decide money, told by two nodes of which one lies: what is believed, what is refused, and what is said. */
import { AuthorityType, createSetAuthorityInstruction } from "@solana/spl-token";
import { AddressLookupTableAccount, type PublicKey } from "@solana/web3.js";
import { afterEach, describe, expect, test } from "vitest";
import { EndpointsDifferError, type Ledger } from "../../src/ledger/ledger.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../src/ledger/routing.ts";
import { gone, lyingAbout, oddEndpoint, type OddEndpoint, type OddRule } from "../kit/odd-endpoints.ts";
import { keyOf, land, signed } from "./signed-transaction.ts";
import { verifyScene, type VerifyScene } from "./verify-scene.ts";

interface World extends VerifyScene {
  /** The preferred node. */
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
  readonly both: Ledger;
}

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function world(): Promise<World> {
  const scene = await verifyScene();
  ended.push(() => scene.close());
  scene.chain.advance(1);
  const [one, two] = [oddEndpoint(scene.chain, "one"), oddEndpoint(scene.chain, "two")];
  return { ...scene, one, two, both: scene.ledgerOf([one.option, two.option]) };
}

interface AccountTold {
  readonly data: readonly [string, string];
}

interface AccountsTold {
  readonly context: object;
  readonly value: readonly (AccountTold | null)[];
}

/** In each account that the node tells, one key stands in the place of another. */
function swapping(honest: PublicKey, other: PublicKey): OddRule {
  const [from, to] = [Buffer.from(honest.toBytes()), Buffer.from(other.toBytes())];
  return lyingAbout("getMultipleAccounts", ({ context, value }: AccountsTold) => ({
    context,
    value: value.map((account) => account && { ...account, data: [retold(account.data[0]), "base64"] }),
  }));

  function retold(text: string): string {
    const data = Buffer.from(text, "base64");
    const at = data.indexOf(from);
    if (at >= 0) to.copy(data, at);
    return data.toString("base64");
  }
}

describe("M18: a lookup table that the preferred node lies about", () => {
  /** Alice declares a payment to Bob, and signs one whose table has Mallory where the node shows Bob. */
  async function deceived(scene: World): Promise<string> {
    const { alice, bob, mallory } = scene;
    const real = await scene.table([keyOf(mallory)]);
    const state = { ...real.state, addresses: [keyOf(bob)] };
    const posed = new AddressLookupTableAccount({ key: real.key, state });
    return signed(scene, { signers: [alice], instructions: [scene.paySol()], tables: [posed] });
  }

  test("never proves that the declared payee is paid", async () => {
    const scene = await world();
    const { both, one, two, sol, bob, mallory } = scene;
    const text = await deceived(scene);
    expect(await both.verifyPayment(text, sol)).toEqual({ refused: "content_mismatch" });
    one.rule = swapping(keyOf(mallory), keyOf(bob));
    await expect(both.verifyPayment(text, sol)).rejects.toThrow(EndpointsDifferError);
    expect(await both.disputes()).toMatchObject([
      { subject: "a lookup table", endpoints: [one, two].map(nameOf) },
    ]);
    one.rule = undefined;
    expect(await both.verifyPayment(text, sol)).toEqual({ refused: "content_mismatch" });
    expect(await both.disputes()).toEqual([]);
  });

  test("is overruled by two others that tell the same", async () => {
    const scene = await world();
    const { one, two, sol, bob, mallory } = scene;
    const three = oddEndpoint(scene.chain, "three");
    const all = scene.ledgerOf([one, two, three].map(({ option }) => option));
    one.rule = swapping(keyOf(mallory), keyOf(bob));
    expect(await all.verifyPayment(await deceived(scene), sol)).toEqual({ refused: "content_mismatch" });
    await all.close();
  });

  test("is not believed while the other node is silent", async () => {
    const scene = await world();
    const { both, one, two, sol, bob, mallory } = scene;
    const text = await deceived(scene);
    [one.rule, two.rule] = [swapping(keyOf(mallory), keyOf(bob)), gone];
    await expect(both.verifyPayment(text, sol)).rejects.toThrow("1 of the 2 Solana nodes");
  });

  test("is believed of a ledger with one endpoint, whose word is all there is", async () => {
    const scene = await world();
    const { one, sol, bob, mallory } = scene;
    const text = await deceived(scene);
    one.rule = swapping(keyOf(mallory), keyOf(bob));
    expect(await scene.ledgerOf([one.option]).verifyPayment(text, sol)).toHaveProperty("verified");
  });
});

test("M18: a token account that was handed over is no payee's on the word of one node", async () => {
  const scene = await world();
  const { both, one, usdc, alice, bob, mallory, ata } = scene;
  const handOver = createSetAuthorityInstruction(
    ata(bob),
    keyOf(bob),
    AuthorityType.AccountOwner,
    keyOf(mallory),
  );
  await land(scene, { signers: [alice, bob], instructions: [scene.createAta(), handOver] });
  const text = await signed(scene, { signers: [alice], instructions: [scene.payToken()] });
  expect(await both.verifyPayment(text, usdc)).toEqual({ refused: "content_mismatch" });
  one.rule = swapping(keyOf(mallory), keyOf(bob));
  await expect(both.verifyPayment(text, usdc)).rejects.toThrow(EndpointsDifferError);
});

describe("M34: what one node tells of prices", () => {
  const tenfold = lyingAbout("getMinimumBalanceForRentExemption", (honest: number) => honest * 10);
  const dearFees = lyingAbout(
    "getFeeForMessage",
    ({ context, value }: { context: object; value: number }) => ({
      context,
      value: value * 10,
    }),
  );

  test.for([["preferred", "one"] as const, ["other", "two"] as const])(
    "makes no price dearer when the %s node tells ten times as much",
    async ([, which]) => {
      const scene = await world();
      const { both, usdc, ledger } = scene;
      const told = scene[which];
      const rent = await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
      told.rule = tenfold;
      await expect(both.rentMinimum(TOKEN_ACCOUNT_BYTES)).rejects.toThrow(EndpointsDifferError);
      await expect(both.paymentCost(usdc.mint, null)).rejects.toThrow(EndpointsDifferError);
      // What was agreed on a moment ago is not asked for again.
      scene.clock.advance(11_000);
      told.rule = dearFees;
      await expect(both.paymentCost(null, null)).rejects.toThrow(EndpointsDifferError);
      told.rule = undefined;
      expect(await both.rentMinimum(TOKEN_ACCOUNT_BYTES)).toBe(rent);
      expect(await both.paymentCost(null, null)).toEqual(await ledger.paymentCost(null, null));
      expect(await both.disputes()).toEqual([]);
    },
  );

  test("does not refuse a payment that another node would carry out", async () => {
    const scene = await world();
    const { both, one, two, usdc, alice } = scene;
    const text = await signed(scene, { signers: [alice], instructions: scene.honest(usdc) });
    const answer = await both.verifyPayment(text, usdc);
    if ("refused" in answer) throw new Error(answer.refused);
    const failing = lyingAbout(
      "simulateTransaction",
      ({ context, value }: { context: object; value: object }) => ({
        context,
        value: { ...value, err: { InstructionError: [3, { Custom: 17 }] } },
      }),
    );
    one.rule = failing;
    expect(await both.simulatePayment(answer.verified, usdc)).toBeNull();
    two.rule = gone;
    await expect(both.simulatePayment(answer.verified, usdc)).rejects.toThrow("1 of the 2 Solana nodes");
    two.rule = failing;
    expect(await both.simulatePayment(answer.verified, usdc)).toMatchObject({ kind: "would_fail" });
  });
});

test("M33: a signature is confirmed when as many nodes as must agree show it so", async () => {
  const scene = await world();
  const { both, one, two, usdc, alice, chain } = scene;
  const text = await signed(scene, { signers: [alice], instructions: scene.honest(usdc) });
  const answer = await both.verifyPayment(text, usdc);
  if ("refused" in answer) throw new Error(answer.refused);
  const { signature } = answer.verified;
  one.rule = lyingAbout(
    "getSignatureStatuses",
    ({ context, value }: { context: object; value: unknown[] }) => ({
      context,
      value: value.map(() => ({ slot: 9, confirmations: 1, err: null, confirmationStatus: "confirmed" })),
    }),
  );
  expect(await both.sightings([signature])).toEqual(["seen"]);
  await both.broadcast(Buffer.from(text, "base64"));
  chain.advance(2);
  expect(await both.sightings([signature])).toEqual(["confirmed"]);
  two.rule = gone;
  await expect(both.sightings([signature])).rejects.toThrow("1 of the 2 Solana nodes");
});

function nameOf({ option }: OddEndpoint): string {
  return new URL(option.url).hostname;
}
