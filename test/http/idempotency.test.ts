/** Idempotency over HTTP: every POST is answered once per account, path and key, byte for byte. */
import { describe, expect, test as vitestTest } from "vitest";
import { createHttpHandler, type HttpHandler } from "../../src/http/create-http-handler.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { adapters } from "../kit/adapters.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { COMBINATIONS, MODES, TYPES, type Mode, type Type } from "../kit/modes.ts";
import { THOROUGH } from "../kit/thorough.ts";
import { racesWorld, type RacesWorld } from "../payments/races/races-world.ts";
import { told, type Told } from "./http-fixture.ts";

const AT_ONCE = THOROUGH ? 100 : 20;
const MANY = 1_000_000;
const NO_LIMITS = { free: MANY, pro: MANY, enterprise: MANY };

/** Somebody who posts, and a stranger. */
interface Scene {
  readonly world: RacesWorld;
  readonly handler: HttpHandler;
  readonly receiver: HttpsReceiver;
  /** Keys of the account that posts, and of a stranger's. */
  own: string;
  readonly strange: string;
  quotesAsked: readonly string[];
}

const test = vitestTest
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("world", { scope: "file" }, async ({ receiver }, { onCleanup }) => {
    const [memory] = adapters;
    if (memory === undefined) throw new Error("there is an adapter");
    const world = await racesWorld(memory, { options: receiver.options });
    onCleanup(() => world.close());
    return world;
  })
  .extend("scene", { scope: "file" }, async ({ world, receiver }): Promise<Scene> => {
    const limits = {
      reads: NO_LIMITS,
      quotes: NO_LIMITS,
      creates: NO_LIMITS,
      webhookTests: NO_LIMITS, // modules: webhooks
    };
    const handler = createHttpHandler({ service: world.service, clock: world.clock, limits });
    const strange = await issue({ world }, await world.caller("enterprise"));
    return { world, handler, receiver, own: "", strange, quotesAsked: [] };
  });

let keys = 0;

async function issue({ world }: Pick<Scene, "world">, { accountId }: Caller): Promise<string> {
  return (await world.service.issueKey({ accountId, environment: "test" })).key;
}

/** Somebody new posts, so that no limit of an account is met. */
async function begin(scene: Scene): Promise<void> {
  const { world } = scene;
  await world.newCustomer("enterprise");
  scene.own = await issue(scene, world.customer());
  // A new block: the same payment twice in one would be the same bytes.
  world.chain.advance(3);
}

const newKey = (): string => `key-${++keys}`;

async function post(
  scene: Scene,
  path: string,
  body: string | null,
  key: string | null,
  apiKey = scene.own,
): Promise<Told> {
  const { handler } = scene;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body === null ? {} : { "content-type": "application/json" }),
    ...(key === null ? {} : { "idempotency-key": key }),
  };
  const init = { method: "POST", headers, ...(body === null ? {} : { body }) };
  return told(await handler.fetch(new Request(`http://pay.example${path}`, init)));
}

const isReplay = ({ headers }: Told): boolean => headers.get("idempotent-replayed") === "true";

/** A request that is granted: its path, its body, and another body that would be granted there. */
interface Granted {
  readonly path: string;
  readonly body: string | null;
  readonly otherBody: string;
}

/** One kind of POST. */
interface Kind {
  readonly name: string;
  readonly status: 200 | 201;
  readonly prepare: (scene: Scene) => Promise<Granted>;
  /** What of its effects the account has. */
  readonly made: (scene: Scene) => Promise<number>;
  /** What a stranger who sends the same is told: a grant of its own, or that there is no such thing. */
  readonly stranger: 201 | "INVALID_QUOTE" | "QUOTE_NOT_FOUND" | "WEBHOOK_NOT_FOUND";
}

const transactionsMade = async (scene: Scene): Promise<number> => {
  const { world } = scene;
  const page = { below: null, limit: 1_000 };
  return (await world.database.transactionsOf(world.customer().accountId, null, page)).length;
};
// modules: webhooks
const webhooksMade = async (scene: Scene): Promise<number> =>
  (await scene.world.database.webhooks(scene.world.customer().accountId)).length;

// modules: webhooks
async function webhookId(scene: Scene): Promise<string> {
  const { world } = scene;
  const { body } = await world.service.registerWebhook(world.customer(), registration(scene));
  return body.webhookId;
}

