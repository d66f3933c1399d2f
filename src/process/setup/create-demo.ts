import { type Caller, commandCaller } from '../../core/people/caller.ts';
import { echoServerURL } from '../../core/tools/tool-server.ts';
import type { Db } from '../../db/database.ts';
import { changeAgent } from '../../features/agents/verbs/change-agent.ts';
import { moveAgent } from '../../features/agents/verbs/change-stage.ts';
import { createAgent } from '../../features/agents/verbs/create-agent.ts';
import { findSessionCaller } from '../../features/people/statements/callers.ts';
import { issueKey } from '../../features/people/verbs/issue-key.ts';
import { createPrompt } from '../../features/prompts/verbs/change-prompt.ts';
import { createVersion, versionInput } from '../../features/prompts/verbs/create-version.ts';
import {
  createToolServer,
  type ToolServerInput,
} from '../../features/tools/verbs/change-tool-server.ts';

/** A demo: a prompt with two versions, deployed agents that work offline, and a key for them. */
export interface Demo {
  readonly agentId: string;
  /** A second agent, whose model calls a tool. */
  readonly toolAgentId: string;
  /** A third agent, on a model of a provider; null if none is configured. */
  readonly real: { readonly agentId: string; readonly model: string } | null;
  /** The secret. It is not stored, so show it now. */
  readonly key: string;
}

const model = 'cueline/echo';
const first = {
  model,
  system: 'You explain things in one sentence.',
  user: 'What are {{topic}}?',
  notes: 'First version.',
};
const second = {
  model,
  system: 'You explain things to {{audience}}, in at most three sentences.',
  user: 'Explain {{topic}}.',
  notes: 'Adds the audience.',
};

/** docs/tools.md has these as code. */
const echoServer: ToolServerInput = {
  ...{ name: 'echo', kind: 'http', url: echoServerURL },
  tools: [
    {
      name: 'repeat',
      description: 'Repeats a text.',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      },
    },
  ],
};
const withTool = {
  model: 'cueline/echo?tools=repeat:{"text":"Hello"}',
  user: 'Let the tool repeat "Hello".',
  tools: [{ server: 'echo', tool: 'repeat', safe: true }],
};

/**
 * Uses the same calls as a member, on behalf of the owner, at the first start.
 * @param sealKey from `deriveSealKey`
 */
export async function createDemo(
  db: Db,
  { workspaceId, ownerId }: { readonly workspaceId: string; readonly ownerId: string },
  { realModel, sealKey }: { readonly realModel: string | null; readonly sealKey: Buffer },
): Promise<Demo> {
  const found = await findSessionCaller(db, ownerId, workspaceId);
  if (!found) throw new Error('The owner is not a member of the workspace.');
  const owner = commandCaller(found);
  // First, because lists begin with what is newest.
  const toolAgentId = await createToolAgent(db, owner, sealKey);
  const prompt = await createPrompt(db, owner, {
    name: 'Explain',
    description: 'A demo: explains a topic to an audience.',
    visibility: 'public',
  });
  const older = await createVersion(db, owner, prompt.id, versionInput(first));
  const newer = await createVersion(db, owner, prompt.id, versionInput(second));
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
    agentIds: [agentId, toolAgentId, ...(real ? [real.agentId] : [])],
    permissions: ['execute', 'read', 'cancel'],
    rateLimits: {},
    expiresAtMs: null,
    allowedOrigins: [],
  });
  return { agentId, toolAgentId, real, key };

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

/** An agent whose tool repeats what it gets, so that the first start shows turns and calls. */
async function createToolAgent(db: Db, owner: Caller, sealKey: Buffer): Promise<string> {
  // Nothing is sent to the built-in server.
  await createToolServer({ db, sealKey, checkToolServerURL: async () => null }, owner, echoServer);
  const prompt = await createPrompt(db, owner, {
    name: 'Use a tool',
    description: 'A demo: lets the model call a tool.',
    visibility: 'public',
  });
  const version = await createVersion(db, owner, prompt.id, versionInput(withTool));
  const { id } = await createAgent(db, owner, {
    ...{ name: 'Tool user', promptId: prompt.id, promptVersionId: version.id },
    visibility: 'public',
  });
  await deploy(db, owner, id);
  return id;
}

async function deploy(db: Db, owner: Caller, agentId: string): Promise<void> {
  await moveAgent(db, owner, agentId, 'enable-api');
  await moveAgent(db, owner, agentId, 'deploy');
}
