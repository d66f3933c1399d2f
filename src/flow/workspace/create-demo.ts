import { type Caller, commandCaller } from '../../core/people/caller.ts';
import type { Db } from '../../db/database.ts';
import { findSessionCaller } from '../../store/people/callers.ts';
import { changeAgent } from '../agent/change-agent.ts';
import { createPrompt } from '../agent/change-prompt.ts';
import { moveAgent } from '../agent/change-stage.ts';
import { createAgent } from '../agent/create-agent.ts';
import { createVersion } from '../agent/create-version.ts';
import { issueKey } from './issue-key.ts';

/** A demo that works offline: a prompt with two versions, a deployed agent and a key for it. */
export interface Demo {
  readonly agentId: string;
  /** The secret. It is not stored, so show it now. */
  readonly key: string;
}

const model = 'cueline/echo';
const first = {
  label: null,
  system: 'You explain things in one sentence.',
  user: 'What are {{topic}}?',
  notes: 'First version.',
};
const second = {
  label: null,
  system: 'You explain things to {{audience}}, in at most three sentences.',
  user: 'Explain {{topic}}.',
  notes: 'Adds the audience.',
};

/** Uses the same calls as a member, on behalf of the owner, at the first start. */
export async function createDemo(db: Db, workspaceId: string, ownerId: string): Promise<Demo> {
  const found = await findSessionCaller(db, ownerId, workspaceId);
  if (!found) throw new Error('The owner is not a member of the workspace.');
  const owner = commandCaller(found);
  const prompt = await createPrompt(db, owner, {
    name: 'Explain',
    description: 'A demo: explains a topic to an audience.',
    visibility: 'public',
  });
  const older = await addVersion(db, owner, prompt.id, first);
  const newer = await addVersion(db, owner, prompt.id, second);
  const agent = await createAgent(db, owner, {
    name: 'Explainer',
    promptId: prompt.id,
    promptVersionId: older.id,
    requiredVariables: ['topic'],
    optionalVariables: ['audience'],
    defaultVariableValues: { audience: 'a newcomer' },
    visibility: 'public',
  });
  const pin = { change: {}, promptVersionId: newer.id };
  await changeAgent(db, owner, agent.id, pin, () => true);
  await moveAgent(db, owner, agent.id, 'enable-api');
  await moveAgent(db, owner, agent.id, 'deploy');
  const { key } = await issueKey(db, owner, {
    name: 'Demo',
    agentIds: [agent.id],
    permissions: ['execute', 'read', 'cancel'],
    rateLimits: {},
    expiresAtMs: null,
    allowedOrigins: [],
  });
  return { agentId: agent.id, key };
}

function addVersion(db: Db, owner: Caller, promptId: string, texts: typeof first) {
  const settings = { model, temperature: null, maxTokens: null, topP: null, settings: {} };
  const content = { messages: null, tools: null, toolChoice: null };
  return createVersion(db, owner, promptId, { ...texts, ...content, ...settings });
}
