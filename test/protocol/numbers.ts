/** A list of whole numbers that takes four bytes for each: a search keeps millions. */
export class Numbers {
  #values = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const values = new Int32Array(this.length * 2);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(place: number): number {
    this.#mustHave(place);
    return this.#values[place] ?? 0;
  }

  set(place: number, value: number): void {
    this.#mustHave(place);
    this.#values[place] = value;
  }

  #mustHave(place: number): void {
    if (!(place >= 0 && place < this.length)) throw new RangeError(`no number at ${place}`);
  }
}
