import { restoreFiles } from '../../core/agent/stored-files.ts';
import { computeJob } from '../../core/compute.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import type { Caller } from '../../core/people/caller.ts';
import { inputItems } from './input-items.ts';
import type { ReferencedItems } from './read-responses.ts';
import { outputItems } from './response-wire.ts';

/** Which items of a response are wanted. */
export interface WantedItems {
  readonly row: Execution;
  readonly ids: readonly string[];
  readonly caller: Pick<Caller, 'rights'>;
  /** The variables that are lists of messages; null if the caller may not read what was sent. */
  readonly lists: readonly string[] | null;
}

/** The items of a response with these identifiers. */
export function pickItems({ row, ids, caller, lists }: WantedItems): ReferencedItems {
  const wanted = new Set(ids);
  const { inputVariables, fileData = null } = row;
  const sent = inputVariables && restoreFiles(inputVariables, fileData);
  const input = lists ? inputItems({ ...row, inputVariables: sent }, lists) : [];
  const found = [...outputItems(row, caller), ...input].filter(({ id }) => wanted.has(String(id)));
  return Object.fromEntries(found.map((item) => [String(item.id), JSON.stringify(item)]));
}

export const pickItemsJob = computeJob(import.meta.url, pickItems);
