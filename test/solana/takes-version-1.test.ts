/** Whether the chain takes version 1 is what enough endpoints tell of the account of the feature, finalized. */
import { expect, test } from "vitest";
import { EndpointsDifferError, LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { elapsed, httpError, result, scriptedNode, type Reply } from "./scripted-node.ts";

const FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";
const FEATURE_OWNER = "Feature111111111111111111111111111111111111";

const account = (data: readonly number[], owner = FEATURE_OWNER): Reply =>
  result({
    context: { slot: 7 },
    value: [
      { lamports: 1, data: [Buffer.from(data).toString("base64"), "base64"], owner, executable: false },
    ],
  });
const ABSENT = result({ context: { slot: 7 }, value: [null] });

/** What a ledger over nodes that answer so says, and its clock. */
function asking(...replies: readonly Reply[]) {
  const clock = virtualClock();
  const nodes = replies.map((reply) => scriptedNode(reply));
  const endpoints = nodes.map(({ fetch }, index) => ({ url: `http://node${index}.example`, fetch }));
  const ledger = solanaLedger({ endpoints, clock, logger: silentLogger });
  return { ledger, clock, nodes };
}

async function told({ ledger, clock }: ReturnType<typeof asking>): Promise<unknown> {
  const answer = ledger.takesVersion1().catch((error: unknown) => error);
  await elapsed(clock, answer);
  return answer;
}

test.for([
  ["switched on", account([1]), true],
  ["proposed and not switched on", account([0]), false],
  ["not proposed", ABSENT, false],
  ["somebody else's account", account([1], "11111111111111111111111111111111"), false],
  ["empty", account([]), false],
] as const)("N6: a feature that is %s", async ([, reply, takes]) => {
  expect(await told(asking(reply, reply))).toBe(takes);
});

test("N6: where endpoints differ, or too few answer, nothing is known", async () => {
  expect(await told(asking(account([1]), ABSENT))).toBeInstanceOf(EndpointsDifferError);
  const silent = await told(asking(account([1]), httpError(503)));
  expect(silent).toBeInstanceOf(LedgerUnavailable);
  expect(silent).not.toBeInstanceOf(EndpointsDifferError);
});

test("N6: it is asked of the finalized state, once a minute", async () => {
  const asked: unknown[] = [];
  const world = asking((call) => {
    asked.push(call.params);
    return account([1])(call);
  });
  const takes = (): ReturnType<Ledger["takesVersion1"]> => world.ledger.takesVersion1();
  await elapsed(world.clock, takes());
  await elapsed(world.clock, takes());
  expect(asked).toMatchObject([[[FEATURE], { commitment: "finalized" }]]);
  world.clock.advance(60_000);
  await elapsed(world.clock, takes());
  expect(asked).toHaveLength(2);
});
