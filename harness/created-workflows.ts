import type { Service } from './service.ts';

/** Workflows created through the API. */

export interface CreatedWorkflow {
  readonly workflowId: string;
  /** `/api/v1/workflows/{workflowId}` */
  readonly path: string;
  readonly workflowVersionId: string;
}

let count = 0;

/** Created with the owner's key by default; the name is unique by default. */
export async function makeWorkflow(
  service: Service,
  definition: object,
  { key, ...input }: { readonly key?: string } & Record<string, unknown> = {},
): Promise<CreatedWorkflow> {
  const body = { name: `Workflow ${++count}`, ...input, definition };
  const response = await service.call('POST', '/api/v1/workflows', {
    key: key ?? (await service.key()).key,
    body,
  });
  if (response.status !== 201) throw new Error(`not created:  ${JSON.stringify(response.body)}`);
  const { workflowId, workflowVersionId } = response.body;
  return { workflowId, workflowVersionId, path: `/api/v1/workflows/${workflowId}` };
}

/** One step that greets the name in the input. */
export function greeting(agentId: string) {
  return {
    input: { required: ['name'] },
    steps: [{ name: 'greet', agentId, variables: { name: '{{input.name}}' } }],
  };
}
