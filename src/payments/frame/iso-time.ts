/** Times leave the service as ISO 8601, with milliseconds and in UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
