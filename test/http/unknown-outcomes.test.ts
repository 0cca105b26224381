/** A request whose commit the database does not answer for: the caller is told so, and the same request again is answered. */
import { expect, onTestFinished } from "vitest";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import type { AnyCommit, CommitAnswer, EngineStorage } from "../../storage/storage.ts";
import { codeOf } from "./answer-judge.ts";
import { draftOf, plain, send, withHeader, type Asking } from "./asking.ts";
import { contractTest as test } from "./contract-test.ts";
import { MODES } from "../kit/modes.ts";

const lost: CommitAnswer = { ok: false, conflict: "unknown", error: new Error("the connection was lost") };
const takesTransaction = ({ writes = [] }: AnyCommit): boolean =>
  writes.some((write) => write.table === "transactions" && "insert" in write);

/** A storage that gives no answer for the first commit that takes a transaction. */
function losing(storage: EngineStorage, happens: boolean): EngineStorage {
  let isLost = false;
  return {
    ...storage,
    async commit(items) {
      if (isLost || !items.some(takesTransaction)) return storage.commit(items);
      isLost = true;
      if (happens) await storage.commit(items);
      return items.map(() => lost);
    },
  };
}

const cases = MODES.flatMap((mode) =>
  [true, false].flatMap((happens) => [null, "key"].map((key) => ({ mode, happens, key }))),
);

test.for(cases)(
  "D12: a $mode request whose commit is unknown is 503; again, with the key $key, it is one transaction (made at first: $happens)",
  async ({ mode, happens, key }, { world }) => {
    const endpoint = ENDPOINTS.find(({ operationId }) => operationId === "createTransaction");
    if (endpoint === undefined) throw new Error("there is such an endpoint");
    const asking: Asking = { world, tenant: await world.tenant(), endpoint };
    const transactions = async (): Promise<readonly unknown[]> => {
      const listed = await send(asking, plain(asking.tenant, "GET", "/v1/transactions"));
      return (JSON.parse(listed.text) as { readonly data: readonly unknown[] }).data;
    };
    const { length: before } = await transactions();
    const { payments, handlerWith } = world;
    const service = payments.another({ storage: losing(payments.storage, happens) });
    await service.start();
    onTestFinished(() => service.stop());
    const handler = handlerWith({ service });
    const plainDraft = draftOf(asking, {}, mode);
    const draft = key === null ? plainDraft : withHeader(plainDraft, "idempotency-key", key);

    const unknown = await send(asking, draft, handler);
    expect([unknown.status, codeOf(unknown.text)]).toEqual([503, "OUTCOME_UNKNOWN"]);
    expect(unknown.headers.get("retry-after")).toBe("5");
    const again = await send(asking, draft, handler);
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotent-replayed")).toBe(happens ? "true" : null);
    expect((await send(asking, draft, handler)).text).toBe(again.text);
    expect(await transactions()).toHaveLength(before + 1);
  },
);
