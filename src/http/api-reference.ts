/** The description of an API as it is served: made once, when it is first asked for. */
import type { Endpoint, Page, Reference } from "./contract/endpoint.ts";
import { describeEndpoints, withServer } from "./openapi/open-api-document.ts";
import type { Json } from "./openapi/schemas.ts";

/**
 * Builds the API reference on demand, and keeps the document of the last base: most processes are never asked, or serve
 * only one base.
 */
export class ApiReference implements Reference {
  readonly #endpoints: readonly Endpoint[];
  #described: Json | null = null;
  #last: { readonly base: string; readonly page: Page } | null = null;

  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints;
  }

  document(base: string): Page {
    if (this.#last?.base !== base) {
      this.#described ??= describeEndpoints(this.#endpoints);
      const text = JSON.stringify(withServer(this.#described, base === "" ? "/" : base));
      this.#last = { base, page: { mediaType: "application/json", text, headers: {} } };
    }
    return this.#last.page;
  }
}
