/** The OpenAPI document of this version, for hosts that publish it, test against it, or generate clients. */
import { ENDPOINTS } from "../endpoints/every-endpoint.ts";
import { describeEndpoints } from "./document.ts";

/** An OpenAPI 3.1 document as plain JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** Options of `openApiDocument`. */
export interface OpenApiOptions {
  /** The URL of the endpoints, such as "https://pay.example/payments", without a slash at the end. Default "/". */
  readonly server?: string;
}

/**
 * Makes the OpenAPI 3.1 document that `GET /v1/openapi.json` answers: every endpoint with its parameters, bodies, statuses,
 * headers and errors, the notices that webhooks are sent, and examples. It is made at each call and belongs to the caller.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { openApiDocument } from "paystate";
 *
 * const document = openApiDocument({ server: "https://pay.example" });
 * writeFileSync("openapi.json", JSON.stringify(document, null, 2));
 * ```
 */
export function openApiDocument({ server = "/" }: OpenApiOptions = {}): OpenApiDocument {
  return withServer(describeEndpoints(ENDPOINTS), server);
}

/** The document of an API that stands there. */
export function withServer(described: OpenApiDocument, url: string): OpenApiDocument {
  const { openapi, info, ...more } = described;
  return { openapi, info, servers: [{ url }], ...more };
}
