import type { Service } from './service.ts';

/** Prompts and agents created through the API. */

export interface MadePrompt {
  readonly promptId: string;
  /** `/api/v1/prompts/{promptId}` */
  readonly path: string;
  /** The ids of its versions, oldest first. */
  readonly versionIds: readonly string[];
}

/** Created with the owner's key. Versions have the format of the API; the default model is `cueline/echo`. */
export async function makePrompt(service: Service, ...versions: object[]): Promise<MadePrompt> {
  const { key } = await service.key();
  const prompt = await made(
    service,
    '/api/v1/prompts',
    { name: 'Prompt', visibility: 'public' },
    key,
  );
  const path = `/api/v1/prompts/${prompt.promptId}`;
  const versionIds: string[] = [];
  for (const version of versions) {
    const body = { model: 'cueline/echo', ...version };
    versionIds.push((await made(service, `${path}/versions`, body, key)).promptVersionId);
  }
  return { promptId: prompt.promptId, path, versionIds };
}

export interface MadeAgent {
  readonly agentId: string;
  /** `/api/v1/agents/{agentId}` */
  readonly path: string;
  readonly prompt: MadePrompt;
}

/** An agent that pins the first version of a prompt, created with the owner's key by default. */
export async function makeAgent(
  service: Service,
  prompt: MadePrompt,
  { key, ...input }: { readonly key?: string } & Record<string, unknown> = {},
): Promise<MadeAgent> {
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  const body = { agentName: 'Agent', ...pin, ...input };
  const { agentId } = await made(service, '/api/v1/agents', body, key ?? (await service.key()).key);
  return { agentId, path: `/api/v1/agents/${agentId}`, prompt };
}

/** Moves an agent through its lifecycle. */
export async function move(service: Service, { path }: MadeAgent, ...actions: string[]) {
  const { key } = await service.key();
  for (const action of actions) await made(service, `${path}/lifecycle`, { action }, key);
}

async function made(service: Service, path: string, body: object, key: string) {
  const answer = await service.call('POST', path, { key, body });
  if (answer.status > 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
