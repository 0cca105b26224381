/** The inspector's form behind a parser of Express: an act that was read before is found, or explained. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { expect } from "vitest";
import { createInspector } from "../../../src/inspector.ts";
import { parcelTest as test } from "../../inspector/parcel-test.ts";

const STOP = new URLSearchParams({ id: "p1", do: "stop", actor: "ada", reason: "a test" }).toString();

test("an act behind another parser of forms is carried out; one whose form is gone is told what to do", async ({
  world: { engine, workflow, clock },
}) => {
  const inspector = createInspector({ engine, clock, acts: true });
  const app = express();
  app.use("/parsed", express.urlencoded({ extended: false }), inspector.node);
  app.use("/gone", (request, response) => {
    request.resume().once("end", () => {
      void inspector.node(request, response);
    });
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const post = async (path: string): Promise<string> => {
    const at = `http://127.0.0.1:${port}`;
    const headers = { origin: at, "content-type": "application/x-www-form-urlencoded" };
    const answer = await fetch(`${at}${path}/_inspector/act`, { method: "POST", headers, body: STOP });
    return `${answer.status} ${await answer.text()}`;
  };
  try {
    await engine.start(workflow, { id: "p1", input: { note: "x" } });
    expect(await post("/gone")).toMatch(/^500 Nothing was done: .*mount the handler before the body parser/);
    expect((await engine.read("p1"))?.status).toBe("active");
    expect(await post("/parsed")).toMatch(/^200 /);
    expect((await engine.read("p1"))?.status).toBe("stopped");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
