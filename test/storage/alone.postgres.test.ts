/** The connection of an index build, which is closed at any moment, also while it is made. */
import { getEventListeners, once } from "node:events";
import { createServer, Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { carryOutAlone } from "../../storage/postgres/alone.ts";
import type { ListeningClient } from "../../storage/postgres/driver.ts";
import { openConnections } from "../../storage/postgres/open.ts";

/** Connections that are made so, and how many of them were ended. */
function connections(connect: () => Promise<void>) {
  let ended = 0;
  const asked: string[] = [];
  const client = {
    connect,
    query: async (text: string) => void asked.push(text),
    on: () => {},
    end: async () => void (ended += 1),
  } as unknown as ListeningClient;
  const make = async (): Promise<ListeningClient> => client;
  return { listener: make, unhurried: make, asked, ended: () => ended };
}

/** Whatever was rejected and heard by nobody: by default it ends a process. */
async function unheard(act: () => Promise<void>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const hear = (reason: unknown): void => void found.push(reason);
  process.on("unhandledRejection", hear);
  try {
    await act();
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  } finally {
    process.off("unhandledRejection", hear);
  }
  return found;
}

test("D41: a close ends no process where the connection of a build before could not be made", async () => {
  const off = new AbortController();
  const away = connections(() => Promise.reject(new Error("no server")));
  const left = await unheard(async () => {
    await expect(carryOutAlone("select 1", away, off.signal)).rejects.toThrow("no server");
    off.abort();
  });
  expect([left, away.ended()]).toEqual([[], 1]);
});

test("D41: a close while the connection of a build is made ends no process, and begins no build", async () => {
  const off = new AbortController();
  const made = new EventTarget();
  const slow = connections(async () => void (await once(made, "made")));
  const left = await unheard(async () => {
    const building = carryOutAlone("select 1", slow, off.signal);
    const ended = building.catch((error: unknown) => error);
    await new Promise(setImmediate);
    off.abort();
    await new Promise(setImmediate);
    made.dispatchEvent(new Event("made"));
    expect(await ended).toBeInstanceOf(DOMException);
  });
  expect([left, slow.asked, slow.ended()]).toEqual([[], [], 1]);
});

test("D41: builds one after the other leave nothing behind that waits for a close", async () => {
  const off = new AbortController();
  const there = connections(async () => {});
  for (const text of ["select 1", "select 2"]) await carryOutAlone(text, there, off.signal);
  expect([there.asked, there.ended()]).toEqual([["select 1", "select 2"], 2]);
  expect(getEventListeners(off.signal, "abort")).toEqual([]);
});

test("D41: a connection that is silent for hours is asked each minute whether it is still there", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const { unhurried, close } = await openConnections(`postgres://u@127.0.0.1:${port}/db`, {});
  const keptAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
  await expect(
    carryOutAlone("select 1", { unhurried, listener: unhurried }, new AbortController().signal),
  ).rejects.toThrow("Connection terminated");
  expect(keptAlive).toHaveBeenCalledWith(true, 60_000);
  keptAlive.mockRestore();
  await close();
  await new Promise((resolve) => server.close(resolve));
});
