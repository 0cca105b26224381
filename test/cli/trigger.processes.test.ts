/** `paystate trigger`: one sample notice, to a URL or to a registered webhook. */
import { rm, writeFile } from "node:fs/promises";
import { afterAll, expect } from "vitest";
import { verifyWebhook } from "../../src/receiver/index.ts";
import { verifyServiceSignature } from "../../src/payments/webhooks/sending/signature.ts";
import { leaveNothing, newDataFolder, runCommand } from "./command.ts";
import { type Received, receiverTest as test } from "./receiver-test.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

afterAll(leaveNothing);

test("a URL gets one notice of the event, which its secret verifies", async ({
  receiver: { url, received },
}) => {
  const ended = await runCommand(["trigger", "transaction.completed", "--to", url.href, "--secret", SECRET]);
  expect(ended).toEqual({
    code: 0,
    signal: null,
    stderr: "",
    stdout: `transaction.completed was sent to ${url.href}, which answered 200: taken.\n`,
  });
  expect(received).toHaveLength(1);
  const [{ headers, body }] = received as [Received];
  expect(JSON.parse(body)).toMatchObject({
    event: "transaction.completed",
    transactionId: expect.stringMatching(/^tx_test_/) as string,
  });
  expect(verifyServiceSignature(body, String(headers["x-service-signature"]), SECRET)).toBe(true);
  expect(await verifyWebhook(body, headers, SECRET)).toMatchObject({ event: "transaction.completed" });
});

test("without a secret nothing is signed; what is not 200 is not taken, and no redirect is followed", async ({
  receiver,
}) => {
  const { url, received } = receiver;
  for (const status of [302, 500]) {
    receiver.answer((_, response) => void response.writeHead(status, { location: "/elsewhere" }).end());
    const ended = await runCommand(["trigger", "transaction.pending", "--to", url.href]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: "",
      stdout: `transaction.pending was sent to ${url.href}, which answered ${status}: not taken, 200 is expected.\n`,
    });
  }
  expect(received).toHaveLength(2);
  expect(received[0]?.headers).not.toHaveProperty("x-service-signature");
});

test("a receiver that is not there is said in a sentence", async ({ receiver: { url, close } }) => {
  await close();
  const { code, stdout, stderr } = await runCommand(["trigger", "transaction.failed", "--to", url.href]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `paystate: ${url.origin} did not answer (ECONNREFUSED): is the receiver running?\n`,
  });
});

test("a registered webhook is tried out by its service", async () => {
  const own = `${await newDataFolder()}.mjs`;
  await writeFile(
    own,
    `const refused = () => Object.assign(new Error("no"), { name: "PaymentError", code: "WEBHOOK_NOT_FOUND" });
    export const service = {
      reconcile: async () => ({}),
      testWebhook: async ({ accountId }, webhookId, { event }) => {
        process.stderr.write([accountId, webhookId, event].join(" "));
        return { body: { delivered: webhookId === "wh_1", httpStatus: webhookId === "wh_1" ? 200 : null, error: "dns" } };
      },
    };`,
  );
  const trigger = (id: string) =>
    runCommand(["trigger", "transaction.failed", "--webhook", id, "--account", "acct_1", "--service", own]);
  expect(await trigger("wh_1")).toMatchObject({
    code: 0,
    stderr: "acct_1 wh_1 transaction.failed",
    stdout: "transaction.failed was sent to wh_1, which answered 200: taken.\n",
  });
  expect(await trigger("wh_2")).toMatchObject({
    code: 1,
    stdout:
      "transaction.failed was sent to wh_2, which answered nothing (dns): not taken, 200 is expected.\n",
  });
  await rm(own);
});
