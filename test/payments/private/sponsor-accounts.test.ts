/** The sponsor's own token accounts, which take what rests cost: made at the start. */
// modules: private
import { afterEach, expect, it } from "vitest";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { openSponsorAccounts } from "../../../src/payments/frame/purses/open-sponsor-accounts.ts";
import { spentInADay, sponsorPurse } from "../../../src/payments/frame/spending.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

/** A sponsor with an account of USDC and none of USDT. */
const begin = async () => {
  world = await transferWorld({ mint: "USDC", shares: [1n], cut: [1], fee: 0n, deposited: {} });
};
async function opened(mostSpentPerDay: bigint | null = null): Promise<readonly string[]> {
  const { storage, ledger, clock, mints, sponsor, chain } = world;
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (_: unknown, said?: string) => void warned.push(said ?? "") };
  const shared = { storage, ledger, clock, log, assets: assetsWith(mints) };
  await openSponsorAccounts({ ...shared, sponsor, mostSpentPerDay });
  chain.advance(SLOTS_TO_FINALITY);
  return warned;
}
const isThere = async () => {
  const asked = { owner: world.sponsor.address, mint: world.mints.USDT };
  const [state] = await world.ledger.tokenAccountStates([asked]);
  return state !== "absent";
};
const spent = () => {
  const { storage, sponsor, clock } = world;
  return spentInADay(storage, sponsorPurse(sponsor.address), clock.now());
};

it("are made if they are missing, once, and count as spent", async () => {
  await begin();
  const { sponsor, lamports, rent } = world;
  const before = await lamports(sponsor.address);
  expect([await isThere(), await opened(), await isThere()]).toEqual([false, [], true]);
  const paid = before - (await lamports(sponsor.address));
  expect(paid).toBeGreaterThan(rent(165));
  expect(await spent()).toBe(paid);
  expect(await opened()).toEqual([]);
  expect(await lamports(sponsor.address)).toBe(before - paid);
});

it("are not made beyond what the sponsor may spend in a day, and the log says so", async () => {
  await begin();
  const warned = await opened(world.rent(165));
  expect(warned).toEqual([expect.stringContaining("token accounts of the sponsor are missing")]);
  expect([await isThere(), await spent()]).toEqual([false, 0n]);
});
