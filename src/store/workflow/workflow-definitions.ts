import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Send, Statement } from '../connection/pipeline.ts';

/** Definitions are stored as they were written, the order of names included. */

export interface Defined {
  readonly definition: WorkflowDefinition;
}

/** A row as it is read: its definition is JSON text. */
export type Stored<Row extends Defined> = Omit<Row, 'definition'> & { readonly definition: string };

export function parseDefinition<Row extends { readonly definition: string }>(
  row: Row,
): Omit<Row, 'definition'> & Defined {
  return { ...row, definition: JSON.parse(row.definition) };
}

/** The definition of a version of a workflow as JSON text; null where there is none. */
export async function readDefinition(
  send: Send,
  workflowVersionId: string,
): Promise<string | null> {
  const [row] = await send<{ definition: string }>(selectDefinition, [workflowVersionId]);
  return row?.definition ?? null;
}

const selectDefinition: Statement = {
  name: 'workflow-definition',
  text: `select definition from workflow_versions where id = $1`,
};
