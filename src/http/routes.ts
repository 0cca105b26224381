/** The endpoints by the paths that they stand at. */
import type { Endpoint, KeyedEndpoint, OpenEndpoint } from "./contract/endpoint.ts";

/** A path for callers with a key, and the endpoint of each method. */
interface KeyedRoute {
  readonly kind: "keyed";
  /** The path as in the contract, such as "/v1/quotes/{quoteId}". */
  readonly path: string;
  /** The path in Hono's syntax. */
  readonly pattern: string;
  readonly methods: ReadonlyMap<string, KeyedEndpoint>;
}

export interface OpenRoute {
  readonly kind: "open";
  readonly path: string;
  readonly pattern: string;
  readonly methods: ReadonlyMap<string, OpenEndpoint>;
}

export type Route = KeyedRoute | OpenRoute;

/** Every path once. A path needs a key for all its methods, or for no method. */
export function sitesOf(endpoints: readonly Endpoint[]): readonly Route[] {
  const keyed = endpoints.filter((endpoint) => endpoint.scope !== "none");
  const open = endpoints.filter((endpoint) => endpoint.scope === "none");
  return [
    ...byPath(keyed).map(([path, methods]) => ({
      kind: "keyed" as const,
      path,
      pattern: pattern(path),
      methods,
    })),
    ...byPath(open).map(([path, methods]) => ({
      kind: "open" as const,
      path,
      pattern: pattern(path),
      methods,
    })),
  ];
}

/** The methods of a site as the `Allow` header names them; HEAD is answered wherever GET is. */
export function allowedMethods({ methods }: Route): readonly string[] {
  return [...methods.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
}

/** The endpoint of a method, undefined when the site does not take it. */
export function endpointFor<E>(methods: ReadonlyMap<string, E>, method: string): E | undefined {
  return methods.get(method === "HEAD" ? "GET" : method);
}

function byPath<E extends Endpoint>(endpoints: readonly E[]): readonly (readonly [string, Map<string, E>])[] {
  const paths = new Map<string, Map<string, E>>();
  for (const endpoint of endpoints) {
    const methods = paths.get(endpoint.path) ?? new Map<string, E>();
    paths.set(endpoint.path, methods.set(endpoint.method, endpoint));
  }
  return [...paths];
}

function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
