/** What a private send asks of the chain, alone and among many; and how long it takes. */
// modules: private, webhooks
import { median, report } from "./figures.ts";
import { serviceWorld, type ServiceWorld } from "./service-world.ts";

/** Slots and polls four times as fast as real ones, and so as many polls to a slot. */
const SPEED = { slotMs: 100, pollMs: 250 };
const REAL_SLOT_SECONDS = 0.4;
const ALONE = 3;
const IN_FLIGHT = 120;

async function reportAlone({ calls, order, complete }: ServiceWorld): Promise<void> {
  const slots: number[] = [];
  const [taking, paying]: [number[], number[]] = [[], []];
  for (let index = 0; index <= ALONE; index += 1) {
    calls.take();
    await order(1);
    const taken = calls.take().calls;
    const { perSecond } = await complete("deposit", 1);
    // The first one loads what the others find loaded.
    if (index === 0) continue;
    taking.push(taken);
    paying.push(calls.take().calls);
    slots.push(1_000 / perSecond / SPEED.slotMs);
  }
  report({
    name: "private, a send from deposit to completed",
    slots: median(slots),
    "s at 400 ms a slot": median(slots) * REAL_SLOT_SECONDS,
    "calls of quote and order": median(taking),
    "calls from then on": median(paying),
  });
}

async function reportInFlight({ calls, order, complete }: ServiceWorld): Promise<void> {
  await order(IN_FLIGHT);
  calls.take();
  const { perSecond, cpuMs } = await complete("deposit", IN_FLIGHT);
  const asked = calls.take();
  const name = `private, ${IN_FLIGHT} sends in flight`;
  report({ name, perSecond, "CPU ms each": cpuMs, "calls each": asked.calls / IN_FLIGHT });
  report({ name: `${name}: calls of all`, ...asked.methods });
}

/** From the deposit's landing until the payee is paid for good. */
export async function benchPrivate(): Promise<void> {
  const world = await serviceWorld({ ...SPEED, hasPrivateMode: true });
  try {
    await reportAlone(world);
    await reportInFlight(world);
  } finally {
    await world.close();
  }
}
