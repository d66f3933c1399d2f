import type { Service } from './service.ts';

/** Prompts and agents created through the API. */

export interface CreatedPrompt {
  readonly promptId: string;
  /** `/api/v1/prompts/{promptId}` */
  readonly path: string;
  /** The ids of its versions, oldest first. */
  readonly versionIds: readonly string[];
}

/** Created with the owner's key. Versions have the format of the API; the default model is `cueline/echo`. */
export async function makePrompt(service: Service, ...versions: object[]): Promise<CreatedPrompt> {
  const { key } = await service.key();
  const fields = { name: 'Prompt', visibility: 'public' };
  const prompt = await create(service, '/api/v1/prompts', fields, key);
  const path = `/api/v1/prompts/${prompt.promptId}`;
  const versionIds: string[] = [];
  for (const version of versions) {
    const body = { model: 'cueline/echo', ...version };
    versionIds.push((await create(service, `${path}/versions`, body, key)).promptVersionId);
  }
  return { promptId: prompt.promptId, path, versionIds };
}

export interface CreatedAgent {
  readonly agentId: string;
  /** `/api/v1/agents/{agentId}` */
  readonly path: string;
  readonly prompt: CreatedPrompt;
}

/** An agent that pins the first version of a prompt, created with the owner's key by default. */
export async function makeAgent(
  service: Service,
  prompt: CreatedPrompt,
  { key, ...input }: { readonly key?: string } & Record<string, unknown> = {},
): Promise<CreatedAgent> {
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  const body = { agentName: 'Agent', ...pin, ...input };
  const { agentId } = await create(
    service,
    '/api/v1/agents',
    body,
    key ?? (await service.key()).key,
  );
  return { agentId, path: `/api/v1/agents/${agentId}`, prompt };
}

/** Moves an agent through its lifecycle. */
export async function move(service: Service, { path }: CreatedAgent, ...actions: string[]) {
  const { key } = await service.key();
  for (const action of actions) await create(service, `${path}/lifecycle`, { action }, key);
}

async function create(service: Service, path: string, body: object, key: string) {
  const response = await service.call('POST', path, { key, body });
  if (response.status > 201) throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
  return response.body;
}
