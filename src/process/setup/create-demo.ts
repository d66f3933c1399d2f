import { type Caller, commandCaller } from '../../core/people/caller.ts';
import type { Db } from '../../db/database.ts';
import { changeAgent } from '../../features/agents/verbs/change-agent.ts';
import { moveAgent } from '../../features/agents/verbs/change-stage.ts';
import { createAgent } from '../../features/agents/verbs/create-agent.ts';
import { findSessionCaller } from '../../features/people/statements/callers.ts';
import { issueKey } from '../../features/people/verbs/issue-key.ts';
import { createPrompt } from '../../features/prompts/verbs/change-prompt.ts';
import { createVersion } from '../../features/prompts/verbs/create-version.ts';

/** A demo: a prompt with two versions, a deployed agent that works offline, and a key for it. */
export interface Demo {
  readonly agentId: string;
  /** A second agent, on a model of a provider; null if none is configured. */
  readonly real: { readonly agentId: string; readonly model: string } | null;
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
export async function createDemo(
  db: Db,
  { workspaceId, ownerId }: { readonly workspaceId: string; readonly ownerId: string },
  realModel: string | null,
): Promise<Demo> {
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
  const settings = {
    promptId: prompt.id,
    requiredVariables: ['topic'],
    optionalVariables: ['audience'],
    defaultVariableValues: { audience: 'a newcomer' },
    visibility: 'public' as const,
  };
  const pinned = { ...settings, name: 'Explainer', promptVersionId: older.id };
  const { id: agentId } = await createAgent(db, owner, pinned);
  await changeAgent(db, owner, agentId, { change: {}, promptVersionId: newer.id }, () => true);
  await deploy(db, owner, agentId);
  const real = realModel === null ? null : await createReal(realModel);
  const { key } = await issueKey(db, owner, {
    name: 'Demo',
    agentIds: [agentId, ...(real ? [real.agentId] : [])],
    permissions: ['execute', 'read', 'cancel'],
    rateLimits: {},
    expiresAtMs: null,
    allowedOrigins: [],
  });
  return { agentId, real, key };

  async function createReal(model: string) {
    const { id } = await createAgent(db, owner, {
      ...settings,
      name: 'Real explainer',
      promptVersionId: newer.id,
      config: { model },
    });
    await deploy(db, owner, id);
    return { agentId: id, model };
  }
}

async function deploy(db: Db, owner: Caller, agentId: string): Promise<void> {
  await moveAgent(db, owner, agentId, 'enable-api');
  await moveAgent(db, owner, agentId, 'deploy');
}

function addVersion(db: Db, owner: Caller, promptId: string, texts: typeof first) {
  const settings = { model, temperature: null, maxTokens: null, topP: null, settings: {} };
  const content = { messages: null, tools: null, toolChoice: null };
  return createVersion(db, owner, promptId, { ...texts, ...content, ...settings });
}
