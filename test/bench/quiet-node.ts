/** A node on whose chain nothing is at any address of a long list; whatever else it is asked, a real one answers. */

const CLOCK = "SysvarC1ock11111111111111111111111111111111";
const CLOCK_BYTES = 40;
/** Lists at least as long as this are of watched addresses. */
const LONG_LIST = 10;

/** The chain's clock account, as a node shows it in base64. */
function clockAccount(slot: number): object {
  const data = Buffer.alloc(CLOCK_BYTES);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigInt64LE(BigInt(Math.floor(Date.now() / 1_000)), 32);
  const owner = "Sysvar1111111111111111111111111111111111111";
  return { data: [data.toString("base64"), "base64"], executable: false, lamports: 1, owner, rentEpoch: 0 };
}

export function quietNode(url: string): typeof fetch {
  let slot = 1_000;
  return async (_input, init) => {
    const { id, method, params } = JSON.parse(init?.body as string) as {
      readonly id: string;
      readonly method: string;
      readonly params: readonly [unknown];
    };
    const [asked] = params ?? [];
    if (method !== "getMultipleAccounts" || !Array.isArray(asked) || asked.length < LONG_LIST) {
      return fetch(url, init);
    }
    slot += 1;
    const value = asked.map((address) => (address === CLOCK ? clockAccount(slot) : null));
    const result = { context: { slot, apiVersion: "2.0.0" }, value };
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), {
      headers: { "content-type": "application/json" },
    });
  };
}
