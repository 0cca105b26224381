/** Other people's generators make clients of our document, and each client goes through the whole API. */
// modules: webhooks
import { expect, test as vitestTest } from "vitest";
import { requestAnswered } from "../../../src/core/diagnostics.ts";
import { createHttpHandler } from "../../../src/http/create-http-handler.ts";
import { ENDPOINTS } from "../../../src/http/endpoints/every-endpoint.ts";
import { openApiDocument } from "../../../src/index.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { listening } from "../../http/ways.ts";
import { startHttpsReceiver } from "../../kit/https-receiver.ts";
import { privateFixture } from "../../kit/private-fixture.ts";
import { makeScratchFolder, removeScratchFolder } from "../../readme/scratch-folder.ts";
import { compilerErrors, generateClient, GENERATORS, type AnsweredDocument } from "./generate.ts";
import type { Tour, TourScene } from "./tour-scene.ts";

/** A server of the API, as somebody who generates a client finds it. */
interface Served {
  readonly document: AnsweredDocument;
  readonly scene: TourScene;
}

const test = vitestTest
  .extend("served", async ({}, { onCleanup }): Promise<Served> => {
    const receiver = await startHttpsReceiver();
    const world = await privateFixture({ webhooks: { allowAddress: () => true, ca: receiver.ca } });
    const { service, clock, chain } = world;
    const handler = createHttpHandler({ service, clock, logger: silentLogger });
    const { origin: baseUrl, close } = await listening(handler.node);
    onCleanup(async () => {
      await close();
      await world.close();
      await receiver.close();
    });
    const { accountId } = await world.caller("pro");
    const { key } = await service.issueKey({ accountId, environment: "test" });
    const sender = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 500_000_000n });
    const recipient = world.wallet("recipient", { lamports: 1_000_000_000n, usdc: 1n });
    chain.advance(35);
    const scene: TourScene = {
      baseUrl,
      key,
      sender: sender.address,
      recipient: recipient.address,
      receiverUrl: receiver.url,
      sign: (unsigned) => world.sign(unsigned, sender),
      deposit: (address, usdc) => world.deposit(address, { usdc: BigInt(Math.round(usdc * 1e6)) }),
      settle: () => world.settle(10),
    };
    const document = (await (await fetch(`${baseUrl}/v1/openapi.json`)).json()) as AnsweredDocument;
    return { document, scene };
  })
  .extend("folder", async ({}, { onCleanup }) => {
    const folder = makeScratchFolder("test/foreign");
    onCleanup(() => {
      removeScratchFolder(folder);
    });
    return folder;
  })
  .extend("routes", async ({}, { onCleanup }) => {
    const routes = new Set<string>();
    onCleanup(requestAnswered.subscribe(({ method, route }) => void routes.add(`${method} ${route}`)));
    return routes;
  });

test("the programs compile strictly against what is generated, misspelt fields excepted", async ({
  folder,
}) => {
  const document = openApiDocument();
  const names = Object.keys(GENERATORS);
  const tours = await Promise.all(names.map((name) => generateClient(name, document, folder)));
  expect(await compilerErrors(folder, tours)).toBe("");
});

test.for(Object.keys(GENERATORS))(
  "a client made with %s calls every endpoint, is paid out, caught up and refused with typed errors",
  async (name, { served, folder, routes }) => {
    const path = await generateClient(name, served.document, folder);
    const { tour } = (await import(path)) as { readonly tour: Tour };
    await tour(served.scene);
    const endpoints = ENDPOINTS.map((endpoint) => `${endpoint.method} ${endpoint.path}`);
    expect([...routes].toSorted()).toEqual(endpoints.toSorted());
  },
);
