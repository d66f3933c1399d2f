import { makeAgent, makePrompt, move } from './prompts.ts';
import type { Service } from './service.ts';

/** Agents for the tests of the OpenAI API, deployed and created through the API. */

const conversation = [
  { role: 'system', content: 'You help with {{topic}}.' },
  { placeholder: 'history' },
];

/** Takes a conversation. */
export function conversationAgent(service: Service, input: Record<string, unknown> = {}) {
  const optional = { optionalVariables: ['topic', 'history'] };
  return deployed(service, { messages: conversation }, { ...optional, ...input });
}

/** Takes one message. */
export function singleAgent(service: Service, input: Record<string, unknown> = {}) {
  return deployed(service, { system: 'Be brief.', user: 'Answer: {{question}}' }, input);
}

export async function deployed(
  service: Service,
  version: object,
  input: Record<string, unknown> = {},
) {
  const prompt = await makePrompt(service, version);
  const agent = await makeAgent(service, prompt, { visibility: 'public', ...input });
  await move(service, agent, 'enable-api', 'deploy');
  const { key } = await service.key();
  const { body } = await service.call('GET', agent.path, { key });
  return { ...agent, slug: body.slug as string };
}

/** The data of the events of a stream, in order; `[DONE]` as a string. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field
export function eventsIn(text: string): any[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  );
}

/** Sends a request whose response is a stream. */
export async function stream(service: Service, path: string, key: string, body?: object) {
  const response = await fetch(service.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { response, events: eventsIn(await response.text()) };
}
