import type { Send, Statement } from './pipeline.ts';

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
  text: `select definition::text as definition from workflow_versions where id = $1`,
};
