import type {
  Agent,
  AgentPatch,
  PromptVersion,
  PromptVersionInput,
  Variables,
} from '../../../src/client/index.ts';
import type { ModelSettings } from '../agents/model-settings.ts';
import { cueline } from '../client/client.ts';
import { execute, type StartedExecution } from '../executions/start-execution.ts';
import { parse } from '../text/exact-json.ts';
import { ownProperty } from '../text/own-property.ts';
import { fileVariablesOf } from './messages.ts';

/**
 * Executes versions that no agent pins. Only agents execute, so each user gets one private agent per prompt: in Draft
 * (no key can call it) and archived between executions, so that lists hide it. Every change to it is audited, so only
 * necessary changes are made.
 */

/** What values a version takes. */
export type TakenValues = Pick<PromptVersion, 'variables'> & Pick<PromptVersion, 'messages'>;

export interface PlaygroundRun {
  /** Of a draft: any version of its prompt, because an agent pins one. */
  readonly version: PromptVersion;
  /** Executed instead of the version; the server keeps it with its execution. */
  readonly draft?: PromptVersionInput;
  /** Overrides of the version's settings; null keeps the version's. */
  readonly settings: ModelSettings;
  readonly values: Variables;
  /** The most that it may cost, in US dollars; null for no limit. */
  readonly maxCostUSD: number | null;
}

/** The server recognizes these agents by this tag. */
const playgroundTag = 'playground';

/** The typed values of a version's variables. A list of messages is typed as JSON. */
export function playgroundValues(
  version: TakenValues,
  typed: Readonly<Record<string, string>>,
): Variables {
  const { variables, messages = [] } = version;
  const files = fileVariablesOf({ messages });
  const lists = new Set(messages.flatMap((one) => ('placeholder' in one ? one.placeholder : [])));
  const valueFor = (name: string) => {
    const text = ownProperty(typed, name) ?? '';
    if (files.has(name)) return text === '' ? null : text;
    return lists.has(name) ? listOf(text) : text;
  };
  return Object.fromEntries(variables.map((name) => [name, valueFor(name)]));
}

/** An invalid text stays one: the server says what is wrong with it. */
function listOf(text: string): unknown {
  if (text.trim() === '') return [];
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** The agent pins one version at a time, so starts are serialized, across windows too. */
export function startPlaygroundRun(
  userId: string,
  request: PlaygroundRun,
): Promise<StartedExecution> {
  const { promptId } = request.version;
  pendingStarts.set(promptId, (pendingStarts.get(promptId) ?? 0) + 1);
  const start = () => startExclusively(userId, request);
  // `navigator.locks` is missing over plain HTTP: then only starts of this window are serialized.
  if (navigator.locks) return navigator.locks.request(`cueline-playground-${promptId}`, start);
  previousStart = previousStart.then(start, start);
  return previousStart as Promise<StartedExecution>;
}

let previousStart: Promise<unknown> = Promise.resolve();

/** Executions of a prompt that this window has yet to start. */
const pendingStarts = new Map<string, number>();

async function startExclusively(
  userId: string,
  { version, draft, settings, values, maxCostUSD }: PlaygroundRun,
) {
  const { promptId } = version;
  try {
    const agent = await playgroundAgent(userId, version, settings);
    const { agentId } = agent;
    agentsToArchive.set(promptId, agentId);
    if (agent.archived) await cueline.agents.move(agentId, 'restore');
    const patch = {
      // A draft brings its own variables.
      ...(!draft && changedVersion(agent, version)),
      ...changedSettings(agent, settings),
    };
    if (Object.keys(patch).length > 0) await cueline.agents.update(agentId, patch);
    return await execute(
      agentId,
      values,
      {},
      {
        playground: true,
        ...(draft && { draft }),
        ...(maxCostUSD !== null && { maxCostUSD }),
      },
    );
  } finally {
    const remaining = (pendingStarts.get(promptId) ?? 1) - 1;
    pendingStarts.set(promptId, remaining);
    // Archive once after all sides of a comparison have started.
    if (remaining === 0) await archive(promptId);
  }
}

/** Executions that have started continue. */
async function archive(promptId: string): Promise<void> {
  const agentId = agentsToArchive.get(promptId);
  agentsToArchive.delete(promptId);
  if (agentId) await cueline.agents.move(agentId, 'archive').catch(() => {});
}

/** The agent of each prompt that this window has restored and must archive. */
const agentsToArchive = new Map<string, string>();

/** Only the fields that differ. */
function changedVersion(agent: Agent, version: PromptVersion): AgentPatch {
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
  };
}

function changedSettings(agent: Agent, settings: ModelSettings): AgentPatch {
  const names = ['model', 'temperature', 'maxTokens', 'topP'] as const;
  return {
    ...(names.some((name) => (agent.agentConfig[name] ?? null) !== settings[name]) && {
      agentConfig: settings,
    }),
  };
}

async function playgroundAgent(
  userId: string,
  version: PromptVersion,
  settings: ModelSettings,
): Promise<Agent> {
  const { promptId, promptVersionId, variables } = version;
  for (const archived of [true, false]) {
    const found = await cueline.agents.list({ tag: playgroundTag, q: promptId, archived });
    const existing = found.agents.find(
      (agent) => agent.promptId === promptId && agent.createdBy === userId,
    );
    if (existing) return existing;
  }
  const prompt = await cueline.prompts.get(promptId);
  return cueline.agents.create({
    agentName: `Playground: ${prompt.name}`.slice(0, nameMax),
    description: `Created by the playground of prompt ${promptId} to execute versions that no agent pins.`,
    promptId,
    promptVersionId,
    optionalVariables: variables,
    agentConfig: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
    visibility: 'private',
    tags: [playgroundTag],
  });
}

const nameMax = 200;
