/** Items in the order in which they are served: owners take turns, and each has its own line. */
export interface Turns<Item> {
  add(owner: string, item: Item): void;
  /** Undefined if there is none. */
  next(): Item | undefined;
}

export function turns<Item>(): Turns<Item> {
  // A map iterates in the order of insertion: an owner that was served goes to the end.
  const lines = new Map<string, Item[]>();
  return {
    add(owner, item) {
      const line = lines.get(owner);
      if (line) line.push(item);
      else lines.set(owner, [item]);
    },
    next() {
      for (const [owner, line] of lines) {
        lines.delete(owner);
        const item = line.shift();
        if (line.length > 0) lines.set(owner, line);
        return item;
      }
      return undefined;
    },
  };
}
