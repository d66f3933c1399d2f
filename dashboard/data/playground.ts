import type { Agent, AgentPatch, PromptVersion, Variables } from '../../src/client/index.ts';
import { cueline } from './client.ts';
import type { ModelSettings } from './model-settings.ts';
import { execute, type RunStarted } from './runs.ts';

/**
 * Runs of a version that no agent pins. Only agents run, so each prompt gets one for it, made when it is first needed:
 * private, in Draft (no key opens it), and archived between runs, so that no list shows it unless asked.
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
  const start = () => inTurn(userId, order);
  // Missing where the page is served over plain HTTP: then only this window waits for itself.
  if (navigator.locks) return navigator.locks.request(`cueline-playground-${promptId}`, start);
  last = last.then(start, start);
  return last as Promise<RunStarted>;
}

let last: Promise<unknown> = Promise.resolve();

async function inTurn(userId: string, { version, settings, values }: PlaygroundRun) {
  const change = {
    promptVersionId: version.promptVersionId,
    requiredVariables: [],
    optionalVariables: version.variables,
    defaultVariableValues: {},
    agentConfig: settings,
  } satisfies AgentPatch;
  const agent = await scratchAgent(userId, version, settings);
  if (agent.archived) await cueline.agents.move(agent.agentId, 'restore');
  try {
    await cueline.agents.update(agent.agentId, change);
    return await execute(agent.agentId, values);
  } finally {
    // What runs already is not touched by it.
    await cueline.agents.move(agent.agentId, 'archive').catch(() => {});
  }
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