// modules: webhooks
const registration = (scene: Scene): { url: string; events: string[] } => ({
  url: scene.receiver.url,
  events: ["transaction.completed"],
});

const posted = (mode: Mode, type: Type): Kind => ({
  name: `a ${mode} ${type}`,
  status: 201,
  stranger: "INVALID_QUOTE",
  made: transactionsMade,
  prepare: async (scene) => {
    const body = scene.world.bodyFor(await scene.world.quoteFor(mode, type), mode, type);
    scene.world.chain.advance(3);
    const other = scene.world.bodyFor(await scene.world.quoteFor(mode, type), mode, type);
    return { path: "/v1/transactions", body: JSON.stringify(body), otherBody: JSON.stringify(other) };
  },
});

const KINDS: readonly Kind[] = [
  ...COMBINATIONS.map(({ mode, type }) => posted(mode, type)),
  ...MODES.map((mode): Kind => ({
    name: `a ${mode} quote`,
    status: 201,
    stranger: 201,
    made: async () => 0,
    prepare: async () => {
      const asked = (amount: string): string =>
        JSON.stringify({ mode, inputAsset: "USDC", outputAsset: "USDC", amount });
      return { path: "/v1/quotes", body: asked("1"), otherBody: asked("2") };
    },
  })),
  {
    name: "a refresh",
    status: 200,
    stranger: "QUOTE_NOT_FOUND",
    // Each refresh is one version more.
    made: async ({ world, quotesAsked }) => {
      const rows = await Promise.all(quotesAsked.map((id) => world.database.quote(id)));
      return rows.reduce((sum, row) => sum + (row?.version ?? 0) - 1, 0);
    },
    prepare: async (scene) => {
      const { quoteId } = await scene.world.quoteFor("wallet", TYPES.at(-1) ?? "send");
      scene.quotesAsked = [quoteId];
      return { path: `/v1/quotes/${quoteId}/refresh`, body: null, otherBody: "{}" };
    },
  },
  // modules: webhooks
  {
    name: "a webhook",
    status: 201,
    stranger: 201,
    made: webhooksMade,
    prepare: async (scene) => ({
      path: "/v1/webhooks",
      body: JSON.stringify(registration(scene)),
      otherBody: JSON.stringify({ ...registration(scene), events: ["transaction.failed"] }),
    }),
  },
  // modules: webhooks
  {
    name: "a webhook's test",
    status: 200,
    stranger: "WEBHOOK_NOT_FOUND",
    made: webhooksMade,
    prepare: async (scene) => ({
      path: `/v1/webhooks/${await webhookId(scene)}/test`,
      body: '{"event":"transaction.completed"}',
      otherBody: '{"event":"transaction.failed"}',
    }),
  },
  // modules: webhooks
  {
    name: "a webhook's recovery",
    status: 200,
    stranger: "WEBHOOK_NOT_FOUND",
    made: webhooksMade,
    prepare: async (scene) => ({
      path: `/v1/webhooks/${await webhookId(scene)}/recover`,
      body: '{"since":"2026-01-01T00:00:00Z"}',
      otherBody: '{"since":"2026-01-01T00:00:01Z"}',
    }),
  },
];

/** Other paths that take a POST; none of them grants the body of another one. */
const PATHS = [
  "/v1/transactions",
  "/v1/quotes",
  "/v1/webhooks", // modules: webhooks
];

