/** What an operator decides about money that is held: released, sent elsewhere, written off; by one person or by two. */
import { afterEach, describe, expect, test } from "vitest";
import type { ScreenAddress } from "../../../src/payments/recipients/recipients.ts";
import { decisionWrite } from "../../../src/payments/operator/resolve/decisions.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { drawn } from "../../kit/thorough.ts";
import { DAY, MINUTE, sceneOn, SOL, type Ordered, type Scene } from "../private/scene.ts";
import { BY } from "../../kit/by.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const BEA = { actor: "bea", reason: "checked with the bank" };

/** A host's screening: who is refused, and whether it answers at all. */
interface Screening {
  readonly screen: ScreenAddress;
  readonly refused: Set<string>;
  readonly asked: string[];
  isDown: boolean;
}

function screening(): Screening {
  const made: Screening = {
    refused: new Set(),
    asked: [],
    isDown: false,
    screen: async (address, { role }) => {
      if (made.isDown) throw new Error("the list is out of reach");
      made.asked.push(`${role} ${address}`);
      return made.refused.has(address) ? "refused" : "ok";
    },
  };
  return made;
}

interface Room extends Scene {
  readonly screened: Screening;
  readonly carol: Wallet;
  readonly dave: Wallet;
  /** An order whose deposit came from somebody who is refused; its payee has not been paid. */
  heldOrder(): Promise<Ordered>;
  /** A cancelled order to which money came from somebody who is refused. */
  heldAfterCancel(): Promise<Ordered>;
  /** Whether anything is reserved for it of the sponsor. */
  isReserved(order: Ordered): Promise<boolean>;
}

let room: Room;
afterEach(() => room.close());

async function openRoom(adapter: Adapter, options: Partial<PaymentServiceOptions> = {}): Promise<void> {
  const screened = screening();
  const world = await sceneOn(adapter, options, { screen: screened.screen });
  const carol = world.wallet("carol", { lamports: 2n * SOL, usdc: 90_000_000n });
  screened.refused.add(carol.address);
  room = {
    ...world,
    screened,
    carol,
    dave: world.wallet("dave", { lamports: SOL }),
    async heldOrder() {
      const order = await world.sendTo();
      await world.openAccount({ ...carol, address: order.address as never }, "USDC");
      await world.payTokens(carol, order.address, "USDC", order.due);
      await world.settle(4);
      return order;
    },
    async heldAfterCancel() {
      const order = await world.sendTo();
      await world.service.cancelTransaction(world.customer, order.id);
      await world.openAccount({ ...carol, address: order.address as never }, "USDC");
      await world.payTokens(carol, order.address, "USDC", order.due);
      await world.passAndSettle(6 * MINUTE, 4);
      return order;
    },
    async isReserved({ id }) {
      const open = await world.storage.reservations(`sponsor ${world.sponsor.address}`);
      return open.some((row) => row.id === id);
    },
  };
}

const usdcOf = async (wallet: { readonly address: string }): Promise<bigint> =>
  (await room.held(wallet.address))[1];

/** Which shares of the sponsor and of its account an order still binds. */
async function boundBy({ id }: Ordered): Promise<readonly (string | undefined)[]> {
  const ids = ["", ":day", ":bound", ":share"].map((suffix) => `${id}${suffix}`);
  const rows = await Promise.all(ids.map((each) => room.storage.reservation(each)));
  const now = room.clock.now();
  const open = rows.filter((row) => row?.releasedAt === null && (row.lapsesAt ?? Infinity) > now);
  return open.map((row) => row?.id.slice(id.length));
}

