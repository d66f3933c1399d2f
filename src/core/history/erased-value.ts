import type { Labels } from '../labels.ts';
import { splitValues } from '../split-values.ts';

/** What an erasure looks for. With neither `variable` nor `label`, the value is a user. */
export interface ErasedValue {
  readonly value: string;
  /** The name of the variable that has the value. */
  readonly variable: string | null;
  /** The value is a tag, or a value of the metadata. */
  readonly label: 'tag' | 'metadata' | null;
  /** The name in the metadata. */
  readonly labelName: string | null;
}

/** Whether these labels have the value. Those of an erasure by variable never do. */
export function labelsHave(labels: Labels | null, erased: ErasedValue): boolean {
  const { value, variable, label, labelName } = erased;
  if (labels === null || variable !== null) return false;
  switch (label) {
    case null:
      return labels.user === value;
    case 'tag':
      return labels.tags?.includes(value) ?? false;
    case 'metadata': {
      const metadata = new Map(Object.entries<string>(JSON.parse(labels.metadata ?? '{}')));
      return metadata.get(labelName ?? '') === value;
    }
  }
}

/** Whether a short text, such as a name, contains the value as a word of its own: `order-ada` names `ada`, `nevada` does not. */
export function namesValue(text: string, value: string): boolean {
  if (value === '') return false;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    // Two units have a whole character.
    const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
    if (!inWord.test(before) && !inWord.test(text.slice(end, end + 2))) return true;
  }
  return false;
}

const inWord = /^[\p{L}\p{N}]/u;

/** Whether the query of a saved view names the value: in words to search for, or as a value that callers choose. */
export function searchNamesValue(search: string, value: string): boolean {
  if (value === '') return false;
  return [...new URLSearchParams(search)].some(([name, text]) => {
    if (name === 'q') return namesValue(text, value);
    if (!freeFilters.test(name)) return false;
    return text === value || splitValues(text).includes(value);
  });
}

const freeFilters = /^(user|session|tag|variables\..*|metadata\..*)$/s;
