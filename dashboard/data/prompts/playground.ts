import type { Agent, AgentPatch, PromptVersion, Variables } from '../../../src/client/index.ts';
import type { ModelSettings } from '../agents/model-settings.ts';
import { cueline } from '../client/client.ts';
import { execute, type RunStarted } from '../executions/start-execution.ts';

/**
 * Runs of a version that no agent pins. Only agents run, so each prompt gets one for it, made when it is first needed:
 * private, in Draft (no key opens it), and archived between runs, so that no list shows it unless asked. Whatever is
 * done to it stands in the audit, so no more is done than a run needs.
 */

export interface PlaygroundRun {
  readonly version: PromptVersion;
  /** Over what the version says; null leaves it. */
  readonly settings: ModelSettings;
  readonly values: Variables;
}

const playgroundTag = 'playground';

/** The agent has one version at a time, so runs are started one after another, in other windows too. */
export function startPlaygroundRun(userId: string, order: PlaygroundRun): Promise<RunStarted> {
  const { promptId } = order.version;
  waiting.set(promptId, (waiting.get(promptId) ?? 0) + 1);
  const start = () => inTurn(userId, order);
  // Missing where the page is served over plain HTTP: then only this window waits for itself.
  if (navigator.locks) return navigator.locks.request(`cueline-playground-${promptId}`, start);
  last = last.then(start, start);
  return last as Promise<RunStarted>;
}

let last: Promise<unknown> = Promise.resolve();

/** How many runs of a prompt this window has yet to start. */
const waiting = new Map<string, number>();

async function inTurn(userId: string, { version, settings, values }: PlaygroundRun) {
  const { promptId } = version;
  try {
    const agent = await scratchAgent(userId, version, settings);
    const { agentId } = agent;
    restored.set(promptId, agentId);
    if (agent.archived) await cueline.agents.move(agentId, 'restore');
    const patch = patchOf(agent, version, settings);
    if (Object.keys(patch).length > 0) await cueline.agents.update(agentId, patch);
    return await execute(agentId, values);
  } finally {
    const left = (waiting.get(promptId) ?? 1) - 1;
    waiting.set(promptId, left);
    // Two that are compared are one sitting.
    if (left === 0) await archive(promptId);
  }
}

/** What runs already is not touched by it. */
async function archive(promptId: string): Promise<void> {
  const agentId = restored.get(promptId);
  restored.delete(promptId);
  if (agentId) await cueline.agents.move(agentId, 'archive').catch(() => {});
}

/** By prompt, the agent that this window has to archive. */
const restored = new Map<string, string>();

/** What must become different, and nothing else. */
function patchOf(agent: Agent, version: PromptVersion, settings: ModelSettings): AgentPatch {
  const names = ['model', 'temperature', 'maxTokens', 'topP'] as const;
  const same =
    agent.optionalVariables.join() === version.variables.join() &&
    agent.requiredVariables.length === 0 &&
    Object.keys(agent.defaultVariableValues).length === 0;
  return {
    ...(agent.promptVersionId !== version.promptVersionId && {
      promptVersionId: version.promptVersionId,
    }),
    ...(!same && {
      requiredVariables: [],
      optionalVariables: version.variables,
      defaultVariableValues: {},
    }),
    ...(names.some((name) => (agent.agentConfig[name] ?? null) !== settings[name]) && {
      agentConfig: settings,
    }),
  };
}

async function scratchAgent(
  userId: string,
  version: PromptVersion,
  settings: ModelSettings,
): Promise<Agent> {
  const { promptId, promptVersionId, variables } = version;
  for (const archived of [true, false]) {
    const found = await cueline.agents.list({ tag: playgroundTag, q: promptId, archived });
    const own = found.agents.find(
      (agent) => agent.promptId === promptId && agent.createdBy === userId,
    );
    if (own) return own;
  }
  const prompt = await cueline.prompts.get(promptId);
  return cueline.agents.create({
    agentName: `Playground: ${prompt.name}`.slice(0, nameMax),
    description: `Made by the playground of the prompt ${promptId}, for runs of versions that no agent pins.`,
    promptId,
    promptVersionId,
    optionalVariables: variables,
    agentConfig: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
    visibility: 'private',
    tags: [playgroundTag],
  });
}

const nameMax = 200;
