/** Names charts with their version in the storage: `name@version`. */

export function workflowKey(name: string, version: number): string {
  return `${name}@${version}`;
}

/** The name in such a key. A name may hold an `@` itself. */
export function nameOf(key: string): string {
  return key.slice(0, key.lastIndexOf("@"));
}

export function versionOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("@") + 1));
}
