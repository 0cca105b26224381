/** How a test of the contract asks for what private mode does. */
// modules: private
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import { BY } from "../kit/by.ts";
import type { JudgedAnswer } from "./answer-judge.ts";
import { draftOf, plain, quoted, SAME_ASSET, send, type Asking } from "./asking.ts";
import { CASES, validRequest, type Draft } from "./mutations.ts";

/** The document's example, in private mode, of an endpoint that has one. */
export const privateDraft = (asking: Asking): Draft => draftOf(asking, {}, "private");

/** The id of a private order that waits for its deposit. */
export async function ordered(asking: Asking): Promise<string> {
  const { world, tenant } = asking;
  const create = CASES.find(
    ({ endpoint, example }) => endpoint.operationId === "createTransaction" && example === "private",
  );
  if (create === undefined) throw new Error("there is such an example");
  const answer = await world.ask(validRequest(create, tenant.belongings, tenant.authorization));
  return (JSON.parse(answer?.text ?? "") as CreatedOrderBody).transactionId;
}

export async function pausePrivate({ world, tenant }: Asking): Promise<void> {
  const { accountId } = tenant.caller;
  await world.payments.service.operator.pause({ accountId, mode: "private" }, BY);
}

/** The request of an order of the document's sender. */
export function orderOf({ world, tenant }: Asking, order: object): Draft {
  const body = { ...order, mode: "private", sender: world.sender.address };
  return plain(tenant, "POST", "/v1/transactions", body);
}

/** An order that pays one USDC to this address. */
export async function ordering(asking: Asking, address: string): Promise<JudgedAnswer> {
  const { quoteId } = await quoted(asking, { ...SAME_ASSET, amount: "1", mode: "private" });
  const recipients = [{ address, amount: "1" }];
  return send(asking, orderOf(asking, { type: "send", quoteId, recipients }));
}
