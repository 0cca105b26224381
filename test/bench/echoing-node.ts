/** A node that answers at once, so that what is measured is our own code and neither a chain nor a network. */
import bs58 from "bs58";

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a node says of a signature that it knows. */
interface Status {
  readonly slot: number;
  readonly confirmationStatus: string;
}

const SIGNATURE_BYTES = 64;
/** Questions whose answer depends on what they ask about. Every other one always has the same. */
const ANSWERED_EACH = new Set(["getMultipleAccounts", "getAccountInfo", "getBalance"]);

/**
 * Asks a real node each question once and gives its answer again ever after. What is sent is taken, and is final from
 * then on: its status and its receipt are those of the first transaction, under its own signature. Both name the same
 * block, or the ledger does not believe either.
 */
export function echoingNode(node: typeof fetch): typeof fetch {
  const answers = new Map<string, unknown>();
  const sent = new Set<string>();
  let landed: Status | null = null;

  const ask = async (call: Call, init: RequestInit): Promise<unknown> => {
    const response = await node("http://local", { ...init, body: JSON.stringify(call) });
    return ((await response.json()) as { result: unknown }).result;
  };
  const remembered = async (key: string, call: Call, init: RequestInit): Promise<unknown> => {
    const known = answers.get(key) ?? (await ask(call, init));
    // What is not there yet is asked for again.
    if (known !== null) answers.set(key, known);
    return known;
  };

  /** Null until the first transaction that was sent is final on the real node. */
  const statusOfFirst = async (call: Call, init: RequestInit): Promise<Status | null> => {
    if (sent.size === 0) return null;
    const told = (await ask({ ...call, params: [[...sent].slice(0, 1), call.params?.[1]] }, init)) as {
      readonly value: readonly (Status | null)[];
    };
    const [status = null] = told.value;
    return status?.confirmationStatus === "finalized" ? status : null;
  };

  const answer = async (call: Call, init: RequestInit): Promise<unknown> => {
    const [first] = call.params ?? [];
    switch (call.method) {
      case "sendTransaction": {
        const bytes = Buffer.from(String(first), "base64");
        const signature = bs58.encode(bytes.subarray(1, 1 + SIGNATURE_BYTES));
        await remembered("sent", call, init);
        sent.add(signature);
        return signature;
      }
      case "getSignatureStatuses": {
        landed ??= await statusOfFirst(call, init);
        const slot = landed?.slot ?? 0;
        return {
          context: { slot },
          value: (first as string[]).map((each) => (sent.has(each) ? landed : null)),
        };
      }
      case "getTransaction": {
        const found = (await remembered("landed", call, init)) as { transaction: [string, string] } | null;
        if (found === null) return null;
        const bytes = Buffer.from(found.transaction[0], "base64");
        bytes.set(bs58.decode(String(first)), 1);
        return { ...found, transaction: [bytes.toString("base64"), "base64"] };
      }
      default: {
        const about = ANSWERED_EACH.has(call.method) ? JSON.stringify(first) : "";
        return remembered(call.method + about, call, init);
      }
    }
  };

  return async (_input, init = {}) => {
    const call = JSON.parse(init.body as string) as Call;
    const result = await answer(call, init);
    return new Response(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }), {
      headers: { "content-type": "application/json" },
    });
  };
}
