/** The form of an act: no more of it is read than a form may hold, and one that was read before is explained. */
import { expect } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { AT, FORM } from "./viewer.ts";

const STOP = new URLSearchParams({ id: "p1", do: "stop", actor: "ada", reason: "a test" }).toString();

test("a form without end is refused at 64 KiB, and the rest of it is never read", async ({
  world: { engine, workflow, clock },
}) => {
  const { fetch } = createInspector({ engine, clock, acts: true });
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  let read = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      read += 1;
      controller.enqueue(Buffer.from(read === 1 ? `${STOP}&more=` : "x".repeat(1_024)));
    },
  });
  const request = new Request(`${AT}/act`, { method: "POST", headers: FORM, body, duplex: "half" });
  const answer = await fetch(request);
  expect([answer.status, await answer.text()]).toEqual([
    413,
    "Nothing was done: a form has at most 64 KiB.\n",
  ]);
  expect(read).toBeLessThan(70);
  const again = await fetch(request);
  expect([again.status, await again.text()]).toEqual([500, expect.stringContaining("request.clone()")]);
  expect((await engine.read("p1"))?.status).toBe("active");
});
