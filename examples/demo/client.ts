/** The few lines that a client of the API needs. */

/** Talks JSON to one service with one key; throws the service's own error code and message. */
export interface Client {
  readonly baseUrl: string;
  get(path: string): Promise<Record<string, unknown>>;
  post(path: string, body: unknown): Promise<Record<string, unknown>>;
}

export function createClient(baseUrl: string, apiKey: string): Client {
  const call = async (path: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.ok) return answer;
    const { code, message } = answer["error"] as { code: string; message: string };
    throw new Error(`${init.method ?? "GET"} ${path} answered ${response.status} ${code}: ${message}`);
  };
  return {
    baseUrl,
    get: (path) => call(path),
    post: (path, body) => call(path, { method: "POST", body: JSON.stringify(body) }),
  };
}
