/** Checks of many recipients: they take milliseconds each time, and nobody waits for all of them. */
import { expect, test } from "vitest";
import { parseAddress } from "../../src/address.ts";
import { checkRecipientsOnChain } from "../../src/payments/recipients/recipients.ts";
import { chainFixture } from "../kit/chain-fixture.ts";

test("L3: a payroll's recipients are checked in turns, between which others go on", async () => {
  const world = await chainFixture();
  const recipients = Array.from({ length: 60 }, (_, n) => {
    const parsed = parseAddress(world.wallet(`payee ${n}`).address);
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.address;
  });
  let turns = 0;
  let goesOn = true;
  const others = (async () => {
    for (; goesOn; turns += 1) await new Promise(setImmediate);
  })();
  const during: number[] = [];
  const slow = {
    ...world.ledger,
    isOnCurve(address: (typeof recipients)[number]): boolean {
      during.push(turns);
      // As long as the curve takes on a slow machine.
      for (const end = performance.now() + 1; performance.now() < end;);
      return world.ledger.isOnCurve(address);
    },
  };
  await checkRecipientsOnChain(slow, recipients);
  goesOn = false;
  await others;
  expect(new Set(during).size).toBeGreaterThan(3);
  await world.close();
});
