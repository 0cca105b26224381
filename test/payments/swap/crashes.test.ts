/** E5: the process of a swap is killed before and after its calls to the outside; both legs move once, or never. */
import { expect, test } from "vitest";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { deskProvider } from "../../../src/payments/swap/desk-provider.ts";
import type { PaymentService } from "../../../src/create-payment-service.ts";
import { mortalProcess } from "../../kit/mortal.ts";
import type { Death, MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import { units } from "../../kit/private-fixture.ts";
import { INVENTORY, swapFixture } from "../../kit/swap-fixture.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { depositOnce, swapByWallet, swapInPrivate } from "./flows.ts";
import type { Client } from "./flows.ts";

const LEASE_MS = 15_000;
const ROUNDS = 40;
/** Each of these is died at; of the others, which change nothing, one in so many. */
const CHANGING: ReadonlySet<string> = new Set(["commit", "broadcast", "sign"]);
const ONE_IN = 9;
// `npm run test:long` dies at each of them, `npm test` at every sixth.
const STRIDE = process.env["MODE"] === "long" ? 1 : 6;

/** A flow: begun by a client who asks again until it is answered, and over when its transaction has ended. */
interface Flow {
  readonly begin: (client: Client, world: SwapFixture) => Promise<string>;
  readonly broken: (world: SwapFixture, id: string) => Promise<readonly string[]>;
}

/** One life: the calls of the process that dies, and what was broken in the end. */
async function live(
  flow: Flow,
  death?: Death,
): Promise<{ calls: readonly string[]; broken: readonly string[] }> {
  const world = await swapFixture();
  try {
    await world.service.stop();
    const caller = await world.caller();
    const sender = world.wallet("alice", { lamports: 10_000_000_000n });
    const first = mortalProcess(death);
    await act(flow, world, first, { caller, sender });
    if (!first.isDead()) return { calls: first.calls, broken: await endOf(flow, world) };
    world.clock.advance(LEASE_MS);
    await act(flow, world, mortalProcess(), { caller, sender });
    return { calls: first.calls, broken: await endOf(flow, world) };
  } finally {
    ends.delete(world);
    await world.close();
  }
}

/** The transactions that came of each world's flow. */
const ends = new Map<SwapFixture, string>();

const endOf = async (flow: Flow, world: SwapFixture): Promise<readonly string[]> =>
  flow.broken(world, ends.get(world) ?? "");

/** What one process lives through: the client's request, then slots and time until the transaction has ended. */
async function act(
  flow: Flow,
  world: SwapFixture,
  process: MortalProcess,
  client: Omit<Client, "service">,
): Promise<void> {
  const { storage, ledger, clock, chain } = world;
  const desk = process.within(keypairSigner(world.deskWallet.secretKey));
  const service = world.another({
    storage: process.within(storage),
    ledger: process.within(ledger),
    clock: process.timedBy(clock),
    swap: { provider: deskProvider({ desk }) },
    leaseMs: LEASE_MS,
  });
  const work = async (): Promise<void> => {
    await service.start();
    const id = await flow.begin({ service, ...client }, world);
    ends.set(world, id);
    for (let round = 0; round < ROUNDS; round++) {
      await letPass(service, world, process);
      chain.advance(35);
      await process.awaits(service.settled());
      const status = (await process.awaits(storage.transaction(id)))?.transaction.status;
      if (status === "completed" || status === "failed") return;
    }
    throw new Error(`${id} never ends`);
  };
  await Promise.race([process.awaits(work()), process.died]);
  if (!process.isDead()) await service.stop();
}

async function letPass(service: PaymentService, world: SwapFixture, process: MortalProcess): Promise<void> {
  const { clock, storage } = world;
  const settled = (): Promise<void> => process.awaits(service.settled());
  const nextDue = (): Promise<number | null> =>
    process.awaits(storage.nextDue(service.workflows.map(({ key }) => key)));
  await passTime({ clock, engine: { settled }, storage: { nextDue }, workflows: [] }, clock.now() + 2_000);
}

/** What was broken, and where the process had died. */
async function everyDeath(flow: Flow): Promise<readonly string[]> {
  const { calls, broken } = await live(flow);
  const found = broken.map((each) => `never killed: ${each}`);
  for (const [index, method] of calls.entries()) {
    if (index % (CHANGING.has(method) ? STRIDE : STRIDE * ONE_IN) !== 0) continue;
    for (const moment of ["before", "after"] as const) {
      const place = `killed ${moment} call ${index + 1} (${method})`;
      const life = await live(flow, { call: index + 1, moment }).catch((cause: unknown) => {
        throw new Error(place, { cause });
      });
      found.push(...life.broken.map((each) => `${place}: ${each}`));
    }
  }
  const missing = [...CHANGING].filter((method) => !calls.includes(method));
  return [...found, ...missing.map((method) => `nobody was killed at ${method}`)];
}

const DESK_SOL = INVENTORY.lamports ?? 0n;
const DESK_USDC = INVENTORY.usdc ?? 0n;

/** Both legs moved once, as told, and nothing is set aside any more. */
async function brokenSwap(world: SwapFixture, id: string, given: (fee: string) => bigint): Promise<string[]> {
  const view = await world.storage.transaction(id);
  const paid = view?.recipients[0]?.amount ?? 0n;
  const [lamports, usdc] = await world.held(world.desk);
  const broken: string[] = [];
  const { status, fee } = view?.transaction ?? {};
  if (status !== "completed") broken.push(`it is ${String(status)}`);
  if (lamports - DESK_SOL !== given(String(fee))) broken.push(`the desk was given ${lamports - DESK_SOL}`);
  if (DESK_USDC - usdc !== paid) broken.push(`the desk paid ${DESK_USDC - usdc}, not ${paid}`);
  const promised = await world.promised("USDC");
  if (promised !== 0n) broken.push(`${promised} is still promised`);
  return broken;
}

test("E5, W20: a wallet's swap moves both legs once", { timeout: 300_000 }, async () => {
  const broken = await everyDeath({
    begin: async (client) =>
      (await swapByWallet(client, { name: "one", give: "SOL", get: "USDC", amount: "1" })).id,
    broken: (world, id) => brokenSwap(world, id, () => units("1", 9)),
  });
  expect(broken).toEqual([]);
});

test("E5, W20: a private swap moves both legs once", { timeout: 600_000 }, async () => {
  const deposits = new Map<SwapFixture, ReturnType<typeof depositOnce>>();
  const broken = await everyDeath({
    async begin(client, world) {
      const wanted = { name: "one", give: "SOL", get: "USDC", amount: "1" };
      const { id, address, depositAmount } = await swapInPrivate(client, wanted);
      const deposit = deposits.get(world) ?? depositOnce((to, funds) => void world.chain.fund(to, funds));
      deposits.set(world, deposit);
      deposit(address, { lamports: units(depositAmount, 9) });
      return id;
    },
    broken: (world, id) => brokenSwap(world, id, (fee) => units("1", 9) - BigInt(fee)),
  });
  expect(broken).toEqual([]);
});
