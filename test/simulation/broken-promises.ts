/** What is promised of every payment at every moment, checked over a world that has come to rest. */
// modules: private, webhooks
import { brokenInvariants } from "../kit/check-invariants.ts";
import { STATUS_EVENTS } from "../../src/payments/frame/notices/notice-body.ts";
import { brokenDeliveries, brokenStatuses } from "./payment-invariants.ts";
import type { End, Flow } from "./flow.ts";
import { brokenMoneyPromises, paidRefunds } from "./money-promises.ts";
import { eventOf, type World } from "./world.ts";

/** One sentence per broken promise; empty when all hold. `undisturbed`: nobody died, so nothing came twice either. */
export async function brokenPromises(
  world: World,
  flow: Flow,
  undisturbed: boolean,
): Promise<readonly string[]> {
  const { storage, log } = world;
  const workflows = world.workflows();
  const setAside = await storage.tasks({ order: "dead", limit: 10 });
  const payments = await Promise.all(
    Object.entries(flow.ends).map(([payment, ends]) => brokenEnd(world, payment, ends)),
  );
  const ids = [...world.taken.values()];
  return [
    ...setAside.map(({ id }) => `${id} was set aside`),
    ...(await brokenInvariants({ storage, log, workflows })),
    ...payments.flat(),
    ...(await brokenMoneyPromises(world)),
    ...(await brokenStatuses(storage, workflows, ids)),
    ...(await brokenDeliveries(storage, ids)),
    ...(await brokenArrivals(world, undisturbed)),
  ];
}

/** How a payment ended, if it did not end in any of the ways in which it may. */
async function brokenEnd(world: World, payment: string, ends: Flow["ends"][string]): Promise<string[]> {
  const { storage, taken, cancelled } = world;
  const id = taken.get(payment);
  const transaction = id === undefined ? null : await storage.orderedTransaction(id);
  if (id === undefined || transaction === null) return [`I6: ${payment} was acknowledged and is gone`];
  const { status, reason } = transaction.transaction;
  const notices = await storage.notices(id);
  const deliveries = await storage.deliveries(id);
  const statusOf = (noticeId: string): string =>
    deliveries
      .filter((delivery) => delivery.noticeId === noticeId)
      .map((delivery) => delivery.status)
      .join();
  const { payees, asset, each } = world.orders.get(payment) ?? { payees: [payment], asset: "USDC", each: 0n };
  const gains = await world.gains(payees);
  const told = STATUS_EVENTS.flatMap((event) => notices.filter((notice) => notice.event === event));
  const ended = inWords({
    status,
    reason,
    paid: payees.map((payee) => gains[payee]?.[asset] ?? 0n),
    refunds: (await paidRefunds(storage, transaction)).length,
    told: told.map((notice) => `${notice.event} ${statusOf(notice.id)}`),
  });
  const allowed = ends.map(({ paid, unpaid = [], refunds = 0, told: events, givenUp = [], ...end }: End) =>
    inWords({
      status: end.status,
      reason: end.reason ?? null,
      paid: payees.map((_, index) => (unpaid.includes(index) ? 0n : paid === "as quoted" ? each : paid)),
      refunds,
      told: events.map((event) => `${event} ${givenUp.includes(event) ? "abandoned" : "delivered"}`),
    }),
  );
  return [
    ...(allowed.includes(ended) ? [] : [`${payment} ended as ${ended}, not as ${allowed.join(" or ")}`]),
    ...(cancelled.has(payment) && status !== "cancelled" ? [`I7: ${payment} was cancelled and sent`] : []),
  ];
}

function inWords(end: {
  readonly status: string;
  readonly reason: string | null;
  readonly paid: readonly bigint[];
  readonly refunds: number;
  readonly told: readonly string[];
}): string {
  const { status, reason, paid, refunds, told } = end;
  return `${status} (${reason ?? "no reason"}), ${paid.join()} paid, ${refunds} refunds, told [${told.join(", ")}]`;
}

/** I11 and H7 at the receiver: every notice arrives, in order, under one id and with the same bytes each time. */
async function brokenArrivals(world: World, undisturbed: boolean): Promise<string[]> {
  const arrived = new Map<string, { readonly body: string; readonly event: string; count: number }>();
  const broken: string[] = [];
  for (const request of world.received()) {
    const id = String(request.headers["webhook-id"]);
    const body = request.body.toString("utf8");
    const before = arrived.get(id);
    if (before === undefined) arrived.set(id, { body, event: eventOf(request) ?? "nothing", count: 1 });
    else if (before.body === body) before.count += 1;
    else broken.push(`I11: ${id} came with other bytes`);
  }
  for (const transactionId of world.taken.values()) {
    const notices = await world.storage.notices(transactionId);
    const deliveries = await world.storage.deliveries(transactionId);
    const ids = new Set(notices.map(({ id }) => id));
    const ofStatus = new Set<string>(STATUS_EVENTS);
    const order = [...arrived]
      .filter(([id, { event }]) => ids.has(id) && ofStatus.has(event))
      .map(([, { event }]) => event);
    const lost = notices.filter(({ id, event }) => !ofStatus.has(event) && !arrived.has(id));
    broken.push(...lost.map(({ event }) => `${event} of ${transactionId} never came`));
    const expected = STATUS_EVENTS.filter((event) => notices.some((notice) => notice.event === event));
    if (order.join() !== expected.join()) {
      broken.push(`the notices of ${transactionId} first came as ${order.join()}, not ${expected.join()}`);
    }
    for (const { noticeId, attempts } of deliveries) {
      const came = arrived.get(noticeId)?.count ?? 0;
      const isRight = undisturbed ? came === attempts : came >= attempts;
      if (!isRight) broken.push(`H7: ${noticeId} came ${came} times in ${attempts} attempts`);
    }
  }
  return broken;
}