describe.each(KINDS)("$name", ({ status, prepare, made, stranger }) => {
  test("E1, E2: is granted once under its key, answered byte for byte, and another body is refused", async ({
    scene,
  }) => {
    const { world } = scene;
    await begin(scene);
    const { path, body, otherBody } = await prepare(scene);
    const before = await made(scene);
    const key = newKey();
    const first = await post(scene, path, body, key);
    expect([first.status, isReplay(first)]).toEqual([status, false]);
    const once = await made(scene);
    world.clock.advance(1_000);
    const again = await post(scene, path, body, key);
    expect([again.status, isReplay(again), again.text]).toEqual([status, true, first.text]);
    const refused = await post(scene, path, otherBody, key);
    expect([refused.status, refused.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    expect(await made(scene)).toBe(once);
    expect(once - before).toBeLessThanOrEqual(1);
    // The other body was granted under a key of its own: only the key stood in its way.
    expect((await post(scene, path, otherBody, newKey())).status).toBe(status);
  });

  test(`E3: is granted once to ${AT_ONCE} at once under one key, and all are told the same`, async ({
    scene,
  }) => {
    await begin(scene);
    const { path, body } = await prepare(scene);
    const before = await made(scene);
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => post(scene, path, body, key)));
    expect(new Set(answers.map((each) => `${each.status} ${each.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(status);
    expect(answers.filter((each) => !isReplay(each))).toHaveLength(1);
    expect((await made(scene)) - before).toBeLessThanOrEqual(1);
  });

  test("the same key and body of another account is another request", async ({ scene }) => {
    await begin(scene);
    const { path, body } = await prepare(scene);
    const key = newKey();
    const first = await post(scene, path, body, key);
    const before = await made(scene);
    const other = await post(scene, path, body, key, scene.strange);
    expect(isReplay(other)).toBe(false);
    expect(stranger === 201 ? other.status : other.code).toBe(stranger);
    expect(other.text).not.toBe(first.text);
    expect(await made(scene)).toBe(before);
    // Nor has it taken the key from its owner.
    expect(await post(scene, path, body, key)).toMatchObject({ text: first.text });
  });

  test("the same key and body on another path is another request", async ({ scene }) => {
    await begin(scene);
    const { path, body } = await prepare(scene);
    const key = newKey();
    expect((await post(scene, path, body, key)).status).toBe(status);
    for (const other of PATHS.filter((each) => each !== path)) {
      const refused = await post(scene, other, body, key);
      expect([other, refused.status, isReplay(refused)]).toEqual([other, body === null ? 415 : 400, false]);
    }
  });
});

// modules: webhooks
test("one key refreshes each of two quotes, and tries out each of two webhooks", async ({ scene }) => {
  const { world } = scene;
  await begin(scene);
  const key = newKey();
  const quotes = [await world.quoteFor("wallet", "send"), await world.quoteFor("wallet", "send")];
  for (const { quoteId } of quotes) {
    const answer = await post(scene, `/v1/quotes/${quoteId}/refresh`, null, key);
    expect([answer.status, isReplay(answer), answer.body["quoteId"]]).toEqual([200, false, quoteId]);
  }
  for (const id of [await webhookId(scene), await webhookId(scene)]) {
    const body = '{"event":"transaction.completed"}';
    const answer = await post(scene, `/v1/webhooks/${id}/test`, body, key);
    expect([answer.status, isReplay(answer), answer.body["webhookId"]]).toEqual([200, false, id]);
  }
});

describe.each(COMBINATIONS)("a $mode $type", ({ mode, type }) => {
  test("E18: whose answer was lost is answered again without its key, byte for byte, also when it is over", async ({
    scene,
  }) => {
    const { world } = scene;
    await begin(scene);
    const { path, body } = await posted(mode, type).prepare(scene);
    const first = await post(scene, path, body, null);
    expect(first.status).toBe(201);
    const texts = [
      (await post(scene, path, body, null)).text,
      (await post(scene, path, body, newKey())).text,
    ];
    await world.finalize();
    texts.push((await post(scene, path, body, null)).text);
    expect(texts).toEqual([first.text, first.text, first.text]);
    expect(await transactionsMade(scene)).toBe(1);
  });

  test("E4: of two bodies for one quote at once one is granted, and the other is told so", async ({
    scene,
  }) => {
    await begin(scene);
    const { path, body } = await posted(mode, type).prepare(scene);
    const other = JSON.stringify({ ...(JSON.parse(body ?? "") as object), reference: "other" });
    const answers = await Promise.all([
      post(scene, path, body, newKey()),
      post(scene, path, other, newKey()),
    ]);
    // In wallet mode the second has the bytes of the first.
    const refusal = mode === "wallet" ? "409 DUPLICATE_TRANSACTION" : "422 INVALID_QUOTE";
    const outcomes = answers.map(({ status, code }) => `${status} ${code}`);
    expect(new Set(outcomes)).toEqual(new Set(["201 ", refusal]));
    expect(await transactionsMade(scene)).toBe(1);
  });
});
