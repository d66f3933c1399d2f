import type { Workflow } from '../../../src/client/index.ts';
import { stepsOf } from './workflow-graph.ts';

/**
 * Agents by name. The editor shows and accepts `agent: NAME` where the API has `agentId`, as files do. A name that several
 * agents share does not identify one: such agents keep their id.
 */

/** The ids of the agents with each name; undefined where they could not be loaded. */
export type AgentsNamed = ReadonlyMap<string, readonly string[] | undefined>;

/** A well-formed id that no agent has: everything else can be validated although a name is unknown. */
export const unknownAgentId = `agt_${'0'.repeat(26)}`;

type Fields = Readonly<Record<string, unknown>>;

export function withAgentIds(definition: unknown, named: AgentsNamed) {
  const problems = new Map<string, string>();
  const resolve = (value: unknown, path: string): unknown => {
    const name = nameIn(value);
    if (name === null) return value;
    const { agent: _, ...rest } = value as Fields;
    const ids = named.get(name);
    const [only] = ids ?? [];
    if (ids?.length === 1 && only !== undefined) return { ...rest, agentId: only };
    problems.set(`${path}.agentId`, nameProblem(name, ids));
    return { ...rest, agentId: unknownAgentId };
  };
  const resolved = mapAgents(definition, resolve);
  return { definition: resolved, problems };
}

function nameProblem(name: string, ids: readonly string[] | undefined): string {
  if (!ids) return `The agent "${name}" could not be looked up.`;
  if (ids.length === 0) return `There is no agent "${name}".`;
  return `${ids.length} agents are called "${name}". Write the agentId of one instead.`;
}

export function withAgentNames(
  definition: Workflow['definition'],
  nameOf: (agentId: string) => string | undefined,
): unknown {
  return mapAgents(definition, (value) => {
    const { agentId, ...rest } = value as Fields;
    const name = typeof agentId === 'string' ? nameOf(agentId) : undefined;
    return name === undefined ? value : { ...rest, agent: name };
  });
}

/** Maps each step and each fallback, which name an agent. Anything malformed stays as it is. */
function mapAgents(definition: unknown, map: (value: unknown, path: string) => unknown): unknown {
  if (!isFields(definition) || !Array.isArray(definition.steps)) return definition;
  const steps = definition.steps.map((step: unknown, index) => {
    if (!isFields(step)) return step;
    const path = `steps.${index}`;
    const { fallback } = step;
    const whole = isFields(fallback)
      ? { ...step, fallback: map(fallback, `${path}.fallback`) }
      : step;
    return map(whole, path);
  });
  return { ...definition, steps };
}

/** The names of agents that a definition of any shape refers to, each once. */
export function agentNamesOf(definition: unknown): string[] {
  const names = stepsOf(definition).flatMap((step) => [nameIn(step), nameIn(step.fallback)]);
  return [...new Set(names.flatMap((name) => name ?? []))];
}

/** The name in `agent`, unless there is an `agentId` too, which the server then reports as a contradiction. */
function nameIn(value: unknown): string | null {
  if (!isFields(value) || value.agentId !== undefined) return null;
  return typeof value.agent === 'string' && value.agent !== '' ? value.agent : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
