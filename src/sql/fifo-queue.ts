/** A first-in, first-out queue that thousands may stand in: taking the first out of it moves no other. */
export class FifoQueue<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  /** Who is next; `undefined` where no one is. */
  get first(): T | undefined {
    return this.#items[this.#first];
  }

  /** Who comes so many after the first. */
  at(index: number): T | undefined {
    return this.#items[this.#first + index];
  }

  /** Joins at the end. */
  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the first out. */
  shift(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first === this.#items.length) this.#cut(this.#first);
    else if (this.#first > 1024 && this.#first * 2 > this.#items.length) this.#cut(this.#first);
    return item;
  }

  /** Takes out all that are chosen, wherever they stand, and returns them in order. */
  takeWhere(chosen: (item: T) => boolean): readonly T[] {
    const taken: T[] = [];
    const kept: T[] = [];
    for (const item of this.#items.slice(this.#first)) {
      if (item !== undefined) (chosen(item) ? taken : kept).push(item);
    }
    this.#items = kept;
    this.#first = 0;
    return taken;
  }

  #cut(count: number): void {
    this.#items = this.#items.slice(count);
    this.#first = 0;
  }
}