describe.each(drawn(adapters, "resolving"))("on $name", (adapter) => {
  test("M10: what a refused depositor sent goes to another address after screening, its payee gets nothing, its reservation ends", async () => {
    await openRoom(adapter);
    const { service, dave, bob } = room;
    const order = await room.heldOrder();
    const id = `held:${order.address}`;
    expect(await service.operator.attention()).toMatchObject([
      {
        kind: "held",
        id,
        transactionId: order.id,
        accountId: room.customer.accountId,
        actions: ["release", "refundTo", "writeOff"],
      },
    ]);
    expect(await room.isReserved(order)).toBe(true);
    // Decided by a process that ends at once: the one at work carries it out.
    const resolution = await room
      .another()
      .operator.resolve(id, { action: "refundTo", address: dave.address }, BY);
    expect(resolution).toEqual({ id, action: "refundTo", state: "done", transactionId: order.id });
    await room.settle(8);
    await room.sweep();
    expect(await room.shown(order)).toMatchObject({
      status: "failed",
      reason: "REFUNDED_BY_OPERATOR",
      fee: "0",
      refunds: [{ asset: "USDC", status: "paid" }],
    });
    expect(await usdcOf(bob)).toBe(0n);
    expect(await usdcOf(room.alice)).toBe(1n);
    expect(await usdcOf(dave)).toBeGreaterThan(order.due - 1_000_000n);
    expect(room.screened.asked).toContain(`recipient ${dave.address}`);
    await room.sweep();
    expect(await room.isReserved(order)).toBe(false);
    expect(await service.operator.attention()).toEqual([]);
    expect(await service.operator.auditLog()).toMatchObject([
      { ...BY, act: "refund_to", what: { id, transactionId: order.id, address: dave.address } },
    ]);
    await room.judge();
  });

  test("M10: an order that is released pays its payee, and its reservation ends when its address has come to rest", async () => {
    await openRoom(adapter);
    const order = await room.heldOrder();
    await room.service.operator.resolve(`held:${order.address}`, { action: "release" }, BY);
    await room.settle(10);
    expect(await room.shown(order)).toMatchObject({ status: "completed" });
    expect(await usdcOf(room.bob)).toBe(5_000_000n);
    expect(await boundBy(order)).toEqual(["", ":day", ":bound"]);
    await room.sweep();
    await room.sweep();
    expect(await boundBy(order)).toEqual([]);
    expect(await room.service.operator.auditLog()).toMatchObject([{ act: "release" }]);
    await room.judge();
  });

  /** What erin, who is served, or carol pays in after the order. */
  async function payLate(from: Wallet, order: Ordered, amount: bigint): Promise<void> {
    await room.openAccount({ ...from, address: order.address as never }, "USDC");
    await room.payTokens(from, order.address, "USDC", amount);
    await room.passAndSettle(11 * MINUTE, 6);
  }

  const heldFor = async (order: Ordered): Promise<string | null | undefined> =>
    (await room.storage.deposits([order.address]))[0]?.heldReason;

  test("M35: a refund elsewhere takes what was there, and money that comes later, of a payer who is served or of a refused one, waits for a new decision", async () => {
    await openRoom(adapter);
    const erin = room.wallet("erin", { lamports: 2n * SOL, usdc: 90_000_000n });
    const order = await room.heldAfterCancel();
    expect(await room.stateOf(order)).toBe("held");
    const { operator } = room.service;
    const id = `held:${order.address}`;
    await operator.resolve(id, { action: "refundTo", address: room.dave.address }, BY);
    await room.settle(8);
    await room.passAndSettle(11 * MINUTE, 4);
    expect(await room.shown(order)).toMatchObject({ status: "cancelled", refunds: [{ status: "paid" }] });
    const first = await usdcOf(room.dave);
    expect(first).toBeGreaterThan(0n);
    expect(first).toBeLessThan(order.due);
    const allowed = { [room.mints.USDC]: String(Number(order.due) / 1e6) };
    expect(await operator.auditLog()).toMatchObject([{ act: "refund_to", what: { allowed } }]);

    await payLate(erin, order, 7_000_000n);
    expect(await heldFor(order)).toBe("sent_elsewhere");
    expect([await usdcOf(room.dave), await usdcOf(room.alice)]).toEqual([first, 1n]);
    await operator.resolve(id, { action: "refundTo", address: room.dave.address }, BY);
    await room.settle(8);
    const second = await usdcOf(room.dave);
    expect(second).toBeGreaterThan(first);
    expect(second).toBeLessThan(first + 7_000_001n);

    await payLate(room.carol, order, 7_000_000n);
    expect(await heldFor(order)).toBe("screening");
    expect([await usdcOf(room.dave), await usdcOf(room.alice)]).toEqual([second, 1n]);
    // The sender gets what is released.
    await operator.resolve(id, { action: "release" }, BY);
    await room.settle(8);
    await room.passAndSettle(11 * MINUTE, 4);
    expect(await usdcOf(room.dave)).toBe(second);
    expect(await usdcOf(room.alice)).toBeGreaterThan(1n);
    await room.judge();
  });

  test("M35: the fee that an address keeps leaves no room in a refund elsewhere for money that comes later", async () => {
    await openRoom(adapter);
    const erin = room.wallet("erin", { lamports: 2n * SOL, usdc: 90_000_000n });
    const order = await room.sendTo();
    await payLate(erin, order, order.due);
    expect(await room.shown(order)).toMatchObject({ status: "completed" });
    await payLate(room.carol, order, 3_000_000n);
    const { operator } = room.service;
    await operator.resolve(`held:${order.address}`, { action: "refundTo", address: room.dave.address }, BY);
    await room.settle(8);
    const sent = await usdcOf(room.dave);
    expect(sent).toBeGreaterThan(2_000_000n);
    expect(sent).toBeLessThan(3_000_000n);
    await payLate(erin, order, 200_000n);
    expect(await usdcOf(room.dave)).toBe(sent);
    expect(await heldFor(order)).toBe("sent_elsewhere");
  });

  test("M35: a refund elsewhere that has failed is replaced by one of no more, though other money has come meanwhile", async () => {
    await openRoom(adapter);
    const erin = room.wallet("erin", { lamports: 2n * SOL, usdc: 90_000_000n });
    const order = await room.heldAfterCancel();
    await room.openAccount(room.dave, "USDC");
    await room.freeze(room.dave, "USDC");
    const { operator } = room.service;
    await operator.resolve(`held:${order.address}`, { action: "refundTo", address: room.dave.address }, BY);
    await room.settle(8);
    await payLate(erin, order, 7_000_000n);
    expect(await usdcOf(room.dave)).toBe(0n);
    await room.thaw(room.dave, "USDC");
    for (let look = 0; look < 3; look++) await room.passAndSettle(45 * MINUTE, 4);
    const sent = await usdcOf(room.dave);
    expect(sent).toBeGreaterThan(0n);
    expect(sent).toBeLessThan(order.due);
    expect(await heldFor(order)).toBe("sent_elsewhere");
    expect(await usdcOf(room.alice)).toBe(1n);
  });

  test("M35: two people agree on what was there when the first of them asked: what comes before the second confirms waits", async () => {
    await openRoom(adapter, { approvals: 2 });
    const order = await room.heldAfterCancel();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    const { address } = room.dave;
    const allowed = { [room.mints.USDC]: String(Number(order.due) / 1e6) };
    expect(await operator.resolve(id, { action: "refundTo", address }, BY)).toMatchObject({ allowed });
    await payLate(room.carol, order, 7_000_000n);
    await operator.approve(id, { address }, BEA);
    await room.settle(8);
    await room.passAndSettle(11 * MINUTE, 4);
    expect(await usdcOf(room.dave)).toBeLessThan(order.due);
    expect(await heldFor(order)).toBe("screening");
    expect(await operator.auditLog()).toMatchObject([
      { act: "request_refund_to", what: { allowed } },
      { act: "refund_to", what: { allowed, requestedBy: "ann" } },
    ]);
  });

  test("M10: what is written off stays held, is no matter any more, frees its reservation, and can still be released", async () => {
    await openRoom(adapter);
    const order = await room.heldOrder();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    await operator.resolve(
      id,
      { action: "writeOff" },
      { actor: "ann", reason: "the police have asked for it" },
    );
    expect(await operator.attention()).toEqual([]);
    expect(await room.isReserved(order)).toBe(false);
    await room.passAndSettle(DAY, 4);
    expect(await usdcOf(room.bob)).toBe(0n);
    expect((await room.storage.deposits([order.address]))[0]?.heldReason).toBe("written_off");
    await expect(operator.resolve(id, { action: "writeOff" }, BY)).rejects.toThrow(
      `there is no matter ${id}`,
    );
    await room.service.operator.releaseDeposit(order.id, BY);
    await room.settle(10);
    expect(await usdcOf(room.bob)).toBe(5_000_000n);
    await room.judge();
  });

  test("M10: an open order that was written off and is released binds again what it may cost, until its address has come to rest", async () => {
    await openRoom(adapter);
    const order = await room.heldOrder();
    expect(await boundBy(order)).toEqual(["", ":day", ":bound"]);
    const { operator } = room.service;
    await operator.resolve(`held:${order.address}`, { action: "writeOff" }, BY);
    expect(await boundBy(order)).toEqual([]);
    const lift = room.chain.faults.add(dropping);
    await operator.releaseDeposit(order.id, BY);
    await room.settle(2);
    expect(await room.shown(order)).toMatchObject({ status: "processing" });
    expect(await boundBy(order)).toEqual(["", ":day", ":bound"]);
    expect(await room.storage.reservation(`${order.id}:bound`)).toMatchObject({ lapsesAt: null });
    lift();
    await room.passAndSettle(MINUTE, 8);
    expect(await room.shown(order)).toMatchObject({ status: "completed" });
    await room.sweep();
    await room.sweep();
    expect(await boundBy(order)).toEqual([]);
    await room.judge();
  });

  test("with two approvals nothing moves before another person confirms, and then once", async () => {
    await openRoom(adapter, { approvals: 2 });
    const order = await room.heldOrder();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    const command = { action: "refundTo", address: room.dave.address } as const;
    await expect(operator.approve(id, { address: room.dave.address }, BEA)).rejects.toThrow(
      `nothing of ${id} waits for an approval`,
    );
    const asked = await operator.resolve(id, command, BY);
    expect(asked).toMatchObject({ state: "awaits_approval", address: room.dave.address });
    for (const actor of ["ann", " Ann ", "ANN"]) {
      await expect(
        operator.approve(id, { address: room.dave.address }, { actor, reason: "me again" }),
      ).rejects.toThrow("ann has asked for it: another actor has to approve");
    }
    await room.passAndSettle(DAY, 4);
    expect(await usdcOf(room.dave)).toBe(0n);
    // Screened again: much may have happened since.
    room.screened.refused.add(room.dave.address);
    await expect(operator.approve(id, { address: room.dave.address }, BEA)).rejects.toThrow(
      "the host's screening refuses",
    );
    room.screened.refused.delete(room.dave.address);
    const both = await Promise.allSettled([
      operator.approve(id, { address: room.dave.address }, BEA),
      room
        .another()
        .operator.approve(id, { address: room.dave.address }, { actor: "cid", reason: "checked" }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await room.settle(8);
    await room.passAndSettle(11 * MINUTE, 4);
    expect(await usdcOf(room.dave)).toBeGreaterThan(0n);
    expect(await operator.auditLog()).toMatchObject([
      { actor: "ann", act: "request_refund_to", what: { address: room.dave.address } },
      { act: "refund_to", what: { address: room.dave.address, requestedBy: "ann" } },
    ]);
    expect(await operator.auditLog()).toHaveLength(2);
    await room.judge();
  });

  test("M36: a name with what nobody sees is refused, and a name in another form is the same person's", async () => {
    await openRoom(adapter, { approvals: 2 });
    const order = await room.heldOrder();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    const { address } = room.dave;
    await operator.resolve(id, { action: "refundTo", address }, { actor: "Ann Lee", reason: "asked to" });
    const approve = (actor: string, reason = "me again") =>
      operator.approve(id, { address }, { actor, reason });
    const unseen = ["\u200B", "\u0000", "\u00AD", "\u202E", "\uFE0F", "\u3164", "\u2800", "\uD800", "\u2028"];
    for (const character of unseen) {
      const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
      const says = `${code} is a control character or invisible: leave it out`;
      await expect(approve(`Ann${character} Lee`)).rejects.toThrow(`actor: ${says}`);
      await expect(approve("bea", `looked${character}up`)).rejects.toThrow(`reason: ${says}`);
    }
    for (const actor of ["ann  lee", "Ann\u00A0Lee", "\uFF21\uFF4E\uFF4E Lee", "Ann Lee\n"]) {
      await expect(approve(actor)).rejects.toThrow("Ann Lee has asked for it: another actor has to approve");
    }
    expect(await operator.auditLog()).toHaveLength(1);
    expect(await approve("Zoë O’Brien-李", "looked it up 👍")).toMatchObject({ state: "done" });
  });

  test("M36: a name that was stored with what nobody sees is the same person's as without", async () => {
    await openRoom(adapter, { approvals: 2 });
    const { storage, service, dave } = room;
    const { address } = dave;
    const id = `held:${(await room.heldOrder()).address}`;
    const [matter] = await service.operator.attention();
    for (const [version, unseen] of ["\u200B", "\u2060", "\u00AD"].entries()) {
      const asked = { address, actor: `An${unseen}n`, message: matter?.message };
      const set = { proposal: JSON.stringify(asked), decidedAt: 1 };
      const before = version === 0 ? null : { id, version, ...set };
      await storage.commit([{ writes: [decisionWrite(id, before, set)] }]);
      await expect(
        service.operator.approve(id, { address }, { actor: "ann", reason: "me again" }),
      ).rejects.toThrow("another actor has to approve");
    }
  });

  test("what is confirmed is the address that the second person knows of, and no other that was put in its place", async () => {
    await openRoom(adapter, { approvals: 2 });
    const order = await room.heldOrder();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    const { address } = room.dave;
    await operator.resolve(id, { action: "refundTo", address }, BY);
    await operator.resolve(id, { action: "refundTo", address: room.bob.address }, BY);
    await expect(operator.approve(id, { address }, BEA)).rejects.toThrow(
      `ann has asked for a refund to ${room.bob.address}`,
    );
    await room.settle(10);
    expect([await usdcOf(room.bob), await usdcOf(room.dave)]).toEqual([0n, 0n]);
    await operator.resolve(id, { action: "release" }, BY);
    await room.settle(10);
    await room.judge();
  });

  test("what was decided otherwise meanwhile is not approved any more", async () => {
    await openRoom(adapter, { approvals: 2 });
    const order = await room.heldOrder();
    const { operator } = room.service;
    const id = `held:${order.address}`;
    await operator.resolve(id, { action: "refundTo", address: room.dave.address }, BY);
    await operator.resolve(id, { action: "release" }, BY);
    await expect(operator.approve(id, { address: room.dave.address }, BEA)).rejects.toThrow(
      `nothing of ${id} waits for an approval`,
    );
    await room.settle(10);
    expect(await room.shown(order)).toMatchObject({ status: "completed" });
    await room.judge();
  });

  test("of two who decide about one matter at once one does, and only that is carried out", async () => {
    await openRoom(adapter);
    const order = await room.heldOrder();
    const id = `held:${order.address}`;
    const settled = await Promise.allSettled([
      room.service.operator.resolve(id, { action: "release" }, BY),
      room.another().operator.resolve(id, { action: "refundTo", address: room.dave.address }, BEA),
      room.another().operator.resolve(id, { action: "writeOff" }, BEA),
    ]);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const names = settled.map((each) => (each.status === "rejected" ? (each.reason as Error).name : "done"));
    expect(names.toSorted()).toEqual(["OperatorRefused", "OperatorRefused", "done"]);
    await room.settle(10);
    expect(await room.service.operator.auditLog()).toHaveLength(1);
  });

  test("what cannot be done is refused by name, and nothing moves", async () => {
    await openRoom(adapter);
    const order = await room.heldOrder();
    const free = await room.sendTo({ amount: "3" });
    const { operator } = room.service;
    const id = `held:${order.address}`;
    const to = (address: string) => operator.resolve(id, { action: "refundTo", address }, BY);
    await expect(to("nobody")).rejects.toThrow("address: nobody is no address (wrong_length)");
    await expect(to(room.sponsor.address)).rejects.toThrow("is one of the service's own");
    await expect(to(room.treasury.address)).rejects.toThrow("is one of the service's own");
    await expect(to(free.address)).rejects.toThrow("is one of the service's own");
    await expect(to(room.mints.USDC)).rejects.toThrow("cannot be paid (mint): name a wallet");
    await expect(to(room.carol.address)).rejects.toThrow("the host's screening refuses");
    room.screened.isDown = true;
    await expect(to(room.dave.address)).rejects.toThrow("cannot tell about");
    room.screened.isDown = false;
    await expect(operator.resolve(`held:${free.address}`, { action: "release" }, BY)).rejects.toThrow(
      `there is no matter held:${free.address}: see attention()`,
    );
    await expect(operator.resolve("held:nothing", { action: "release" }, BY)).rejects.toThrow(
      "there is no matter",
    );
    await expect(operator.resolve(id, { action: "drop" }, BY)).rejects.toThrow(
      `${id} takes release, refundTo, writeOff, and not drop`,
    );
    await expect(operator.resolve(id, { action: "settle", signature: "s" }, BY)).rejects.toThrow(
      "and not settle",
    );
    await expect(operator.resolve(id, { action: "pay" } as never, BY)).rejects.toThrow(/^action: /);
    await expect(operator.resolve(id, { action: "release" }, { actor: "ann", reason: "" })).rejects.toThrow(
      /^reason: /,
    );
    await room.passAndSettle(DAY, 4);
    expect(await operator.auditLog()).toEqual([]);
    expect((await room.storage.deposits([order.address]))[0]?.heldReason).toBe("screening");
    expect(await usdcOf(room.dave)).toBe(0n);
  });
});
