/** Child machines as instances of their own: the id of such an instance. */

/** `parent/id`, or `parent/id~2` for the second one that is started under this id, as when its state is entered again. */
export function childInstance(parent: string, id: string, run: number): string {
  return run === 1 ? `${parent}/${id}` : `${parent}/${id}~${run}`;
}
