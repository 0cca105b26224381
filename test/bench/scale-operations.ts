/** What is asked of a service beside many finished orders. */
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { TransactionsQuery } from "../../src/payments/frame/requests.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";

/** A service beside orders of one of its callers. */
export interface FilledWorld {
  readonly fixture: ServiceFixture;
  readonly caller: Caller;
  /** A transaction of the caller's in the middle of all. */
  readonly middle: string;
  /** Whom the caller has paid. */
  readonly payee: string;
}

/** Makes ready, untimed; what is answered is timed. */
export type Operation = (world: FilledWorld) => Promise<() => Promise<unknown>>;

const PAGE = { limit: 20 };
const FUNDS = { lamports: 1_000_000_000n, usdc: 1_000_000_000_000n };
let amount = 0;

const at =
  (act: (world: FilledWorld) => Promise<unknown>): Operation =>
  async (world) =>
  () =>
    act(world);

const page = (query: (world: FilledWorld) => TransactionsQuery): Operation =>
  at((world) => world.fixture.service.listTransactions(world.caller, { ...PAGE, ...query(world) }));

const send = ({ fixture }: FilledWorld) => ({
  from: fixture.wallet("alice", FUNDS),
  to: fixture.wallet("bob", { usdc: 1n }).address,
  amount: `1.${String((amount += 1)).padStart(6, "0")}`,
});

async function inspectorPage({ fixture }: FilledWorld, path: string): Promise<() => Promise<string>> {
  const { service, clock } = fixture;
  const handler = createHttpHandler({ service, clock, inspector: { authorize: () => true } });
  const request = new Request(`http://127.0.0.1/_inspector${path}`);
  return async () => {
    const answer = await handler.fetch(request);
    if (answer.status !== 200) throw new Error(`the inspector answered ${answer.status} for ${path}`);
    return answer.text();
  };
}

/** Operations whose answer does not grow with what is stored. */
export const operations: Readonly<Record<string, Operation>> = {
  quote: async (world) => {
    const { from, to, amount: sent } = send(world);
    const recipients = [{ address: to, amount: sent }];
    const asset = { inputAsset: "USDC", outputAsset: "USDC", amount: sent };
    return () =>
      world.fixture.service.createQuote(world.caller, { ...asset, sender: from.address, recipients });
  },
  order: async (world) => {
    const { body } = await world.fixture.prepareSend(world.caller, send(world));
    const request = { ...body, recipients: [...body.recipients] };
    return () => world.fixture.service.createTransaction(world.caller, request);
  },
  read: at(({ fixture, caller, middle }) => fixture.service.transaction(caller, middle)),
  "first page": page(() => ({})),
  "deep page": page(({ middle }) => ({ startingAfter: middle })),
  "page of a status": page(() => ({ status: "cancelled" })),
  "page of a recipient": page(({ payee }) => ({ recipient: payee })),
  "page of a reference": page(() => ({ reference: "invoice-2" })),
  "page of nothing, two filters": page(() => ({ type: "swap", status: "failed" })),
  health: at(({ fixture }) => fixture.service.health()),
  start: async ({ fixture }) => {
    const another = fixture.another();
    return async () => {
      await another.start();
      await another.stop();
    };
  },
  "inspector's list": (world) => inspectorPage(world, ""),
  "inspector's instance": (world) => inspectorPage(world, `/instance?id=${world.middle}`),
  claim: at(({ fixture: { storage, service, clock } }) =>
    storage.claim({
      holder: "bench",
      now: clock.now(),
      leaseMs: 15_000,
      workflows: service.workflows.map(({ name, version }) => `${name}@${version}`),
      maxCrashes: 5,
      steps: 64,
      free: 64,
      limited: 64,
    }),
  ),
};
