import { useState } from 'react';

/**
 * Sets of values for the variables of a prompt, saved by name in the browser, for each user. They never leave it. Other users
 * of the browser do not see them on the page.
 */
export interface ValueSet {
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}

export const setNameMax = 100;
export const setsMax = 50;

export interface ValueSets {
  readonly sets: readonly ValueSet[];
  /** Reads what other windows have saved. */
  refresh(): void;
  /** Replaces a set with the same name. Returns why it could not be saved; null if it was. */
  save(set: ValueSet): string | null;
  remove(name: string): void;
}

export function useValueSets(userId: string, promptId: string): ValueSets {
  const key = `cueline-value-sets-${userId}-${promptId}`;
  const [sets, show] = useState(() => read(key));
  const write = (next: readonly ValueSet[]): string | null => {
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      return 'The storage of the browser is full. Delete other sets, or leave out files.';
    }
    show(next);
    return null;
  };
  return {
    sets,
    refresh: () => show(read(key)),
    save: (set) => {
      const others = read(key).filter(({ name }) => name !== set.name);
      if (others.length >= setsMax) return `There are already ${setsMax} sets. Delete one first.`;
      return write([...others, set].toSorted((a, b) => a.name.localeCompare(b.name)));
    },
    remove: (name) => void write(read(key).filter((one) => one.name !== name)),
  };
}

/** Whatever else is stored there counts as nothing. */
function read(key: string): readonly ValueSet[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSet) : [];
  } catch {
    return [];
  }
}

function isSet(value: unknown): value is ValueSet {
  if (typeof value !== 'object' || value === null) return false;
  const { name, values } = value as Partial<ValueSet>;
  if (typeof name !== 'string' || typeof values !== 'object' || values === null) return false;
  return Object.values(values).every((one) => typeof one === 'string');
}
