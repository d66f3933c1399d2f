import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Send } from '../../store/connection/pipeline.ts';
import { readDefinition } from '../../store/workflow/workflow-definitions.ts';
import { ItemFault } from '../admission/retry-transaction.ts';

/** The definition of a version, read once and kept: a version never changes. */
export type Definitions = (send: Send, workflowVersionId: string) => Promise<WorkflowDefinition>;

/** How many characters of definitions are kept, the latest ones. */
const keptCharsMax = 33_554_432;

export function definitionCache(): Definitions {
  const kept = new Map<
    string,
    { readonly definition: WorkflowDefinition; readonly chars: number }
  >();
  let chars = 0;
  return async (send, id) => {
    const known = kept.get(id);
    if (known) return known.definition;
    const text = await readDefinition(send, id);
    if (text === null) throw new ItemFault('a run of a workflow without its version');
    const definition = JSON.parse(text) as WorkflowDefinition;
    if (!kept.has(id)) {
      kept.set(id, { definition, chars: text.length });
      chars += text.length;
    }
    for (const [oldest, one] of kept) {
      if (chars <= keptCharsMax) break;
      kept.delete(oldest);
      chars -= one.chars;
    }
    return definition;
  };
}
