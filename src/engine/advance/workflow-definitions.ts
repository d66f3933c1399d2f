import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Send } from '../../db/pipeline.ts';
import { statement } from '../../db/statement.ts';

/** Definitions are stored as JSON text, which preserves the order of names. */

export interface WithDefinition {
  readonly definition: WorkflowDefinition;
}

/** The row as stored, with the definition as JSON text. */
export type WithDefinitionText<Row extends WithDefinition> = Omit<Row, 'definition'> & {
  readonly definition: string;
};

export function parseDefinition<Row extends { readonly definition: string }>(
  row: Row,
): Omit<Row, 'definition'> & WithDefinition {
  return { ...row, definition: JSON.parse(row.definition) };
}

/** The definition of a workflow version as JSON text; null if it does not exist. */
export async function readDefinition(
  send: Send,
  workflowVersionId: string,
): Promise<string | null> {
  const [row] = await send(selectDefinition, workflowVersionId);
  return row?.definition ?? null;
}

const selectDefinition = statement<string, { definition: string }>('workflow-definition')`
  select definition from workflow_versions where id = ${(workflowVersionId) => workflowVersionId}`;
