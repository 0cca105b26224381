/** Erasing what names people, of an account or of one of its customers, on a database file. */
// modules: webhooks
import { expect } from "vitest";
import type { ActContext } from "../../../src/payments/frame/intake/rules.ts";
import type { Table } from "../../../storage/table.ts";
import { paymentTables } from "../../../src/payments/payment-storage.ts";
import { answerWith } from "../../kit/https-receiver.ts";
import { webhookTest } from "../webhooks/webhook-test.ts";
import type { WebhookWorld } from "../webhooks/webhook-world.ts";

const DAY = 86_400_000;
const ANN: ActContext = { actor: "ann", reason: "the customer has asked for it" };
const BOB: ActContext = { actor: "bob", reason: "so it is" };
const [CARL, DORA] = ["carl-miller-1977", "dora-smith-1981"];

/** An account whose receiver answers with what it was told, and two customers of it. */
interface Stage extends WebhookWorld {
  /** Ids of the two customers' transactions. */
  readonly sent: Readonly<Record<string, string>>;
}

const test = webhookTest.extend("stage", async ({ world }): Promise<Stage> => {
  const { fixture, caller, receiver, register } = world;
  const { service } = fixture;
  receiver.answer(({ body }, response) => void response.writeHead(500).end(`thanks for ${body.toString()}`));
  await register({ secret: "a secret of acme, twenty" });
  const sent: Record<string, string> = {};
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const to = fixture.wallet("bob").address;
  for (const reference of [CARL, DORA]) {
    fixture.chain.advance(2);
    const { body } = await fixture.prepareSend(caller, { from: alice, to, amount: "1.5" });
    const request = { ...body, recipients: [...body.recipients], reference };
    const { body: taken } = await service.createTransaction(caller, request, { idempotencyKey: reference });
    sent[reference] = taken.transactionId;
    await fixture.finalize();
  }
  receiver.answer(answerWith(200));
  await fixture.pass(2 * DAY);
  return { ...world, sent };
});

