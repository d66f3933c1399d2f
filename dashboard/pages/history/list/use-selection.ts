import { useRef, useState } from 'react';
import type { Execution } from '../../../data/executions/executions.ts';

export interface Selection {
  readonly rows: readonly Execution[];
  isSelected(executionId: string): boolean;
  /** @param extends whether to select everything from the last toggled row on */
  toggle(executionId: string, extendsRange?: boolean): void;
  /** Whether all rows are selected, or some. */
  readonly all: boolean | 'some';
  /** Whether no rows are listed, as before they are loaded. */
  readonly isEmpty: boolean;
  toggleAll(): void;
  /** Selects only these. */
  select(executionIds: readonly string[]): void;
  clear(): void;
}

/** The selected rows of a list. Rows that are no longer listed are not selected. */
export function useSelection(rows: readonly Execution[] | undefined): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(null);
  const listed = rows?.map(({ executionId }) => executionId) ?? [];
  const selected = rows?.filter(({ executionId }) => ids.has(executionId)) ?? [];
  const isAll = selected.length > 0 && selected.length === listed.length;
  return {
    rows: selected,
    isSelected: (id) => ids.has(id),
    toggle(id, extendsRange = false) {
      const between = extendsRange && last.current ? rangeOf(listed, last.current, id) : [id];
      last.current = id;
      setIds((before) => {
        const after = new Set(before);
        for (const one of between) {
          if (before.has(id)) after.delete(one);
          else after.add(one);
        }
        return after;
      });
    },
    all: isAll || (selected.length > 0 && 'some'),
    isEmpty: listed.length === 0,
    toggleAll: () => setIds(new Set(isAll ? [] : listed)),
    select: (executionIds) => setIds(new Set(executionIds)),
    clear: () => setIds(new Set()),
  };
}

function rangeOf(listed: readonly string[], one: string, other: string): readonly string[] {
  const [from, to] = [listed.indexOf(one), listed.indexOf(other)];
  if (from < 0 || to < 0) return [other];
  return listed.slice(Math.min(from, to), Math.max(from, to) + 1);
}
