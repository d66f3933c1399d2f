import { LruCache } from '../../core/lru-cache.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Send } from '../../db/pipeline.ts';
import { ItemFault } from '../transaction/retry-transaction.ts';
import { readDefinition } from './workflow-definitions.ts';

/** Caches the definitions of workflow versions, which never change. */
export type Definitions = (send: Send, workflowVersionId: string) => Promise<WorkflowDefinition>;

/** In characters. */
const cachedMax = 33_554_432;

export function definitionCache(): Definitions {
  const cache = new LruCache<{ readonly definition: WorkflowDefinition; readonly chars: number }>(
    cachedMax,
    ({ chars }) => chars,
  );
  return async (send, id) => {
    const cached = cache.get(id);
    if (cached) return cached.definition;
    const text = await readDefinition(send, id);
    if (text === null) throw new ItemFault(`The workflow version ${id} does not exist.`);
    const definition = JSON.parse(text) as WorkflowDefinition;
    cache.set(id, { definition, chars: text.length });
    return definition;
  };
}
