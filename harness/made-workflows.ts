import type { Service } from './service.ts';

/** Workflows made through the API, as users make them. */

export interface MadeWorkflow {
  readonly workflowId: string;
  /** `/api/v1/workflows/{workflowId}` */
  readonly path: string;
  readonly workflowVersionId: string;
}

let made = 0;

/** Made with the owner's key unless another is given; named uniquely unless named. */
export async function makeWorkflow(
  service: Service,
  definition: object,
  { key, ...input }: { readonly key?: string } & Record<string, unknown> = {},
): Promise<MadeWorkflow> {
  const body = { name: `Workflow ${++made}`, ...input, definition };
  const answer = await service.call('POST', '/api/v1/workflows', {
    key: key ?? (await service.key()).key,
    body,
  });
  if (answer.status !== 201) throw new Error(`not made: ${JSON.stringify(answer.body)}`);
  const { workflowId, workflowVersionId } = answer.body;
  return { workflowId, workflowVersionId, path: `/api/v1/workflows/${workflowId}` };
}

/** One step that greets whoever the input names. */
export function greeting(agentId: string) {
  return {
    input: { required: ['name'] },
    steps: [{ name: 'greet', agentId, variables: { name: '{{input.name}}' } }],
  };
}
