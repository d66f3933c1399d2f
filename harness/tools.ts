import { makeAgent, makePrompt, move } from './prompts.ts';
import type { Service } from './service.ts';

/** Agents that are deployed through the API, to be called as tools. */
export async function deployTool(
  service: Service,
  parts: { readonly agent: object; readonly version?: object; readonly description?: string },
) {
  const prompt = await makePrompt(service, parts.version ?? { user: 'Hello' });
  if (parts.description !== undefined) {
    const { key } = await service.key();
    const body = { description: parts.description };
    await service.call('PATCH', prompt.path, { key, body });
  }
  const agent = await makeAgent(service, prompt, { visibility: 'public', ...parts.agent });
  await move(service, agent, 'enable-api', 'deploy');
  return agent;
}
