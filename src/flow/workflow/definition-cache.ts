import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Send } from '../../store/connection/pipeline.ts';
import { readDefinition } from '../../store/workflow/workflow-definitions.ts';
import { ItemFault } from '../admission/retry-transaction.ts';

/** Caches the definitions of workflow versions, which never change. */
export type Definitions = (send: Send, workflowVersionId: string) => Promise<WorkflowDefinition>;

/** Characters of cached definitions. The oldest are evicted. */
const cachedCharsMax = 33_554_432;

export function definitionCache(): Definitions {
  const cached = new Map<
    string,
    { readonly definition: WorkflowDefinition; readonly chars: number }
  >();
  let chars = 0;
  return async (send, id) => {
    const known = cached.get(id);
    if (known) return known.definition;
    const text = await readDefinition(send, id);
    if (text === null) throw new ItemFault(`The workflow version ${id} does not exist.`);
    const definition = JSON.parse(text) as WorkflowDefinition;
    if (!cached.has(id)) {
      cached.set(id, { definition, chars: text.length });
      chars += text.length;
    }
    for (const [oldest, one] of cached) {
      if (chars <= cachedCharsMax) break;
      cached.delete(oldest);
      chars -= one.chars;
    }
    return definition;
  };
}
