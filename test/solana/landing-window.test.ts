/** R3: until when a caller's bytes can land is told by the furthest endpoint, and by none where endpoints are far apart. */
import { expect } from "vitest";
import { EndpointsDifferError } from "../../src/ledger/ledger.ts";
import type { ChainFixture } from "../kit/chain-fixture.ts";
import { chainTest as test } from "../kit/chain-test.ts";
import type { EndpointOptions } from "../../src/solana/index.ts";
import { lyingNode, type Lie } from "../payments/private/lying-nodes.ts";
import { elapsed } from "./scripted-node.ts";

/** The endpoint's blocks and slots are off by so many, in each answer about a blockhash. */
function isOff(blocks: number): Lie {
  return ({ method, truth }) => {
    if (method === "getEpochInfo") {
      return truth().then((honest) => {
        const { absoluteSlot, blockHeight } = honest as { absoluteSlot: number; blockHeight: number };
        return { absoluteSlot: absoluteSlot + blocks, blockHeight: blockHeight + blocks };
      });
    }
    if (method !== "isBlockhashValid") return undefined;
    return truth().then((honest) => {
      const { context, value } = honest as { context: { slot: number }; value: unknown };
      return { context: { slot: context.slot + blocks }, value };
    });
  };
}

const isUnknown: Lie = ({ method, truth }) =>
  method === "isBlockhashValid"
    ? truth().then((honest) => ({ ...(honest as object), value: false }))
    : undefined;

const LIFE = 150;
/** So long all payments over a blockhash share what was told of it. */
const KNOWN_FOR_MS = 350;

async function newestOf(chain: ChainFixture["chain"]): Promise<string> {
  const params = [{ commitment: "confirmed" }];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params });
  const response = await chain.fetch("http://local", { body });
  const { result } = (await response.json()) as { readonly result: { value: { blockhash: string } } };
  return result.value.blockhash;
}

test("R3: the last height of a caller's bytes is counted from the furthest endpoint, whichever calls the blockhash valid", async ({
  world: { chain, clock, ledgerOf },
}) => {
  const nodes = [lyingNode(chain, "one"), lyingNode(chain, "two")] as const;
  const ledger = ledgerOf(nodes.map(({ endpoint }): EndpointOptions => endpoint));
  const blockhash = await newestOf(chain);
  // At confirmed, one block behind.
  const truth = (): number => chain.blockHeight() - 1 + LIFE;
  expect(await ledger.landingWindow(blockhash)).toMatchObject({ lastValidBlockHeight: truth() });
  for (const [behind, honest] of [nodes, nodes.toReversed()] as const) {
    clock.advance(KNOWN_FOR_MS);
    const ends = [behind?.tell(isOff(-100)), honest?.tell(isUnknown)];
    expect(await ledger.landingWindow(blockhash)).toMatchObject({ lastValidBlockHeight: truth() });
    for (const end of ends) end?.();
  }
  clock.advance(KNOWN_FOR_MS);
  const end = nodes[0].tell(isOff(200));
  expect(await ledger.landingWindow(blockhash)).toMatchObject({ lastValidBlockHeight: truth() + 200 });
  end();
  await ledger.close();
});

test("R3: endpoints that are more than two minutes apart tell no last height, and the dispute is told until they agree", async ({
  world: { chain, clock, ledgerOf },
}) => {
  const nodes = [lyingNode(chain, "one"), lyingNode(chain, "two")] as const;
  const ledger = ledgerOf(nodes.map(({ endpoint }): EndpointOptions => endpoint));
  const blockhash = await newestOf(chain);
  for (const blocks of [-301, 301, 1_000_000]) {
    clock.advance(KNOWN_FOR_MS);
    const end = nodes[1].tell(isOff(blocks));
    await expect(ledger.landingWindow(blockhash), String(blocks)).rejects.toBeInstanceOf(
      EndpointsDifferError,
    );
    expect(await ledger.disputes()).toMatchObject([{ subject: "the end of the chain" }]);
    end();
    expect(await ledger.landingWindow(blockhash)).not.toBeNull();
    expect(await ledger.disputes()).toEqual([]);
  }
  await ledger.close();
});

test("R3: of three endpoints one that is behind changes nothing, and one that calls a dead blockhash valid gives it no longer life", async ({
  world: { chain, clock, ledgerOf },
}) => {
  const nodes = [lyingNode(chain, "one"), lyingNode(chain, "two"), lyingNode(chain, "three")] as const;
  const ledger = ledgerOf(nodes.map(({ endpoint }): EndpointOptions => endpoint));
  const blockhash = await newestOf(chain);
  const honest = await ledger.landingWindow(blockhash);
  clock.advance(KNOWN_FOR_MS);
  const end = nodes[2].tell(isOff(-900));
  expect(await ledger.landingWindow(blockhash)).toEqual(honest);
  end();
  chain.advance(LIFE + 2);
  const late = ledger.landingWindow(blockhash);
  expect(await elapsed(clock, late)).toBeLessThan(2_500);
  expect(await late).toBeNull();
  await ledger.close();
});

test("payments over one blockhash share one look for less than a block takes, and a dispute is asked about anew", async ({
  world: { chain, clock, ledgerOf },
}) => {
  const nodes = [lyingNode(chain, "one"), lyingNode(chain, "two")] as const;
  const ledger = ledgerOf(nodes.map(({ endpoint }): EndpointOptions => endpoint));
  const blockhash = await newestOf(chain);
  const end = nodes[1].tell(isOff(-301));
  await expect(ledger.landingWindow(blockhash)).rejects.toBeInstanceOf(EndpointsDifferError);
  end();
  const first = await ledger.landingWindow(blockhash);
  let asked = 0;
  const stop = nodes[0].tell(({ method }) => {
    if (method === "isBlockhashValid" || method === "getEpochInfo") asked += 1;
    return undefined;
  });
  clock.advance(KNOWN_FOR_MS - 1);
  expect(await ledger.landingWindow(blockhash)).toEqual(first);
  expect(asked).toBe(0);
  clock.advance(1);
  await ledger.landingWindow(blockhash);
  expect(asked).toBe(2);
  stop();
  await ledger.close();
});
