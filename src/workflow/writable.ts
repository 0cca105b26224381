/**
 * A record while it is made: what it does not always have is set afterwards, each as a field of its own. Spreads of what may
 * be empty, and fields behind a spread that it does not have yet, take V8 up to a hundred times as long.
 */
export type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
