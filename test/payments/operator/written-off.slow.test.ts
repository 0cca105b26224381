/** Addresses that were written off stay held in the database, and are no matter: however many, they hide no other one. */
import { expect, onTestFinished } from "vitest";
import { adapters } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import { drawn } from "../../kit/thorough.ts";
import { sceneTest as test } from "../private/scene-test.ts";

/** More than one look at the held addresses reads, and than health counts. */
const WRITTEN_OFF = 1_000;

test.for(drawn(adapters, "written off"))(
  "M10: an address that is held is told by attention and health, and is decided about, however many were written off before it (on $name)",
  async (adapter, { open }) => {
    const database = await adapter.make();
    onTestFinished(() => database.destroy());
    const world = await open({ storage: await database.open() });
    const { id, address } = await world.sendTo();
    const [row] = await world.storage.deposits([address]);
    if (row === undefined) throw new Error("the address is stored");
    const createdAt = row.createdAt - 1;
    const older = Array.from({ length: WRITTEN_OFF }, (_, index) => ({
      table: "deposits" as const,
      insert: {
        ...row,
        id: `written off ${index}` as typeof row.id,
        transactionId: `tx_${index}`,
        heldReason: "written_off",
        createdAt,
      },
    }));
    const held = { table: "deposits", id: address, set: { heldReason: "unknown_spending" } } as const;
    await world.storage.commit([{ writes: [...older, held] }]);
    expect((await world.service.health()).attention).toBe(1);
    const { operator } = world.service;
    expect((await operator.attention()).map((matter) => matter.id)).toEqual([`unexplained:${address}`]);
    await operator.resolve(`unexplained:${address}`, { action: "writeOff" }, BY);
    expect(await operator.attention()).toEqual([]);
    expect((await operator.auditLog())[0]?.what).toMatchObject({ transactionId: id });
  },
);
