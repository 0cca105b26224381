/** A page in a browser, bundled: it waits for a transaction through the client, and shows how it ended. */
import { createClient } from "paystate/client";

/** Called with the address of the API and what the page's server has given it. */
export async function show(baseUrl: string, apiKey: string, transactionId: string): Promise<string> {
  const client = createClient({ baseUrl, apiKey });
  return (await client.waitFor(transactionId, "completed")).status;
}