/** Everything that the database holds of payments. */
async function everything({ fixture: { storage } }: Stage): Promise<string> {
  const tables: readonly Table<object>[] = Object.values(paymentTables);
  const rows = await Promise.all(tables.map((table) => storage.find({ table })));
  const notices = await storage.noticesAfter("", 100);
  return JSON.stringify([rows, notices], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

test("Q22: one customer's reference is erased by two people wherever it stands, and another's stays", async ({
  stage,
}) => {
  const { fixture, caller, sent } = stage;
  const { operator } = fixture.service;
  const told = await fixture.service.transaction(caller, sent[CARL] ?? "");
  expect((await everything(stage)).split(CARL).length).toBeGreaterThan(4);
  const wanted = { accountId: caller.accountId, reference: CARL };
  expect(await operator.erase(wanted, ANN)).toEqual({ ...wanted, state: "awaits_approval", transactions: 1 });
  await expect(operator.erase(wanted, { ...ANN, actor: "ANN" })).rejects.toThrow(
    "ann has asked for it: another actor has to ask for the same",
  );
  expect(await fixture.service.transaction(caller, sent[CARL] ?? "")).toEqual(told);
  expect(await operator.erase(wanted, BOB)).toEqual({ ...wanted, state: "done", transactions: 1 });
  const left = await everything(stage);
  expect(left).not.toContain(CARL);
  expect(left).toContain(DORA);
  expect(await fixture.service.transaction(caller, sent[CARL] ?? "")).toEqual({ ...told, reference: null });
  const { data: events } = await fixture.service.events(caller, {});
  expect(new Set(events.map(({ transactionId, data }) => `${transactionId} ${data.reference}`))).toEqual(
    new Set([`${sent[CARL]} null`, `${sent[DORA]} ${DORA}`]),
  );
  await expect(operator.erase(wanted, ANN)).rejects.toThrow("has no transaction with this reference");
  expect((await operator.auditLog()).map(({ actor, act, what }) => [actor, act, what])).toEqual([
    ["ann", "request_erase", { accountId: caller.accountId, of: "reference", transactions: 1 }],
    ...["begin_erase", "erase"].map((act) => [
      "bob",
      act,
      { accountId: caller.accountId, of: "reference", transactions: 1, requestedBy: "ann" },
    ]),
  ]);
});

test("Q22: a whole account is erased once it is suspended: name, URLs, secrets, answers; its keys and webhooks end", async ({
  stage,
}) => {
  const { fixture, caller, receiver } = stage;
  const { service } = fixture;
  const { operator } = service;
  const { key } = await service.issueKey({
    accountId: caller.accountId,
    environment: "test",
    allowedAddresses: ["203.0.113.7"],
  });
  const gone = await service.registerWebhook(
    caller,
    { url: `${receiver.url}?shop=gone`, events: ["transaction.failed"] },
    { idempotencyKey: "hook" },
  );
  await service.deleteWebhook(caller, gone.body.webhookId);
  const wanted = { accountId: caller.accountId };
  await expect(operator.erase(wanted, ANN)).rejects.toThrow("is at work: suspend it first");
  await operator.suspendAccount(caller.accountId, ANN);
  await operator.erase(wanted, ANN);
  expect(await operator.erase(wanted, BOB)).toMatchObject({ state: "done", transactions: 2 });
  const left = await everything(stage);
  for (const erased of [CARL, DORA, receiver.url, "203.0.113.7"]) expect(left).not.toContain(erased);
  expect(await fixture.storage.account(caller.accountId)).toMatchObject({ name: "" });
  expect((await service.webhooks(caller)).webhooks).toEqual([]);
  await expect(service.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
  const { data } = await service.listTransactions(caller);
  expect(data).toMatchObject(
    [1, 2].map(() => ({ status: "completed", reference: null, fee: "0.000005091" })),
  );
  expect(data.every(({ signature }) => signature !== null)).toBe(true);
});

test("Q22: what is cut off in the middle goes on with the same call, and what is asked for last is what waits", async ({
  stage,
}) => {
  const { fixture, caller } = stage;
  const { operator } = fixture.service;
  const of = (reference: string) => ({ accountId: caller.accountId, reference });
  await operator.erase(of(CARL), ANN);
  await operator.erase(of(DORA), BOB);
  // Bob has asked for another one: Ann's second call asks anew, and confirms nothing.
  expect(await operator.erase(of(CARL), ANN)).toMatchObject({ state: "awaits_approval" });
  const dyingAt = (words: string) =>
    fixture.another({
      storage: {
        ...fixture.storage,
        async commit(items) {
          const text = JSON.stringify(items, (_, value: unknown) => (typeof value === "bigint" ? "" : value));
          if (text.includes(words)) throw new Error("the process has died here");
          return fixture.storage.commit(items as never);
        },
      },
    });
  await expect(dyingAt("requestHash").operator.erase(of(CARL), BOB)).rejects.toThrow("has died");
  expect(await everything(stage)).toContain(CARL);
  // All is blank then, but for the request itself.
  await expect(dyingAt('"act":"erase"').operator.erase(of(CARL), BOB)).rejects.toThrow("has died");
  expect(await everything(stage)).toContain(CARL);
  expect(await operator.erase(of(CARL), BOB)).toMatchObject({ state: "done" });
  expect(await everything(stage)).not.toContain(CARL);
});

test("Q22: while a webhook is still told of it, and of an account or reference that has nothing, it is refused", async ({
  world,
}) => {
  const { fixture, caller, receiver, register } = world;
  const { operator } = fixture.service;
  receiver.answer(answerWith(500));
  await register();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const { body } = await fixture.prepareSend(caller, {
    from: alice,
    to: fixture.wallet("bob").address,
    amount: "1",
  });
  const request = { ...body, recipients: [...body.recipients], reference: CARL };
  await fixture.service.createTransaction(caller, request);
  const wanted = { accountId: caller.accountId, reference: CARL };
  await expect(operator.erase(wanted, ANN)).rejects.toThrow("it is open");
  await fixture.finalize();
  await expect(operator.erase(wanted, ANN)).rejects.toThrow("webhooks are still told of it");
  await fixture.pass(DAY);
  expect(await operator.erase(wanted, ANN)).toMatchObject({ state: "awaits_approval" });
  await expect(operator.erase({ ...wanted, reference: DORA }, ANN)).rejects.toThrow("has no transaction");
  await expect(operator.erase({ ...wanted, reference: "" }, ANN)).rejects.toThrow("reference:");
});
